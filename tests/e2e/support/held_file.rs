//! A file that a test holds, as one on a file system that hangs: whoever opens it waits. A lease of the kernel does that, until it is
//! given up, or broken by the kernel after `/proc/sys/fs/lease-break-time`, forty-five seconds unless somebody set that.

use std::process::Command;

use crate::harness::{Folder, Running, until};
use crate::tools;

/// Holds a lease on the file, and says when somebody waits for it.
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

/// A file that is held for as long as this is there.
pub struct HeldFile(Running);

impl HeldFile {
    /// Holds a file that nobody has open against those who open it to write. `None` where there are no such leases.
    pub fn against_writers(folder: &Folder, file: &str) -> Option<Self> {
        Self::hold(folder, "writers", file)
    }

    /// Likewise, against all who open it.
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

    /// Waits until somebody waits for the file.
    pub fn is_waited_for(&self) {
        until("the file is opened", || self.0.says("waited for"));
    }

    /// Whether somebody waits for it, as the kernel has not broken the lease meanwhile.
    pub fn is_still_waited_for(&self) -> bool {
        let holder = format!(" {} ", self.0.pid());
        let locks = std::fs::read_to_string("/proc/locks").unwrap();
        locks.lines().any(|line| line.contains(" BREAKING ") && line.contains(&holder))
    }
}
