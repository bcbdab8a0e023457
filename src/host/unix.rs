//! The host on Unix.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context;
pub use cpu_time::ThreadTime as ThreadClock;
use records::regular_file;
use rustix::fs::{OFlags, fcntl_setfl};
use rustix::io::Errno;
use rustix::process::{Pid, Signal};
use rustix::time::{ClockId, clock_gettime};

/// How a command writes to standard output instead of a file.
pub const STDOUT_ADVICE: &str = "use /dev/stdout for standard output";

/// Files that the process has open already go by these names.
const OPEN_DESCRIPTORS: [&str; 4] = ["/dev/stdout", "/dev/stderr", "/dev/fd", "/proc"];

/// How long the reader of a pipe may take to come.
const READER_TIMEOUT: Duration = Duration::from_secs(10);

/// The pause between two attempts to open the pipe.
const RETRY_PAUSE: Duration = Duration::from_millis(10);

/// Raises the limit of open files to at least `needed`, or returns the highest possible limit.
///
/// # Errors
/// The system does not tell.
pub fn raise_open_files(needed: u64) -> io::Result<u64> {
    rlimit::increase_nofile_limit(needed)
}

/// Sets the niceness of this process.
///
/// # Errors
/// The system refuses.
pub fn set_niceness(nice: u8) -> anyhow::Result<()> {
    rustix::process::nice(nice.into()).context("the system refuses --nice; leave it out")?;
    Ok(())
}

/// Signals of the terminal will not reach the program: diadem ends it with all that it has started.
pub fn group_apart(command: &mut Command) {
    command.process_group(0);
}

/// Ends the processes of the group of a running child.
pub fn kill_group(child: &Child) {
    rustix::process::kill_process_group(Pid::from_child(child), Signal::KILL).ok();
}

/// For how long the machine has been up, its sleep included where the system tells that.
pub fn uptime() -> Duration {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    let clock = ClockId::Boottime;
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    let clock = ClockId::Monotonic;
    clock_gettime(clock).try_into().unwrap_or_default()
}

/// Ends the process at once, without its exit handlers.
pub fn exit(code: i32) -> ! {
    signal_hook::low_level::exit(code)
}

/// True if a terminal understands escape codes: `TERM` says so.
pub fn understands_codes() -> bool {
    super::is_capable_terminal(std::env::var("TERM").ok().as_deref())
}

/// The mode of a secret file that others may read. None for a file of another user, such as a scheduler
/// makes for a group: its owner must protect it.
pub fn mode_for_others(path: &Path) -> Option<u32> {
    let file = fs::metadata(path).ok()?;
    let is_own = file.uid() == rustix::process::geteuid().as_raw();
    let is_open = file.mode() & if is_own { 0o077 } else { 0o007 } != 0;
    is_open.then_some(file.mode() & 0o777)
}

/// Creates a folder that only its owner can read, with the folders above it.
///
/// # Errors
/// It cannot be created.
pub fn create_private_folder(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// True if nobody reads from the pipe that was written.
pub fn is_broken_pipe(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::BrokenPipe
}

/// True if the path names a file that the process has open already.
pub fn is_open_descriptor(path: &Path) -> bool {
    OPEN_DESCRIPTORS.iter().any(|open| path.starts_with(open))
}

/// Opens a pipe or a device for writing. A pipe is opened once it has a reader.
///
/// # Errors
/// It cannot be opened, or nobody reads from the pipe.
pub fn open_stream(path: &Path, target: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    // A file that a shell has opened with >> keeps its content.
    options.append(true);
    if is_open_descriptor(path) || !regular_file::is_named_pipe(target) {
        return options.open(path);
    }
    // Otherwise opening it would wait for a reader, perhaps forever.
    options.custom_flags(OFlags::NONBLOCK.bits().cast_signed());
    let pipe = open_once_read(|| options.open(path))?;
    fcntl_setfl(&pipe, OFlags::APPEND)?;
    Ok(pipe)
}

/// The pipe as that function opens it, once it has a reader.
fn open_once_read(open: impl Fn() -> io::Result<File>) -> io::Result<File> {
    let begun = Instant::now();
    loop {
        match open() {
            Err(error) if Errno::from_io_error(&error) == Some(Errno::NXIO) => {
                if begun.elapsed() > READER_TIMEOUT {
                    return Err(io::Error::new(io::ErrorKind::TimedOut, "nobody reads from that pipe"));
                }
                thread::sleep(RETRY_PAUSE);
            }
            opened => return opened,
        }
    }
}
