//! Writes to stdout. All output goes through this type, so that errors name stdout.

use std::io::{self, ErrorKind, StdoutLock, Write};

use crate::host::is_broken_pipe;

/// Stdout, whose errors name it.
pub struct Stdout(StdoutLock<'static>);

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes).map_err(of_stdout)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush().map_err(of_stdout)
    }
}

/// The error, of the same kind, with stdout named in it.
pub fn of_stdout(error: io::Error) -> io::Error {
    let kind = if is_broken_pipe(&error) { ErrorKind::BrokenPipe } else { error.kind() };
    io::Error::new(kind, format!("cannot write to stdout: {error}"))
}

/// Locks stdout.
pub fn stdout() -> Stdout {
    Stdout(io::stdout().lock())
}
