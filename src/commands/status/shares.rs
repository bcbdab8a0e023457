//! How far run directories are that no coordinator serves: the shares of a board under a batch engine.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, SystemTime};

use anyhow::{Context, bail};
use dashboard::words;
use domain::{Credits, FamilyStatus, TimeLeft, counted, quoted};
use queens::{Board, Totals};
use records::FamilyProgress;
use records::pace::{Pace, time_left};
use records::run_directory::RunDirectory;
use records::shard::Shard;
use serde_json::{Value, json};

use super::credits;
use crate::exit;
use crate::log::say;
use crate::output::{print, sentence, total_text};
use crate::progress::during;

/// A share that could be read.
struct Share {
    run: PathBuf,
    shard: Shard,
    pace: Pace,
}

/// Shares of one board, by their numbers.
struct Shares {
    board: Board,
    fingerprint: String,
    there: Vec<Share>,
    /// The numbers of those that were not named.
    absent: Vec<u64>,
}

pub fn show(runs: &[PathBuf], is_json: bool, with_families: bool) -> anyhow::Result<ExitCode> {
    let now = SystemTime::now();
    let read: Vec<_> = during("reading the runs", || runs.iter().map(|run| read(run, now)).collect());
    let (mut found, mut errors) = (Vec::new(), Vec::new());
    for share in read {
        match share {
            Ok(share) => found.push(share),
            // Show the other shares all the same.
            Err(error) => {
                say(format_args!("diadem: {}", sentence(&error)));
                errors.push(error);
            }
        }
    }
    if !found.is_empty() {
        let shares = joined(found)?;
        let text = if is_json { shares.json().to_string() } else { shares.text(with_families) };
        print(&text)?;
    }
    let worst = errors.iter().find(|error| exit::is_unsound(error)).or(errors.first());
    Ok(worst.map_or(ExitCode::SUCCESS, exit::of))
}

fn read(run: &Path, now: SystemTime) -> anyhow::Result<(RunDirectory, Share)> {
    let directory = RunDirectory::open(run)?;
    let pace = Pace::of(&directory, now)?;
    let shard = directory.run().shard;
    Ok((directory, Share { run: run.to_owned(), shard, pace }))
}

/// The shares as those of one board.
fn joined(found: Vec<(RunDirectory, Share)>) -> anyhow::Result<Shares> {
    let (first, one) = found.first().context("there is a share")?;
    let (board, of) = (first.plan().board(), one.shard.of());
    let fingerprint = first.plan().fingerprint().clone();
    if let Some((_, other)) = found.iter().find(|(run, _)| *run.plan().fingerprint() != fingerprint) {
        let (one, other) = (one.run.display(), other.run.display());
        bail!("{one} and {other} are not shares of one plan: ask for the status of each alone");
    }
    if let Some((_, other)) = found.iter().find(|(_, share)| share.shard.of() != of) {
        let [one, other] = [one, other].map(|share| format!("{} holds {}", share.run.display(), share.shard));
        bail!("{one}, {other}: shares of one number are shown together, ask for the status of each alone");
    }
    let mut shares: Vec<Share> = found.into_iter().map(|(_, share)| share).collect();
    shares.sort_unstable_by_key(|share| share.shard.index());
    if let Some(pair) = shares.windows(2).find(|pair| pair[0].shard == pair[1].shard) {
        let (one, other) = (pair[0].run.display(), pair[1].run.display());
        bail!("{one} and {other} are the same share, {}: name one of them", pair[0].shard.fraction());
    }
    let is_absent = |index: &u64| !shares.iter().any(|share| share.shard.index() == *index);
    let absent = (1..=of).filter(is_absent).collect();
    Ok(Shares { board, fingerprint: fingerprint.to_string(), there: shares, absent })
}

impl Share {
    /// How long it takes, if it is being counted.
    fn left(&self) -> Option<TimeLeft> {
        time_left(self.pace.work_left(), self.pace.speed?)
    }

    fn is_complete(&self) -> bool {
        self.is_counted() && self.pace.pending == 0
    }

    fn is_counted(&self) -> bool {
        self.pace.done == self.pace.units
    }

