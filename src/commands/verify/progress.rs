//! How far a recount is: a bar where stderr is a terminal, a plain line now and then otherwise.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use crate::log::say;
use crate::terminal::repaints;

/// Between two plain lines.
const LINE_EVERY: Duration = Duration::from_secs(30);

/// How far it is, on stderr.
pub struct RecountProgress {
    what: String,
    bar: ProgressBar,
    done: AtomicU64,
    units: u64,
    begun: Instant,
    /// Plain lines written.
    lines: AtomicU64,
}

impl RecountProgress {
    /// Nothing of so many units has been counted again.
    pub fn new(what: &str, units: u64) -> Self {
        let bar = if repaints(&std::io::stderr()) { ProgressBar::new(units) } else { ProgressBar::hidden() };
        let style = ProgressStyle::with_template("{msg}: {bar:30} {pos}/{len} units, {eta} left");
        let bar = bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.set_message(what.to_owned());
        let (done, lines) = (AtomicU64::new(0), AtomicU64::new(0));
        Self { what: what.to_owned(), bar, done, units, begun: Instant::now(), lines }
    }

    /// One more has been.
    pub fn advance(&self) {
        self.bar.inc(1);
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        let due = self.begun.elapsed().as_secs() / LINE_EVERY.as_secs();
        if self.bar.is_hidden() && self.lines.fetch_max(due, Ordering::Relaxed) < due {
            say(format_args!("{}: {done}/{} units", self.what, self.units));
        }
    }
}

impl Drop for RecountProgress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
