//! How far a recount is.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use humantime::format_duration;
use parking_lot::Mutex;

use crate::progress::ProgressLine;

/// How far it is, on stderr.
pub struct RecountProgress {
    what: &'static str,
    units: u64,
    done: AtomicU64,
    begun: Instant,
    line: Mutex<ProgressLine>,
}

impl RecountProgress {
    /// A recount of `units` units, before the first.
    pub fn new(what: &'static str, units: u64) -> Self {
        let mut line = ProgressLine::new();
        line.show(|| describe(what, 0, units, Duration::ZERO));
        Self { what, units, done: AtomicU64::new(0), begun: Instant::now(), line: Mutex::new(line) }
    }

    /// One more has been.
    pub fn advance(&self) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        // While another thread prints it, this thread continues.
        if let Some(mut line) = self.line.try_lock() {
            line.show(|| describe(self.what, done, self.units, self.begun.elapsed()));
        }
    }
}

/// The progress after `done` units in that time.
fn describe(what: &str, done: u64, units: u64, elapsed: Duration) -> String {
    let share = done as f64 / units.max(1) as f64;
    let mut text = format!("{what}: {:.2} %, {done}/{units} units", 100.0 * share);
    if done > 0 {
        let left = Duration::from_secs_f64(elapsed.as_secs_f64() * (1.0 / share - 1.0));
        text += &format!(", {} left", format_duration(Duration::from_secs(left.as_secs())));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recount_shows_share_and_time_left() {
        let minutes = Duration::from_mins(2);
        assert_eq!(describe("recount", 0, 20, minutes), "recount: 0.00 %, 0/20 units");
        assert_eq!(describe("recount", 5, 20, minutes), "recount: 25.00 %, 5/20 units, 6m left");
        assert_eq!(describe("recount", 20, 20, minutes), "recount: 100.00 %, 20/20 units, 0s left");
    }
}