    fn state(&self) -> &'static str {
        match self.pace {
            _ if self.is_complete() => "complete",
            Pace { is_worked_on: true, .. } if self.is_counted() => "checking",
            Pace { is_worked_on: true, .. } => "counting",
            Pace { last: None, .. } => "begun",
            _ => "still",
        }
    }

    fn line(&self) -> String {
        let how = match (self.left(), self.pace.last) {
            _ if self.is_complete() => "complete".to_owned(),
            _ if self.is_counted() => format!("counted, {} to go", counted(self.pace.pending, "check")),
            (Some(left), _) => format!("counting, {} left", words::range(&left)),
            _ if self.pace.is_worked_on => "counting".to_owned(),
            (None, Some(last)) => match last.elapsed().unwrap_or_default() {
                time if time < Duration::from_mins(1) => "stopped just now".to_owned(),
                time => format!("nothing new for {}", words::span(time)),
            },
            (None, None) if self.pace.is_empty => {
                "its ledger is empty; diadem count shows whether records are missing".to_owned()
            }
            (None, None) => "begun, nothing counted yet".to_owned(),
        };
        let (share, run) = (self.shard.fraction(), self.run.display().to_string());
        format!("{share:>9} {:>9}  {how}  {run}", words::percent(self.pace.progress()))
    }

    /// The total, if the share is the whole board and complete.
    fn answer(&self, board: Board) -> Option<String> {
        let totals = self.pace.totals.as_ref().filter(|_| self.is_complete() && self.shard.is_whole())?;
        Some(format!("            {}", total_text(board, self.shard, totals)))
    }

    /// The partial totals, once there are any.
    fn totals(&self) -> Option<String> {
        let totals = self.pace.totals.as_ref().filter(|_| self.pace.done > 0)?;
        let so_far = if self.is_counted() { "" } else { " so far" };
        Some(format!("            {}{so_far}", totals_text(totals)))
    }
}

impl Shares {
    /// The work of all known shares, absent ones included: the whole, and the rest.
    fn work(&self) -> [f64; 2] {
        let known: f64 = self.there.iter().map(|share| share.pace.work).sum();
        let absent = known / self.there.len().max(1) as f64 * self.absent.len() as f64;
        let left: f64 = self.there.iter().map(|share| share.pace.work_left()).sum();
        [known + absent, left + absent]
    }

    fn progress(&self) -> f64 {
        let [all, left] = self.work();
        if left == 0.0 { 1.0 } else { 1.0 - left / all }
    }

    /// The time until all shares are counted, if as many run at the same time as now: at least the time of
    /// the slowest share.
    fn left(&self) -> Option<TimeLeft> {
        let speed: f64 = self.there.iter().filter_map(|share| share.pace.speed).sum();
        let slowest = self.there.iter().filter_map(Share::left).max_by_key(|left| left.expected)?;
        let all = time_left(self.work()[1], speed)?;
        Some(if all.expected > slowest.expected { all } else { slowest })
    }

    /// What the owners gave to all known shares.
    fn credits(&self) -> Credits {
        Credits::joined(self.there.iter().map(|share| &share.pace.credits))
    }

    fn text(&self, with_families: bool) -> String {
        let complete = self.there.iter().filter(|share| share.is_complete()).count();
        let of = self.there.len() + self.absent.len();
        let mut lines = vec![format!(
            "n = {}: {} of the work done, {complete} of {} complete",
            self.board,
            words::percent(self.progress()),
            counted(of as u64, "share"),
        )];
        lines.extend(
            self.left().map(|left| format!("{} left, if as many keep counting", words::range(&left))),
        );
        for share in &self.there {
            lines.push(share.line());
            if with_families || self.there.len() == 1 {
                lines.extend(share.answer(self.board));
                lines.extend(share.totals());
            }
            if with_families {
                lines.extend(share.pace.families.iter().map(family_line));
            }
        }
        if !self.absent.is_empty() {
            let named = ranges(&self.absent);
            lines.push(format!("{} not named: {named}", counted(self.absent.len() as u64, "share")));
        }
        lines.extend(credits::lines(&self.credits()));
        if let Some(still) = self.there.iter().find(|share| share.state() == "still") {
            let (n, run) = (self.board, quoted(&still.run.to_string_lossy()));
            let share = still.shard.fraction();
            let part = if still.shard.is_whole() { String::new() } else { format!(" --shard {share}") };
            lines.push(format!("resume with: diadem count {n}{part} --run {run}"));
        }
        if complete == of && of > 1 {
            lines.push("join them with: diadem merge OUT DIR...".to_owned());
        }
        lines.join("\n")
    }

    fn json(&self) -> Value {
        let seconds = |left: Option<TimeLeft>| left.map(|left| left.expected.as_secs_f64());
        let share = |share: &Share| {
            let last = share.pace.last.and_then(|at| at.duration_since(SystemTime::UNIX_EPOCH).ok());
            json!({
                "run": share.run.to_string_lossy(),
                "share": share.shard.fraction(),
                "state": share.state(),
                "units": share.pace.units,
                "done": share.pace.done,
                "progress": share.pace.progress(),
                "last_count": last.map(|at| at.as_secs()),
                "seconds_left": seconds(share.left()),
                "totals": share.pace.totals.map(totals_json),
                "families": share.pace.families.iter().map(family_json).collect::<Vec<_>>(),
            })
        };
        let left = self.left();
        json!({
            "n": self.board.n(),
            "plan": self.fingerprint,
            "progress": self.progress(),
            "seconds_left": seconds(left),
            "seconds_left_low": left.map(|left| left.low.as_secs_f64()),
            "seconds_left_high": left.map(|left| left.high.as_secs_f64()),
            "shares": self.there.iter().map(share).collect::<Vec<_>>(),
            "absent": self.absent,
            "credits": credits::value(&self.credits()),
        })
    }
}

