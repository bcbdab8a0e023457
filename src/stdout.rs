//! Where answers go, unless it was closed when the program began.
//!
//! The standard library puts `/dev/null` in the place of what is closed, before `main`, so that no file gets its number. What is
//! written there is lost without an error, so it is looked at before that, and nobody writes to stdout but by this way.

use std::io::{self, StdoutLock, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::bail;

/// Set before `main`, if at all.
static WAS_CLOSED: AtomicBool = AtomicBool::new(false);

/// Stdout, whose errors say that they are of it.
pub struct Stdout(StdoutLock<'static>);

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes).map_err(of_stdout)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush().map_err(of_stdout)
    }
}

/// The error, which is still of its kind.
pub fn of_stdout(error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("cannot write to stdout: {error}"))
}

/// Stdout, to be written to.
///
/// # Errors
/// It was closed when the program began.
pub fn stdout() -> anyhow::Result<Stdout> {
    if WAS_CLOSED.load(Ordering::Relaxed) {
        bail!("cannot write to stdout: it is closed");
    }
    Ok(Stdout(io::stdout().lock()))
}

#[cfg(target_os = "linux")]
extern "C" fn look() {
    let flags = rustix::io::fcntl_getfd(rustix::stdio::stdout());
    WAS_CLOSED.store(flags == Err(rustix::io::Errno::BADF), Ordering::Relaxed);
}

// SAFETY: the section holds pointers to functions, each of which the C library calls once before `main`, in the only thread.
// This one reads no arguments, so that it does not matter which are passed; it asks the system for a flag, stores what comes
// of it, and neither allocates nor panics.
#[cfg(target_os = "linux")]
#[used]
#[unsafe(link_section = ".init_array")]
static LOOK: extern "C" fn() = look;
