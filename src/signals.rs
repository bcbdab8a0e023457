//! Ctrl-C and SIGTERM, a terminal that is closed, and the end of the time that a command was given.
//!
//! A command that does not listen ends at the first signal: the system ends it, or [`end_process_one`] does. A command listens once, before it loads the driver
//! of a card: drivers made with LLVM listen as well, and end the process unless somebody listened before them. One thread listens
//! then, and the second signal ends the process whatever hangs:
//!
//! | signal | what happens |
//! |---|---|
//! | first | The command hears of it. |
//! | second | A command that has [`Signals`] hears of it and has [`LAST_WORDS`]. Every other command ends at once. |
//! | third | The process ends at once. |

use std::io;
use std::panic::resume_unwind;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use rustix::time::{ClockId, clock_gettime};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGUSR2, SIGXCPU, SIGXFSZ};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::task::spawn_blocking;
use tokio::time::sleep;

use crate::args::End;
use crate::{exit, log};

/// A signal that ends a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// SIGINT: Ctrl-C.
    Interrupt,
    /// SIGTERM; SIGHUP, since the terminal was closed; or a warning of a batch engine.
    Terminate,
    /// No signal: the time is up.
    TimeIsUp,
}

impl Signal {
    /// The exit code of a command that it has ended, as shells have it: 128 and the signal's number.
    pub fn exit_code(self) -> ExitCode {
        ExitCode::from(self.number())
    }

    fn of(number: i32) -> Self {
        if number == SIGINT { Self::Interrupt } else { Self::Terminate }
    }

    fn number(self) -> u8 {
        match self {
            Signal::Interrupt => 130,
            // An incomplete count stays incomplete, whatever ended it.
            Signal::Terminate | Signal::TimeIsUp => 143,
        }
    }
}

/// Has a limit on the size of files be an error of the write that goes beyond it, as a full disk is, and no sudden end.
pub fn survive_file_size_limits() -> io::Result<()> {
    signal_hook::flag::register(SIGXFSZ, Arc::default()).map(drop)
}

/// How long a command may run after the second signal, to return its leases and to print its last messages.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// Warnings that batch engines send before they suspend or end a job: `qsub -notify`, `sbatch --signal`, and the soft limit of
/// processor time, which the system repeats each second.
const WARNINGS: [i32; 3] = [SIGUSR1, SIGUSR2, SIGXCPU];

/// True once a command listens.
static LISTENS: AtomicBool = AtomicBool::new(false);

/// Ends process 1, as in a container, at the first signal until a command listens: the system does not.
pub fn end_process_one() -> io::Result<()> {
    if std::process::id() != 1 {
        return Ok(());
    }
    let mut signals = signal_hook::iterator::Signals::new(heeded())?;
    thread::Builder::new().name("signals".into()).spawn(move || {
        if let Some(number) = signals.forever().find(|_| !LISTENS.load(Ordering::Relaxed)) {
            end(Signal::of(number));
        }
    })?;
    Ok(())
}

fn end(signal: Signal) -> ! {
    log::finish();
    exit::end_process(signal.number())
}

/// Starts the thread that listens, and that ends the process at the second signal. `takes` hands each signal to the command, and
/// returns whether the command ends by itself soon.
fn listen(takes: impl Fn(Signal) -> bool + Send + 'static) -> io::Result<()> {
    let mut signals = signal_hook::iterator::Signals::new(heeded())?;
    LISTENS.store(true, Ordering::Relaxed);
    thread::Builder::new().name("signals".into()).spawn(move || {
        let mut requests = Requests::default();
        let mut heard = 0;
        for number in signals.forever().filter(|number| requests.is_new(*number, Instant::now())) {
            let signal = Signal::of(number);
            heard += 1;
            match (heard, takes(signal)) {
                (1, _) => {}
                (2, true) => drop(thread::spawn(move || {
                    thread::sleep(LAST_WORDS);
                    end(signal)
                })),
                _ => end(signal),
            }
        }
    })?;
    Ok(())
}

