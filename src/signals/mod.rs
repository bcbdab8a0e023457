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
//!
//! On Windows the signals are Ctrl-C, Ctrl-Break, a console that is closed, a user who logs off, and a machine that shuts down.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

use std::io;
use std::panic::resume_unwind;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::task::spawn_blocking;
use tokio::time::sleep;

use crate::args::End;
use crate::host::uptime;
use crate::{exit, log};
#[cfg(unix)]
use unix::Listener;
#[cfg(windows)]
use windows::Listener;

#[cfg(unix)]
pub use unix::survive_file_size_limits;
#[cfg(windows)]
pub use windows::survive_file_size_limits;

/// A signal that ends a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// SIGINT: Ctrl-C.
    Interrupt,
    /// SIGTERM; SIGHUP, since the terminal was closed; or a warning of a batch engine. On Windows all but Ctrl-C.
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
            // An incomplete count stays incomplete, whatever ended it.
            Signal::Terminate | Signal::TimeIsUp => 143,
        }
    }
}

/// How long a command may run after the second signal, to return its leases and to print its last messages.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// True once a command listens.
static LISTENS: AtomicBool = AtomicBool::new(false);

/// Ends process 1, as in a container, at the first signal until a command listens: the system does not.
pub fn end_process_one() -> io::Result<()> {
    if std::process::id() != 1 {
        return Ok(());
    }
    let mut listener = Listener::new()?;
    thread::Builder::new().name("signals".into()).spawn(move || {
        if let Some(signal) = listener.find(|_| !LISTENS.load(Ordering::Relaxed)) {
            end(signal);
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
    let listener = Listener::new()?;
    LISTENS.store(true, Ordering::Relaxed);
    thread::Builder::new().name("signals".into()).spawn(move || {
        let mut heard = 0;
        for signal in listener {
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
}
