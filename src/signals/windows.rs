//! The events of the console that ask a command to end.
//!
//! | event | request |
//! |---|---|
//! | Ctrl-C | like SIGINT |
//! | Ctrl-Break | like SIGTERM |
//! | the console is closed, the user logs off, the machine shuts down | like SIGTERM, and a second time after [`CLOSE_PAUSE`] |

use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use tokio::runtime::Builder;
use tokio::signal::windows::{ctrl_break, ctrl_c, ctrl_close, ctrl_logoff, ctrl_shutdown};

use super::Signal;

/// The system ends a process five seconds after its console is closed. The second request comes earlier: then a worker
/// returns its leases.
const CLOSE_PAUSE: Duration = Duration::from_secs(2);

/// No limit on the size of files ends a process here.
///
/// # Errors
/// None.
#[expect(clippy::unnecessary_wraps, reason = "other systems can fail")]
pub fn survive_file_size_limits() -> io::Result<()> {
    Ok(())
}

/// Waits for new requests to end.
pub struct Listener(Receiver<Signal>);

impl Listener {
    /// Listens from now on.
    ///
    /// # Errors
    /// The system refuses.
    pub fn new() -> io::Result<Self> {
        let (sender, received) = channel();
        let runtime = Builder::new_current_thread().enable_time().build()?;
        let listening = {
            let _context = runtime.enter();
            Events::new()?.forward(sender)
        };
        thread::Builder::new().name("console".into()).spawn(move || runtime.block_on(listening))?;
        Ok(Self(received))
    }
}

impl Iterator for Listener {
    type Item = Signal;

    fn next(&mut self) -> Option<Signal> {
        self.0.recv().ok()
    }
}

struct Events {
    ctrl_c: tokio::signal::windows::CtrlC,
    ctrl_break: tokio::signal::windows::CtrlBreak,
    close: tokio::signal::windows::CtrlClose,
    logoff: tokio::signal::windows::CtrlLogoff,
    shutdown: tokio::signal::windows::CtrlShutdown,
}

impl Events {
    fn new() -> io::Result<Self> {
        Ok(Self {
            ctrl_c: ctrl_c()?,
            ctrl_break: ctrl_break()?,
            close: ctrl_close()?,
            logoff: ctrl_logoff()?,
            shutdown: ctrl_shutdown()?,
        })
    }

    /// Sends the requests until nobody receives them.
    async fn forward(mut self, sender: Sender<Signal>) {
        loop {
            let (signal, is_last) = tokio::select! {
                _ = self.ctrl_c.recv() => (Signal::Interrupt, false),
                _ = self.ctrl_break.recv() => (Signal::Terminate, false),
                _ = self.close.recv() => (Signal::Terminate, true),
                _ = self.logoff.recv() => (Signal::Terminate, true),
                _ = self.shutdown.recv() => (Signal::Terminate, true),
            };
            if sender.send(signal).is_err() {
                break;
            }
            if is_last {
                tokio::time::sleep(CLOSE_PAUSE).await;
                sender.send(signal).ok();
            }
        }
    }
}