/// SIGHUP and SIGTERM within this time are one request: the end of a session sends both at once, in either
/// order. A person who reacts to the first message is not that quick.
const AT_ONCE: Duration = Duration::from_secs(1);

/// Tells a new request to end from a signal that repeats one.
#[derive(Default)]
struct Requests {
    hangup: Option<Instant>,
    has_terminated: bool,
    has_warned: bool,
}

impl Requests {
    /// True if the signal that came now is a new request.
    fn is_new(&mut self, number: i32, now: Instant) -> bool {
        match number {
            // The shell and the system both send this signal when a terminal is closed.
            SIGHUP => {
                let is_repeated = self.has_terminated || self.hangup.is_some();
                self.hangup.get_or_insert(now);
                !is_repeated
            }
            SIGTERM => {
                let is_first = !std::mem::replace(&mut self.has_terminated, true);
                let is_at_once = self.hangup.is_some_and(|then| now.duration_since(then) < AT_ONCE);
                !(is_first && is_at_once)
            }
            warning if WARNINGS.contains(&warning) => {
                !std::mem::replace(&mut self.has_warned, true) && !self.has_terminated
            }
            _ => true,
        }
    }
}

/// For how long the machine has been up, its sleep included where the system tells that.
fn uptime() -> Duration {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    let clock = ClockId::Boottime;
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    let clock = ClockId::Monotonic;
    clock_gettime(clock).try_into().unwrap_or_default()
}

/// The signals as they come from now on, for a command that takes the second one as well.
pub struct Signals {
    sent: UnboundedReceiver<Signal>,
    /// The end of the time limit, until it has been reported.
    end: Option<End>,
    /// For how long the machine had been up when it began.
    begun: Duration,
}

impl Signals {
    /// Listens to them.
    pub fn new() -> io::Result<Self> {
        let (sender, sent) = unbounded_channel();
        listen(move |signal| sender.send(signal).is_ok())?;
        Ok(Self { sent, end: None, begun: uptime() })
    }

    /// The end of the time is one of them.
    #[must_use]
    pub fn until(self, end: Option<End>) -> Self {
        Self { end, ..self }
    }

    /// The next one.
    pub async fn next(&mut self) -> Signal {
        tokio::select! {
            biased;
            Some(signal) = self.sent.recv() => signal,
            () = time_is_up(self.end, self.begun), if self.end.is_some() => {
                self.end = None;
                Signal::TimeIsUp
            }
            else => std::future::pending().await,
        }
    }

    /// The next one that somebody sends: the end of the time is none of them any more.
    pub async fn next_sent(&mut self) -> Signal {
        self.end = None;
        self.next().await
    }

    /// Runs work that may take long or forever, such as a call of a card's driver. Returns the signal if one
    /// comes first.
    pub async fn unless_told<T: Send + 'static, E: Into<anyhow::Error> + Send + 'static>(
        &mut self,
        work: impl FnOnce() -> Result<T, E> + Send + 'static,
    ) -> anyhow::Result<Result<T, Signal>> {
        tokio::select! {
            done = spawn_blocking(work) => done?.map(Ok).map_err(Into::into),
            signal = self.next() => Ok(Err(signal)),
        }
    }
}

/// The signals that ask a command to end: all but those that the process was started to ignore, as SIGHUP under nohup
/// and SIGINT in the background of a script. If the system does not show these, SIGHUP counts as ignored.
fn heeded() -> Vec<i32> {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    let ignored = ignored.unwrap_or(1 << (SIGHUP - 1));
    let all = [SIGINT, SIGTERM, SIGHUP].into_iter().chain(WARNINGS);
    all.filter(|signal| ignored & 1 << (signal - 1) == 0).collect()
}

/// How often the clock is looked at: it may be set, and a machine may have slept.
const LOOK_EVERY: Duration = Duration::from_secs(10);

async fn time_is_up(end: Option<End>, begun: Duration) {
    while let Some(left) = end.and_then(|end| time_left(end, begun)) {
        sleep(left.min(LOOK_EVERY)).await;
    }
}

