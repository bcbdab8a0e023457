//! `diadem status --watch`: the status as it changes, until the run has ended.

use std::io::{self, Write};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::bail;
use proto::Phase;
use tokio::sync::watch;
use tokio::time::{Instant, sleep};
use worker::Remote;

use super::text::text;
use crate::exit;
use crate::log::plain;
use crate::output::{listing, print};
use crate::progress::{describe, pause};
use crate::signals::Signals;
use crate::terminal::{cut, repaints, size, wrapped};
use crate::watched::{self, Sight};

/// Between two looks; the coordinator tells no more often.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// Shows what is seen until the run has ended, nobody has answered for that long, or somebody interrupts. Coordinators wait for
/// workers and followers before they leave, not for who watches: one that is away at the end may have left for good.
pub async fn show(remote: Remote, give_up_after: Duration) -> anyhow::Result<ExitCode> {
    let (told, sights) = watch::channel(Sight::default());
    let mut signals = Signals::new()?;
    tokio::select! {
        refused = watched::watch(remote, told) => Err(refused),
        shown = follow(sights, give_up_after) => listing(shown),
        signal = signals.next() => Ok(signal.exit_code()),
    }
}

async fn follow(mut sights: watch::Receiver<Sight>, give_up_after: Duration) -> anyhow::Result<ExitCode> {
    let mut screen = repaints(&io::stdout()).then(RepaintedStatus::default);
    let begun = Instant::now();
    let mut due = begun;
    let (mut was_gone, mut told) = (false, None);
    loop {
        let sight = sights.borrow_and_update().clone();
        let has_ended = sight.has_ended();
        // That the coordinator leaves, and that it is back, is told at once.
        let is_news = sight.gone.is_some() != was_gone || has_ended;
        was_gone = sight.gone.is_some();
        let news = sight.news.as_ref().filter(|(since, _)| told.replace(*since) != Some(*since));
        if let Some(screen) = &mut screen {
            screen.paint(&page(&sight))?;
        } else {
            if let Some((_, news)) = news {
                print(news)?;
            }
            if sight.is_something() && (Instant::now() >= due || is_news) {
                print(&line(&sight))?;
                due = Instant::now() + pause(begun.elapsed());
            }
        }
        if has_ended {
            let is_complete = sight.phase() == Some(Phase::Complete);
            return Ok(if is_complete { ExitCode::SUCCESS } else { ExitCode::from(exit::UNSOUND) });
        }
        let lost = sight.gone.filter(|(since, _)| since.elapsed() >= give_up_after);
        if let Some((since, why)) = lost {
            let seconds = since.elapsed().as_secs();
            bail!(
                "gave up after {seconds}s without a status: {why}; if the run has ended, its directory has the answer: diadem verify RUN"
            );
        }
        sights.changed().await.ok();
        sleep(LOOK_EVERY).await;
    }
}

/// What is painted over each time.
fn page(sight: &Sight) -> String {
    let news = sight.news.as_ref().map(|(_, news)| wrapped(news) + "\n").unwrap_or_default();
    let status = sight.status.as_ref().map_or_else(String::new, |status| news + &text(status));
    match &sight.gone {
        Some((since, why)) => {
            let seconds = since.elapsed().as_secs();
            format!("no status for {seconds} s, trying again: {why}\n{status}")
        }
        None if status.is_empty() => "waiting for the coordinator".to_owned(),
        None => status,
    }
}

/// The same in one line, however long.
fn line(sight: &Sight) -> String {
    match (&sight.gone, &sight.status) {
        (Some((_, why)), _) => format!("no status, trying again: {why}"),
        (None, Some(status)) => describe(status, usize::MAX),
        (None, None) => "waiting for the coordinator".to_owned(),
    }
}

/// What has been painted on a terminal.
#[derive(Default)]
struct RepaintedStatus {
    lines: usize,
}

impl RepaintedStatus {
    /// Paints over what was there; what does not fit the terminal is left out.
    fn paint(&mut self, page: &str) -> io::Result<()> {
        let (columns, rows) = size();
        let page = plain(page);
        let lines: Vec<_> = page.lines().take(rows.saturating_sub(1)).collect();
        let back = if self.lines > 0 { format!("\x1b[{}A", self.lines) } else { String::new() };
        let text = lines.iter().fold(String::new(), |text, line| text + &cut(line, columns) + "\x1b[K\n");
        self.lines = lines.len();
        let mut out = io::stdout().lock();
        write!(out, "{back}\r{text}\x1b[J")?;
        out.flush()
    }
}
