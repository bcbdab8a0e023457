//! The signals of Unix that ask a command to end.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGUSR2, SIGXCPU, SIGXFSZ};
use signal_hook::iterator::Signals;

use super::Signal;

/// Has a limit on the size of files be an error of the write that goes beyond it, as a full disk is, and no sudden end.
pub fn survive_file_size_limits() -> io::Result<()> {
    signal_hook::flag::register(SIGXFSZ, Arc::default()).map(drop)
}

/// Warnings that batch engines send before they suspend or end a job: `qsub -notify`, `sbatch --signal`, and the soft limit of
/// processor time, which the system repeats each second.
const WARNINGS: [i32; 3] = [SIGUSR1, SIGUSR2, SIGXCPU];

/// Waits for new requests to end.
pub struct Listener {
    signals: Signals,
    requests: Requests,
}

impl Listener {
    /// Listens from now on.
    ///
    /// # Errors
    /// The system refuses.
    pub fn new() -> io::Result<Self> {
        Ok(Self { signals: Signals::new(heeded())?, requests: Requests::default() })
    }
}

impl Iterator for Listener {
    type Item = Signal;

    fn next(&mut self) -> Option<Signal> {
        let mut signals = self.signals.forever();
        let number = signals.find(|number| self.requests.is_new(*number, Instant::now()))?;
        Some(if number == SIGINT { Signal::Interrupt } else { Signal::Terminate })
    }
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

#[cfg(test)]
mod tests {
    use super::*;

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