fn totals_text(totals: &Totals) -> String {
    format!("A = {}, P = {}, R = {}", totals.a, totals.p, totals.r)
}

/// The totals as decimal digits: they may exceed 64 bits.
fn totals_json(totals: Totals) -> Value {
    json!({ "A": totals.a.to_string(), "P": totals.p.to_string(), "R": totals.r.to_string() })
}

fn family_line(progress: &FamilyProgress) -> String {
    let FamilyStatus { top, bottom, units, done } = progress.family;
    let totals =
        progress.totals.as_ref().map_or_else(|| "its counts contradict each other".to_owned(), totals_text);
    format!("            family {top} {bottom}: {done} of {}, {totals}", counted(units, "unit"))
}

fn family_json(progress: &FamilyProgress) -> Value {
    let FamilyStatus { top, bottom, units, done } = progress.family;
    json!({
        "top": top,
        "bottom": bottom,
        "units": units,
        "done": done,
        "totals": progress.totals.map(totals_json),
    })
}

/// Numbers in ascending order, with those that follow each other as a range: `1, 3 to 5`.
fn ranges(numbers: &[u64]) -> String {
    let runs = numbers.chunk_by(|one, next| one + 1 == *next);
    let named = runs.map(|run| match run {
        [one] => one.to_string(),
        [first, .., last] => format!("{first} to {last}"),
        [] => String::new(),
    });
    named.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A share with so much of its 100 seconds of work done, and that speed.
    fn share(index: u64, work_done: f64, speed: Option<f64>) -> Share {
        let done = work_done as u64;
        let last = Some(SystemTime::now() - Duration::from_hours(3));
        let is_worked_on = speed.is_some();
        let pace = Pace {
            units: 100,
            done,
            pending: 0,
            work: 100.0,
            work_done,
            last,
            is_worked_on,
            speed,
            is_empty: false,
            totals: None,
            families: Vec::new(),
            credits: Credits::default(),
        };
        Share { run: format!("s{index}").into(), shard: format!("{index}/6").parse().unwrap(), pace }
    }

    fn shares(shares: Vec<Share>, absent: Vec<u64>) -> Shares {
        Shares { board: Board::new(20).unwrap(), fingerprint: "f".into(), there: shares, absent }
    }

    #[test]
    fn absent_and_still_shares_are_to_be_counted_too() {
        let some = vec![share(1, 100.0, None), share(2, 50.0, Some(0.5)), share(4, 10.0, None)];
        let shares = shares(some, vec![3, 5, 6]);
        let left = shares.left().unwrap();
        assert_eq!(left.expected.as_secs(), 2 * (50 + 90 + 300));
        assert_eq!(
            shares.text(false),
            [
                "n = 20: 26.67 % of the work done, 1 of 6 shares complete",
                "about 12 to 18 minutes left, if as many keep counting",
                "      1/6     100 %  complete  s1",
                "      2/6   50.00 %  counting, about 1 to 2 minutes left  s2",
                "      4/6   10.00 %  nothing new for 3 hours  s4",
                "3 shares not named: 3, 5 to 6",
                "resume with: diadem count 20 --shard 4/6 --run s4",
            ]
            .join("\n")
        );
    }

    #[test]
    fn just_stopped_share_shows_no_seconds() {
        let mut share = share(1, 50.0, None);
        share.pace.last = Some(SystemTime::now() - Duration::from_secs(3));
        assert!(share.line().contains("  stopped just now  "), "{}", share.line());
    }

    #[test]
    fn checking_share_needs_resuming_only_without_workers() {
        let checked = |is_worked_on| {
            let mut share = share(1, 100.0, None);
            share.pace = Pace { pending: 2, is_worked_on, ..share.pace };
            shares(vec![share], vec![])
        };
        let line = "1/6     100 %  counted, 2 checks to go  s1";
        let on = checked(true);
        assert_eq!(on.json()["shares"][0]["state"], "checking");
        assert!(on.text(false).ends_with(line), "{}", on.text(false));
        let still = checked(false);
        assert_eq!(still.json()["shares"][0]["state"], "still");
        assert!(
            still.text(false).contains(line) && still.text(false).contains("\nresume with: "),
            "{}",
            still.text(false)
        );
    }

    #[test]
    fn time_left_is_at_least_that_of_slowest_share() {
        let some = vec![share(1, 99.0, Some(100.0)), share(2, 50.0, Some(0.1))];
        assert_eq!(shares(some, vec![]).left().unwrap().expected.as_secs(), 500);
        let all = shares((1..=6).map(|index| share(index, 100.0, None)).collect(), vec![]);
        assert!(all.left().is_none() && all.text(false).ends_with("merge OUT DIR..."), "{}", all.text(false));
        assert_eq!(all.json()["shares"][5]["state"], "complete");
    }
}
