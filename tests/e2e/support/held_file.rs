//! A held file, as on a hanging file system: a process that opens it waits. The test holds a lease of the
//! kernel. The wait ends when the test gives the lease up, or when the kernel breaks it after
//! `/proc/sys/fs/lease-break-time`, by default forty-five seconds.

use std::process::Command;

use crate::harness::{Folder, Running, until};
use crate::tools;

/// Holds a lease on the file, and reports a waiting process.
const HOLDER: &str = "
import fcntl, os, signal, sys
say = lambda what: print(what, file=sys.stderr, flush=True)
signal.signal(signal.SIGIO, lambda *_: say('waited for'))
flags, lease = (os.O_RDONLY, fcntl.F_RDLCK) if sys.argv[1] == 'writers' else (os.O_RDWR, fcntl.F_WRLCK)
file = os.open(sys.argv[2], flags)
fcntl.fcntl(file, fcntl.F_SETLEASE, lease)
say('held')
while True: signal.pause()
";

/// A file that is held until this is dropped.
pub struct HeldFile(Running);

impl HeldFile {
    /// Holds a file that no process has open against writers. `None` if the system has no such leases.
    pub fn against_writers(folder: &Folder, file: &str) -> Option<Self> {
        Self::hold(folder, "writers", file)
    }

    /// Holds it against readers and writers.
    pub fn against_all(folder: &Folder, file: &str) -> Option<Self> {
        Self::hold(folder, "all", file)
    }

    fn hold(folder: &Folder, against: &str, file: &str) -> Option<Self> {
        if !tools::is_there("python3") {
            return None;
        }
        let mut holder = Command::new("python3");
        let mut holder = folder.start_command(holder.args(["-c", HOLDER, against, file]), "held.log");
        until("the file is held or is not", || holder.says("held") || holder.has_ended());
        if holder.has_ended() {
            eprintln!("skipped: there are no leases on files");
            return None;
        }
        Some(Self(holder))
    }

    /// Waits until a process waits for the file.
    pub fn is_waited_for(&self) {
        until("the file is opened", || self.0.says("waited for"));
    }

    /// Whether a process still waits for it: the kernel has not broken the lease.
    pub fn is_still_waited_for(&self) -> bool {
        let holder = format!(" {} ", self.0.pid());
        let locks = std::fs::read_to_string("/proc/locks").unwrap();
        locks.lines().any(|line| line.contains(" BREAKING ") && line.contains(&holder))
    }
}
