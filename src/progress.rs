//! Progress on stderr: one line that is painted over where that is a terminal, a plain line now and then otherwise.

use std::time::Duration;

use coordinator::Snapshot;
use dashboard::words;
use proto::{Phase, RunStatus};
use records::counted;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use crate::log::{finish, paint_below, say};
use crate::output::{significant, time_left};
use crate::terminal::{COLUMNS, cut, repaints};

/// The first plain line comes after this time, and the next ones after a quarter of the time that has passed, but no sooner and
/// no later than that: often at the start, and later every ten minutes.
const SOONEST: Duration = Duration::from_secs(5);
const LATEST: Duration = Duration::from_mins(10);

/// A line is painted so often.
const PAINT_EVERY: Duration = Duration::from_millis(500);

/// When plain lines are due.
pub struct Cadence {
    begun: Instant,
    next: Instant,
}

impl Cadence {
    /// The first one is due after that time.
    pub fn new(first: Duration) -> Self {
        let begun = Instant::now();
        Self { begun, next: begun + first }
    }

    /// Whether one is due now; if so, the next one is later.
    pub fn is_due(&mut self) -> bool {
        let now = Instant::now();
        let is_due = now >= self.next;
        if is_due {
            self.next = now + pause(self.begun.elapsed());
        }
        is_due
    }
}

/// Where progress is told.
pub struct ProgressLine {
    /// Whether it is a line that is painted over, on a terminal.
    is_painted: bool,
    /// When it was painted last, or began.
    painted: Instant,
    cadence: Cadence,
}

impl ProgressLine {
    /// On stderr.
    pub fn new() -> Self {
        let is_painted = repaints(&std::io::stderr());
        Self { is_painted, painted: Instant::now(), cadence: Cadence::new(SOONEST) }
    }

    /// That is so now.
    pub fn tell(&mut self, text: &str) {
        if self.is_painted {
            paint_below(Some(text.to_owned()));
            self.painted = Instant::now();
        } else if self.cadence.is_due() {
            say(format_args!("{text}"));
        }
    }

    /// That is so now; for who would tell it at every moment: it is told where it is due.
    pub fn tell_if_due(&mut self, text: impl FnOnce() -> String) {
        if Instant::now() >= self.due() {
            self.tell(&text());
        }
    }

    /// How many columns there are.
    fn columns(&self) -> usize {
        if self.is_painted { COLUMNS - 1 } else { usize::MAX }
    }

    /// When that should be said next.
    pub fn due(&self) -> Instant {
        if self.is_painted { self.painted + PAINT_EVERY } else { self.cadence.next }
    }
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        if self.is_painted {
            paint_below(None);
            // What is printed next must not stand on it.
            finish();
        }
    }
}

/// How long after a plain line the next one comes.
fn pause(elapsed: Duration) -> Duration {
    (elapsed / 4).clamp(SOONEST, LATEST)
}

/// Tells the snapshots as they come, until the sender is gone or this is dropped.
pub async fn show(mut snapshots: watch::Receiver<Snapshot>) {
    let mut line = ProgressLine::new();
    loop {
        let text = describe(&snapshots.borrow_and_update().status, line.columns());
        line.tell(&text);
        tokio::select! {
            changed = snapshots.changed() => if changed.is_err() { break },
            () = sleep_until(line.due()) => {}
        }
    }
}

/// A run in one line of at most so many columns: the most important first, and as much as there is room for.
pub fn describe(status: &RunStatus, columns: usize) -> String {
    let RunStatus { done, units, rate, .. } = status;
    let mut text = format!("n = {}: {}", status.board, words::percent(status.progress));
    let trouble = Some(status.trouble.clone()).filter(|trouble| !trouble.is_empty());
    let paused = status.paused.as_ref().map(|why| format!("paused: {why}"));
    if let Some(trouble) = trouble.or(paused) {
        return cut(&format!("{text}, {trouble}"), columns);
    }
    let (workers, _) = status.there();
    let speed = (status.phase == Phase::Counting).then(|| format!("{}/s", significant(*rate)));
    let more = [
        Some(time_left(status)),
        Some(format!("{done}/{units} units")),
        speed,
        Some(counted(workers, "worker")),
    ];
    for part in more.into_iter().flatten() {
        if text.chars().count() + 2 + part.chars().count() <= columns {
            text = format!("{text}, {part}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    #[test]
    fn a_line_says_the_most_important_and_fits_a_terminal_and_is_whole_elsewhere() {
        for status in samples::all() {
            let line = describe(&status, COLUMNS - 1);
            assert!(line.chars().count() < COLUMNS && !line.contains('\n'), "{line:?}");
        }
        let short = "n = 27: 43.21 %, about 3 to 5 weeks left, 2475511/5729024 units, 1.52/s";
        assert_eq!(describe(&samples::running(), COLUMNS - 1), short);
        let whole = describe(&samples::running(), usize::MAX);
        assert!(whole.starts_with(short) && whole.ends_with(" workers"), "{whole}");
        let trouble = describe(&samples::disputed(), usize::MAX);
        assert!(trouble.starts_with("n = 27: 43.21 %, nothing is recorded: cannot write"), "{trouble}");
        assert!(trouble.ends_with(&samples::disputed().trouble), "{trouble}");
    }

    #[test]
    fn plain_lines_come_often_at_the_start_and_later_every_ten_minutes() {
        let mut times = vec![SOONEST];
        while times[times.len() - 1] < Duration::from_hours(24) {
            times.push(times[times.len() - 1] + pause(times[times.len() - 1]));
        }
        let within = |time: Duration| times.iter().filter(|at| **at <= time).count();
        assert_eq!(within(Duration::from_secs(20)), 4);
        assert!((8..20).contains(&within(Duration::from_mins(5))), "{times:?}");
        assert!(within(Duration::from_hours(24)) < 200);
        assert!(times.windows(2).all(|pair| pair[1] <= pair[0] + LATEST));
    }
}
