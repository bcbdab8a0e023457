//! Progress on stderr: a bar where that is a terminal, a plain line now and then otherwise.

use std::time::{Duration, Instant};

use coordinator::Snapshot;
use indicatif::{HumanCount, ProgressBar, ProgressStyle};
use proto::RunStatus;
use tokio::sync::watch;

use crate::log::say;
use crate::output::time_left;
use crate::terminal::repaints;

/// Between two plain lines.
const LINE_EVERY: Duration = Duration::from_secs(30);

/// The first plain line comes sooner.
const FIRST_LINE: Duration = Duration::from_secs(10);

/// The bar's resolution: ten-thousandths.
const STEPS: u64 = 10_000;

/// Shows the snapshots as they come, until the sender is gone or this is dropped.
pub async fn show(mut snapshots: watch::Receiver<Snapshot>) {
    let is_terminal = repaints(&std::io::stderr());
    let bar = if is_terminal { bar() } else { ProgressBar::hidden() };
    let mut next_line = Instant::now() + FIRST_LINE;
    loop {
        let status = snapshots.borrow_and_update().status.clone();
        let text = describe(&status);
        bar.set_position((status.progress * STEPS as f64) as u64);
        bar.set_message(text.clone());
        if !is_terminal && Instant::now() >= next_line {
            next_line = Instant::now() + LINE_EVERY;
            say(format_args!("n = {}: {:.2} %, {text}", status.board, 100.0 * status.progress));
        }
        if snapshots.changed().await.is_err() {
            break;
        }
    }
}

fn bar() -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:30} {percent_precise:>7} %  {msg}");
    let style = style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("=> ");
    let bar = ProgressBar::new(STEPS).with_style(style);
    bar.enable_steady_tick(Duration::from_millis(500));
    bar
}

fn describe(status: &RunStatus) -> String {
    let RunStatus { done, units, rate, .. } = status;
    let solutions = HumanCount(u64::try_from(status.totals.solutions()).unwrap_or(u64::MAX));
    let left = time_left(status);
    let trouble = if status.trouble.is_empty() { String::new() } else { format!("; {}", status.trouble) };
    format!("{done}/{units} units, {solutions} solutions, {rate:.1} units/s, {left}{trouble}")
}
