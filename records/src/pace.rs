//! How far a run has come that no coordinator serves, and how fast it goes: from its ledger alone, without its lock, so that
//! shares under a batch engine can be looked at while they are counted.
//!
//! Times are those that records bear. Of counts that were made while a clock was ahead the work is known and the time is not: they count
//! as done, and say nothing of how fast it goes.

use std::fs;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use proto::TimeLeft;

use crate::audit::{AuditError, audit};
use crate::ledger::file_path;
use crate::run_directory::RunDirectory;
use crate::standing::Milestone;

/// The speed is that of the last part of the time that a run has had, and of no less than so many seconds.
const LATELY: f64 = 0.25;
const LATELY_AT_LEAST: u64 = 30;

/// A run from which nothing has come for so many seconds, and for so many times as long as its records are apart, stands still.
const STILL: u64 = 60;
const STILL_GAPS: f64 = 5.0;

/// How far from the truth, as a factor, the time left is in four cases of five.
const SPREAD: f64 = 1.25;

/// How far a run has come.
#[derive(Clone, Debug, PartialEq)]
pub struct Pace {
    /// Its units.
    pub units: u64,
    /// Those of them with a standing count.
    pub done: u64,
    /// Its expected work, in seconds of one core of the machine that work was measured on.
    pub work: f64,
    /// Counts that are still to be checked.
    pub pending: u64,
    /// The expected work of the units that are done.
    pub work_done: f64,
    /// The time of its last count; of one whose counts all bear times that are still to come, that of its beginning.
    pub last: Option<SystemTime>,
    /// Expected work done in a second, lately; none where nobody counts.
    pub speed: Option<f64>,
    /// Whether its ledger was begun and has not a byte: a count that was cut off at once leaves it so, or somebody else.
    pub is_empty: bool,
}

impl Pace {
    /// The pace of a run at this time.
    ///
    /// # Errors
    /// Its ledger is not sound.
    pub fn of(directory: &RunDirectory, now: SystemTime) -> Result<Self, AuditError> {
        let audit = audit(directory)?;
        let (plan, shard) = (directory.plan(), directory.run().shard);
        let sums = audit.standing.sums();
        let now = now.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let begun = (directory.run().begun / 1000).min(now);
        let points: Vec<Milestone> = sums.history.milestones_until(now).collect();
        let (units, done) = (shard.size(plan.units()), audit.standing.done());
        let is_counted = audit.missing_units == 0;
        let last = points.last().map(|point| point.at).or((done > 0).then_some(begun));
        Ok(Self {
            units,
            done,
            pending: audit.pending(),
            work: seconds(shard.work_of(plan)),
            work_done: seconds(sums.work),
            last: last.and_then(|at| UNIX_EPOCH.checked_add(Duration::from_secs(at))),
            speed: if is_counted { None } else { speed(&points, begun, now) },
            is_empty: fs::metadata(file_path(&directory.ledger(), 1)).is_ok_and(|file| file.len() == 0),
        })
    }

    /// The work that is left, in seconds as [`work`](Self::work).
    pub fn work_left(&self) -> f64 {
        if self.done == self.units { 0.0 } else { (self.work - self.work_done).max(0.0) }
    }

    /// How much of the work is done, from 0 to 1.
    pub fn progress(&self) -> f64 {
        if self.done == self.units {
            1.0
        } else {
            (self.work_done / self.work.max(f64::MIN_POSITIVE)).min(1.0)
        }
    }
}

/// How long so much work takes at that speed.
pub fn time_left(work: f64, speed: f64) -> Option<TimeLeft> {
    let seconds = |seconds: f64| Duration::try_from_secs_f64(seconds).ok();
    let expected = work / speed;
    Some(TimeLeft {
        expected: seconds(expected)?,
        low: seconds(expected / SPREAD)?,
        high: seconds(expected * SPREAD)?,
    })
}

/// Nanoseconds in seconds.
fn seconds(work: u128) -> f64 {
    work as f64 / 1e9
}

