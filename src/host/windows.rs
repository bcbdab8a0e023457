//! The host on Windows.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::Path;
use std::process::{self, Child, Command};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use ratatui::crossterm::ansi_support::supports_ansi;

use crate::args::WrongCommand;

/// Measures the time that this thread counts. The processor time of a thread is known to sixteen milliseconds only.
pub use std::time::Instant as ThreadClock;

/// How a command writes to standard output instead of a file.
pub const STDOUT_ADVICE: &str = "leave out the option for standard output";

/// The clock counts from here. It runs while the machine sleeps.
static BEGUN: LazyLock<Instant> = LazyLock::new(Instant::now);

/// The system has no limit of open files.
///
/// # Errors
/// None.
#[expect(clippy::unnecessary_wraps, reason = "other systems can fail")]
pub fn raise_open_files(needed: u64) -> io::Result<u64> {
    Ok(needed)
}

/// Refuses: a program cannot lower its priority here without code that is not checked for memory safety.
///
/// # Errors
/// Always.
pub fn set_niceness(_: u8) -> anyhow::Result<()> {
    Err(WrongCommand::NoNiceness.into())
}

/// Windows has no groups of processes.
pub fn group_apart(_: &mut Command) {}

/// Does nothing: Windows has no groups of processes.
pub fn kill_group(_: &Child) {}

/// For how long this process has looked at the clock.
pub fn uptime() -> Duration {
    BEGUN.elapsed()
}

/// Ends the process at once.
pub fn exit(code: i32) -> ! {
    process::exit(code)
}

/// True if the console understands escape codes, after they are enabled, or a terminal says so by `TERM`.
pub fn understands_codes() -> bool {
    match std::env::var("TERM") {
        Ok(term) => super::is_capable_terminal(Some(&term)),
        Err(_) => supports_ansi(),
    }
}

/// None: the access control list of the folder decides.
pub fn mode_for_others(_: &Path) -> Option<u32> {
    None
}

/// Creates a folder, with the folders above it. Whoever can read the folder above it can read it too.
///
/// # Errors
/// It cannot be created.
pub fn create_private_folder(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)
}

/// True if nobody reads from the pipe that was written: `ERROR_PIPE_NOT_CONNECTED` too.
pub fn is_broken_pipe(error: &io::Error) -> bool {
    error.kind() == ErrorKind::BrokenPipe || error.raw_os_error() == Some(233)
}

/// False: no path names an open file.
pub fn is_open_descriptor(_: &Path) -> bool {
    false
}

/// Opens a device for writing.
///
/// # Errors
/// It cannot be opened.
pub fn open_stream(path: &Path, _: &Path) -> io::Result<File> {
    File::options().append(true).open(path)
}
