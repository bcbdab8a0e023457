//! Ctrl-C and SIGTERM, a terminal that is closed, and the end of the time that a command was given.

use std::panic::resume_unwind;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, SystemTime};

use rustix::time::{ClockId, clock_gettime};
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep};

use crate::args::End;
use crate::exit;

/// A signal that ends a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// SIGINT: Ctrl-C.
    Interrupt,
    /// SIGTERM, or SIGHUP: the terminal was closed.
    Terminate,
    /// No signal: the time is up.
    TimeIsUp,
}

impl Signal {
    /// The exit code of a command that it has ended, as shells have it: 128 and the signal's number.
    pub fn exit_code(self) -> ExitCode {
        ExitCode::from(self.number())
    }

    fn number(self) -> u8 {
        match self {
            Signal::Interrupt => 130,
            // What is not complete is not, whoever ended it.
            Signal::Terminate | Signal::TimeIsUp => 143,
        }
    }
}

/// Has a limit on the size of files be an error of the write that goes beyond it, as a full disk is, and no sudden end.
pub fn survive_file_size_limits() -> std::io::Result<()> {
    // Who has listened once listens for good.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let _guard = runtime.enter();
    signal(SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw())).map(drop)
}

/// SIGHUP and SIGTERM within so long are one: who ends a session sends both at once, and either may come first. Nobody who thinks in
/// between is so quick. Their order alone does not tell: on a busy machine the second of them may be heeded after the answer to the
/// first was printed, as one is that somebody sends who has read it.
const AT_ONCE: Duration = Duration::from_secs(1);

/// For how long the machine has been up, its sleep included where the system tells that.
fn uptime() -> Duration {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    let clock = ClockId::Boottime;
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    let clock = ClockId::Monotonic;
    clock_gettime(clock).try_into().unwrap_or_default()
}

/// The signals as they come from now on.
pub struct Signals {
    /// When the time is up, until that was told.
    end: Option<End>,
    /// For how long the machine had been up when it began.
    begun: Duration,
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
    hangup: Hangup,
}

/// SIGHUP, which comes once: of one terminal that is closed both the shell and the system tell.
enum Hangup {
    Awaited(tokio::signal::unix::Signal),
    /// It came then, and SIGTERM has not since.
    Came(Instant),
    /// It is not heeded, or not any more.
    Past,
}

impl Hangup {
    async fn recv(&mut self) -> Option<()> {
        let Self::Awaited(signal) = self else { return None };
        signal.recv().await
    }

    /// SIGTERM has come: whether it is one with this, and was told.
    fn is_told_with_sigterm(&mut self) -> bool {
        let before = std::mem::replace(self, Self::Past);
        matches!(before, Self::Came(then) if then.elapsed() < AT_ONCE)
    }
}

impl Signals {
    /// Listens to them; must be called within a runtime, and before there is a driver of a card: those made with LLVM listen, too,
    /// and end the process unless somebody listened before them.
    pub fn new() -> std::io::Result<Self> {
        let hangup =
            if heeds_hangup() { Hangup::Awaited(signal(SignalKind::hangup())?) } else { Hangup::Past };
        let [interrupt, terminate] = [SignalKind::interrupt(), SignalKind::terminate()].map(signal);
        Ok(Self { end: None, begun: uptime(), interrupt: interrupt?, terminate: terminate?, hangup })
    }

    /// The end of the time is one of them.
    #[must_use]
    pub fn until(self, end: Option<End>) -> Self {
        Self { end, ..self }
    }

    /// The next one.
    pub async fn next(&mut self) -> Signal {
        loop {
            tokio::select! {
                biased;
                Some(()) = self.interrupt.recv() => return Signal::Interrupt,
                Some(()) = self.terminate.recv() => {
                    if !self.hangup.is_told_with_sigterm() {
                        return Signal::Terminate;
                    }
                }
                Some(()) = self.hangup.recv() => {
                    self.hangup = Hangup::Came(Instant::now());
                    return Signal::Terminate;
                }
                () = time_is_up(self.end, self.begun), if self.end.is_some() => {
                    self.end = None;
                    return Signal::TimeIsUp;
                }
                else => std::future::pending().await,
            }
        }
    }

    /// The next one that somebody sends: the end of the time is none of them any more.
    pub async fn next_sent(&mut self) -> Signal {
        self.end = None;
        self.next().await
    }

    /// Does what may take long, or for ever, as the driver of a card may; the signal, if one comes first.
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

/// Whether the end of the terminal is to be the command's: not where SIGHUP is ignored already, as under nohup, nor where the system
/// does not tell that.
fn heeds_hangup() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    ignored.is_some_and(|mask| mask & 1 << (SignalKind::hangup().as_raw_value() - 1) == 0)
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

/// Whether a signal has come, for what runs without tokio.
#[derive(Clone, Debug, Default)]
pub struct Interruption {
    raised: Arc<AtomicBool>,
    signal: Arc<OnceLock<Signal>>,
}

impl Interruption {
    /// Listens to signals from now on, in a thread of its own. The first one is told, the second one ends the process: what
    /// should end at the first may hang, as the driver of a card may.
    pub fn listen() -> std::io::Result<Self> {
        let interruption = Self::default();
        let listening = interruption.clone();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let mut signals = runtime.block_on(async { Signals::new() })?;
        thread::spawn(move || {
            listening.signal.set(runtime.block_on(signals.next())).ok();
            listening.raised.store(true, Ordering::Relaxed);
            exit::end_process(runtime.block_on(signals.next()).number());
        });
        Ok(interruption)
    }

    /// Does what may take long in a thread of its own, which is told of a signal, and left alone where it does not heed that soon: then
    /// there is nothing.
    pub fn unless_raised<T: Send + 'static>(
        &self,
        work: impl FnOnce(&AtomicBool) -> T + Send + 'static,
    ) -> Option<T> {
        let raised = Arc::clone(&self.raised);
        let working = thread::spawn(move || work(&raised));
        let mut told = None;
        while !working.is_finished() {
            let is_raised = self.raised.load(Ordering::Relaxed);
            if is_raised && told.get_or_insert_with(std::time::Instant::now).elapsed() > SOON {
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

    use tokio::time::advance;

    use super::*;

    #[test]
    fn what_does_not_heed_a_signal_is_left_alone_and_what_does_is_waited_for() {
        let interruption = Interruption::default();
        assert_eq!(interruption.unless_raised(|raised| raised.load(Ordering::Relaxed)), Some(false));
        interruption.raised.store(true, Ordering::Relaxed);
        assert_eq!(interruption.unless_raised(|raised| raised.load(Ordering::Relaxed)), Some(true));
        let (end, ended) = channel::<()>();
        assert_eq!(interruption.unless_raised(move |_| ended.recv()), None);
        drop(end);
    }

    // Without signals: a driver of a card that another test has loaded may take them.
    #[tokio::test(start_paused = true)]
    async fn the_first_sigterm_right_after_sighup_is_one_with_it_and_no_other() {
        let mut hangup = Hangup::Came(Instant::now());
        advance(AT_ONCE / 2).await;
        assert_eq!([hangup.is_told_with_sigterm(), hangup.is_told_with_sigterm()], [true, false]);
        let mut hangup = Hangup::Came(Instant::now());
        advance(AT_ONCE).await;
        assert!(!hangup.is_told_with_sigterm());
        assert!(!Hangup::Past.is_told_with_sigterm());
    }
}
