//! Progress on stderr: a painted line on a terminal, plain lines at growing intervals elsewhere.

use std::io;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

use coordinator::Snapshot;
use dashboard::words;
use domain::{Phase, RunStatus, counted};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use crate::log::{finish, paint, say};
use crate::output::{significant, span, time_left};
use crate::terminal::{COLUMNS, cut, repaints};

/// Bounds of the pause between two plain lines. Within them it is a quarter of the time so far.
const SHORTEST_PAUSE: Duration = Duration::from_secs(5);
const LONGEST_PAUSE: Duration = Duration::from_mins(10);

/// A line is painted this often.
const PAINT_EVERY: Duration = Duration::from_millis(500);

/// Work that takes less than this is not worth a word.
const PATIENCE: Duration = Duration::from_secs(2);

/// A line with the progress of a command.
pub struct ProgressLine {
    is_painted: bool,
    /// Whether the terminal shows it now.
    is_shown: bool,
    begun: Instant,
    due: Instant,
}

impl ProgressLine {
    /// A line on stderr. It is due now on a terminal, after the shortest pause elsewhere.
    pub fn new() -> Self {
        let (is_painted, begun) = (repaints(&io::stderr()), Instant::now());
        let due = if is_painted { begun } else { begun + SHORTEST_PAUSE };
        Self { is_painted, is_shown: false, begun, due }
    }

    /// Shows the text if the line is due.
    pub fn show(&mut self, text: impl FnOnce() -> String) {
        let now = Instant::now();
        if now < self.due {
            return;
        }
        if self.is_painted {
            paint(&text());
            self.is_shown = true;
            self.due = now + PAINT_EVERY;
        } else {
            say(format_args!("{}", text()));
            self.due = now + pause(now - self.begun);
        }
    }

    /// Removes the painted line until the next text is due: what stdout prints must not follow it.
    pub fn clear(&mut self) {
        if self.is_shown {
            paint("");
            finish();
            self.is_shown = false;
        }
    }

    /// How many columns a text may have.
    fn columns(&self) -> usize {
        if self.is_painted { COLUMNS - 1 } else { usize::MAX }
    }

    /// When to show the next text.
    pub fn due(&self) -> Instant {
        self.due
    }
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        self.clear();
    }
}

/// The pause after a plain line that comes after that time.
pub fn pause(elapsed: Duration) -> Duration {
    (elapsed / 4).clamp(SHORTEST_PAUSE, LONGEST_PAUSE)
}

/// Does work of unknown length. If it takes a while, shows its description, as in `sorting the solutions`.
pub fn during<T>(what: &'static str, work: impl FnOnce() -> T) -> T {
    let (done, is_done) = sync_channel::<()>(0);
    let watch = move || {
        let (begun, mut line, mut wait) = (Instant::now(), ProgressLine::new(), PATIENCE);
        while is_done.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
            line.show(|| format!("{what}: {} so far", span(Duration::from_secs(begun.elapsed().as_secs()))));
            wait = Duration::from_secs(1);
        }
    };
    // If the system has no thread for it, the work is done in silence.
    let watching = thread::Builder::new().name("progress".into()).spawn(watch);
    let worked = work();
    drop(done);
    if let Ok(watching) = watching {
        watching.join().ok();
    }
    worked
}

/// Shows the snapshots as they come, until the sender is gone or this is dropped.
pub async fn show(mut snapshots: watch::Receiver<Snapshot>) {
    let mut line = ProgressLine::new();
    loop {
        sleep_until(line.due()).await;
        let columns = line.columns();
        line.show(|| describe(&snapshots.borrow_and_update().status, columns));
        if snapshots.has_changed().is_err() {
            break;
        }
    }
}

/// A run in one line of at most `columns` columns: the most important first, as much as fits.
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
    fn progress_line_fits_terminal_and_is_whole_elsewhere() {
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
    fn plain_progress_slows_to_every_ten_minutes() {
        let mut times = vec![SHORTEST_PAUSE];
        while times[times.len() - 1] < Duration::from_hours(24) {
            times.push(times[times.len() - 1] + pause(times[times.len() - 1]));
        }
        let within = |time: Duration| times.iter().filter(|at| **at <= time).count();
        assert_eq!(within(Duration::from_secs(20)), 4);
        assert!((8..20).contains(&within(Duration::from_mins(5))), "{times:?}");
        assert!(within(Duration::from_hours(24)) < 200);
        assert!(times.windows(2).all(|pair| pair[1] <= pair[0] + LONGEST_PAUSE));
    }
}