/// Expected seconds in a second of late, where a run that began then still counts now.
fn speed(points: &[Milestone], begun: u64, now: u64) -> Option<f64> {
    let last = points.last()?;
    // After which the clock may have stepped back.
    let begun = if begun > last.at { points[0].at } else { begun };
    let window = ((last.at.saturating_sub(begun)) as f64 * LATELY) as u64;
    let from = last.at.saturating_sub(window.max(LATELY_AT_LEAST)).max(begun);
    let before = points.iter().rev().skip(1).find(|point| point.at <= from);
    let (at, done, work) =
        before.map_or((begun, 0, 0), |point| (point.at.max(begun), point.done, point.work));
    let wall = last.at.saturating_sub(at).max(1) as f64;
    let gap = wall / last.done.saturating_sub(done).max(1) as f64;
    let silence = now.saturating_sub(last.at);
    let is_still = silence > STILL && silence as f64 > STILL_GAPS * gap;
    (!is_still).then(|| seconds(last.work.saturating_sub(work)) / wall).filter(|speed| *speed > 0.0)
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;
    use crate::ledger::{Record, UnitRecord};
    use crate::store::Store;
    use crate::testing::known_run;

    /// A run that began at 1000, with a unit of two seconds of work every `gap` seconds from then on.
    fn steady(counts: u64, gap: u64) -> Vec<Milestone> {
        let point = |k: u64| Milestone { at: 1000 + k * gap, done: k, work: u128::from(k) * 2_000_000_000 };
        (1..=counts).map(point).collect()
    }

    #[test]
    fn the_speed_is_that_of_late() {
        let mut points = steady(100, 1);
        assert_eq!(speed(&points, 1000, 1100), Some(2.0));
        let (at, done, work) = (1100, 100, 200_000_000_000);
        points.extend((1..=100).map(|k| Milestone {
            at: at + 4 * k,
            done: done + k,
            work: work + u128::from(k) * 2_000_000_000,
        }));
        assert_eq!(speed(&points, 1000, 1501), Some(0.5), "it has become slower");
    }

    #[test]
    fn a_run_that_is_silent_for_long_stands_still() {
        let points = steady(100, 1);
        assert!(speed(&points, 1000, 1160).is_some());
        assert_eq!(speed(&points, 1000, 1161), None);
        let slow = steady(10, 900);
        assert!(speed(&slow, 1000, 10_000 + 4000).is_some(), "its units take a quarter of an hour");
        assert_eq!(speed(&slow, 1000, 10_000 + 5000), None);
        assert_eq!(speed(&[], 1000, 1001), None);
    }

    #[test]
    fn a_clock_that_was_behind_for_a_count_or_ahead_when_the_run_began_says_nothing_of_the_speed() {
        let points = steady(100, 1);
        assert_eq!(speed(&points, 5000, 1101), speed(&points, 1000, 1101));
        let mut behind = vec![Milestone { at: 0, done: 1, work: 2_000_000_000 }];
        behind.extend(steady(20, 1).into_iter().map(|point| Milestone { done: point.done + 1, ..point }));
        assert!((1.8..2.2).contains(&speed(&behind, 1000, 1021).unwrap()));
    }

    /// The pace of a run that has one count a second for a minute, and another one with a clock so far ahead, so long after all of them.
    fn with_one_ahead(ahead: u64, later: u64) -> Pace {
        let folder = TempDir::new().unwrap();
        let (mut store, ..) = Store::open(known_run::options(folder.path())).unwrap();
        let begun = store.directory().run().begun / 1000;
        let times = (0..60).map(|second| begun + second).chain([begun + ahead]);
        let count =
            |(unit, at)| Record::Count(UnitRecord { at, ..known_run::unit_record(unit, 0, "machine") });
        store.commit(&(0..).zip(times).map(count).collect::<Vec<_>>(), Duration::ZERO, 1).unwrap();
        drop(store);
        let now = UNIX_EPOCH + Duration::from_secs(begun + 60 + later);
        let pace = Pace::of(&RunDirectory::open(folder.path()).unwrap(), now).unwrap();
        assert_eq!(pace.done, 61);
        assert!(pace.last.unwrap() <= now && pace.work_done > 0.0, "{pace:?}");
        pace
    }

    #[test]
    fn a_count_by_a_clock_that_was_ahead_neither_slows_a_share_down_nor_keeps_it_alive() {
        let right = with_one_ahead(60, 0);
        for ahead in [86_400, 365 * 86_400] {
            let pace = with_one_ahead(ahead, 0);
            let factor = pace.speed.unwrap() / right.speed.unwrap();
            assert!((0.5..2.0).contains(&factor), "{factor}");
            assert!((pace.work_done / right.work_done - 1.0).abs() < 1e-9, "its work counts");
            assert_eq!(with_one_ahead(ahead, 3600).speed, None, "it stands still");
        }
    }

    #[test]
    fn what_is_left_takes_as_long_as_its_work_at_that_speed() {
        let left = time_left(100.0, 4.0).unwrap();
        assert_eq!((left.expected.as_secs(), left.low.as_secs(), left.high.as_secs()), (25, 20, 31));
        assert_eq!(time_left(1e300, 1e-300), None);
    }
}