/// How much time is left of a command that began then, if any.
fn time_left(end: End, begun: Duration) -> Option<Duration> {
    let left = match end {
        End::At(time) => time.duration_since(SystemTime::now()).ok()?,
        End::After(time) => begun.saturating_add(time).saturating_sub(uptime()),
    };
    Some(left).filter(|left| !left.is_zero())
}

/// What heeds a signal does so within this time: kernels of the processor take a tenth of a second at most.
const SOON: Duration = Duration::from_millis(300);

/// Between two looks whether a signal has come.
const LOOK_FOR_SIGNALS_EVERY: Duration = Duration::from_millis(5);

/// Whether a signal has come, for what runs without tokio; the second one ends the process at once.
#[derive(Clone, Debug, Default)]
pub struct Interruption {
    raised: Arc<AtomicBool>,
    signal: Arc<OnceLock<Signal>>,
}

impl Interruption {
    /// Listens to them from now on.
    pub fn listen() -> io::Result<Self> {
        let interruption = Self::default();
        let Self { raised, signal: first } = interruption.clone();
        listen(move |signal| {
            first.set(signal).ok();
            raised.store(true, Ordering::Relaxed);
            false
        })?;
        Ok(interruption)
    }

    /// Runs long work in a thread of its own. The flag passed to the work is set by a signal. If the work
    /// does not end soon after that, the thread is abandoned and the result is `None`.
    pub fn unless_raised<T: Send + 'static>(
        &self,
        work: impl FnOnce(&AtomicBool) -> T + Send + 'static,
    ) -> Option<T> {
        let raised = Arc::clone(&self.raised);
        let working = thread::spawn(move || work(&raised));
        let mut told = None;
        while !working.is_finished() {
            let is_raised = self.raised.load(Ordering::Relaxed);
            if is_raised && told.get_or_insert_with(Instant::now).elapsed() > SOON {
                return None;
            }
            thread::sleep(LOOK_FOR_SIGNALS_EVERY);
        }
        Some(working.join().unwrap_or_else(|panic| resume_unwind(panic)))
    }

    /// A flag that is set when a signal has come.
    pub fn raised(&self) -> &AtomicBool {
        &self.raised
    }

    /// The exit code of what has been interrupted.
    pub fn exit_code(&self) -> Option<ExitCode> {
        self.signal.get().map(|signal| signal.exit_code())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn interrupted_work_is_awaited_if_it_heeds_signals() {
        let interruption = Interruption::default();
        assert_eq!(interruption.unless_raised(|raised| raised.load(Ordering::Relaxed)), Some(false));
        interruption.raised.store(true, Ordering::Relaxed);
        assert_eq!(interruption.unless_raised(|raised| raised.load(Ordering::Relaxed)), Some(true));
        let (end, ended) = channel::<()>();
        assert_eq!(interruption.unless_raised(move |_| ended.recv()), None);
        drop(end);
    }

    #[test]
    fn sigterm_right_after_sighup_is_the_same_request() {
        let begun = Instant::now();
        let are_new = |signals: &[(i32, Duration)]| {
            let mut requests = Requests::default();
            let are_new = signals.iter().map(|(number, after)| requests.is_new(*number, begun + *after));
            are_new.collect::<Vec<bool>>()
        };
        let (now, soon) = (Duration::ZERO, AT_ONCE / 2);
        assert_eq!(are_new(&[(SIGHUP, now), (SIGTERM, soon), (SIGTERM, soon)]), [true, false, true]);
        assert_eq!(are_new(&[(SIGHUP, now), (SIGTERM, AT_ONCE)]), [true, true]);
        assert_eq!(are_new(&[(SIGTERM, now), (SIGHUP, soon), (SIGTERM, soon)]), [true, false, true]);
        assert_eq!(are_new(&[(SIGHUP, now), (SIGHUP, AT_ONCE)]), [true, false]);
        assert_eq!(are_new(&[(SIGINT, now), (SIGHUP, now), (SIGINT, now)]), [true, true, true]);
        // A batch engine warns, and terminates later.
        assert_eq!(are_new(&[(SIGXCPU, now), (SIGXCPU, AT_ONCE), (SIGTERM, AT_ONCE)]), [true, false, true]);
    }
}
