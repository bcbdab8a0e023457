//! The progress and the speed of a run without a coordinator. It takes no lock, so that shards under a batch engine can
//! be observed while they are counted.
//!
//! An idle run is read from its checkpoint and the ledger behind it. While another process uses the run, only the
//! ledger is read. The checkpoint is never opened.
//!
//! The speed refers to the time for which the run was worked on, according to the marks in its ledger, because a shard
//! may wait in a queue for days. The times of the records show whether the run is active. Counts made while a clock was
//! ahead have unknown times, so they do not make a shard active.

use std::fs;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use domain::{Credits, TimeLeft};
use queens::Totals;

use crate::audit::{AuditError, audit, audit_each};
use crate::checkpoint::acknowledged::stored;
use crate::families::{Families, FamilyProgress};
use crate::ledger::{LineBefore, Record, file_path, line_before};
use crate::replay::{Stretch, replay};
use crate::run_directory::RunDirectory;
use crate::standing::{History, Milestone, Standing};

/// The speed is measured over this last part of the working time, but over at least this many seconds.
const RECENT_PART: f64 = 0.25;
const MIN_RECENT_SECONDS: u64 = 30;

/// A run is idle after this many seconds without records, and after this multiple of the usual time between its
/// records.
const IDLE_SECONDS: u64 = 60;
const IDLE_GAPS: f64 = 5.0;

/// How far from the truth, as a factor, the time left is in four cases of five.
const SPREAD: f64 = 1.25;

/// How far a run has come.
#[derive(Clone, Debug, PartialEq)]
pub struct Pace {
    /// Its units.
    pub units: u64,
    /// Units of the share with a standing count.
    pub done: u64,
    /// Its expected work, in seconds of one core of the machine that work was measured on.
    pub work: f64,
    /// Counts that are still to be checked.
    pub pending: u64,
    /// The expected work of the units that are done.
    pub work_done: f64,
    /// The time of its last count; of one whose counts all bear times that are still to come, that of its beginning.
    pub last: Option<SystemTime>,
    /// Whether something has come of late: it is being counted or checked.
    pub is_worked_on: bool,
    /// Recent expected work per second; none if the run is idle.
    pub speed: Option<f64>,
    /// True if its ledger exists but is empty, for example after a count that was interrupted at once.
    pub is_empty: bool,
    /// A, P and R so far; none while counts contradict each other.
    pub totals: Option<Totals>,
    /// The same for each family.
    pub families: Vec<FamilyProgress>,
    /// What all owners gave.
    pub credits: Credits,
}

impl Pace {
    /// The pace of a run at this time.
    ///
    /// # Errors
    /// Its ledger is not sound.
    pub fn of(directory: &RunDirectory, now: SystemTime) -> Result<Self, AuditError> {
        let now = now.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        match idle_standing(directory) {
            Some(standing) => {
                let last = standing.sums().history.milestones_until(now).last().map(|point| point.at);
                Ok(Self::new(directory, &standing, now, last, None))
            }
            None => Self::read(directory, now),
        }
    }

    /// Reads the whole ledger.
    fn read(directory: &RunDirectory, now: u64) -> Result<Self, AuditError> {
        let plan = directory.plan();
        // In working time. Retracted counts were work, too.
        let (mut worked, mut group) = (History::default(), Vec::new());
        let (mut last_count, mut last) = (None, None);
        let audit = audit_each(directory, |_, record| match record {
            Record::Count(r) | Record::Check(r) | Record::Conflict(r) => {
                let is_count = matches!(record, Record::Count(_));
                group.push(if is_count { plan.mean_weight(r.unit) } else { 0 });
                let at = Some(r.at).filter(|at| *at <= now);
                last = last.max(at);
                last_count = last_count.max(at.filter(|_| is_count));
            }
            Record::Mark(mark) => {
                group.drain(..).for_each(|work| worked.count(mark.elapsed().as_secs(), work));
            }
            _ => {}
        })?;
        let points: Vec<Milestone> = worked.milestones().collect();
        let recent_speed = last.and_then(|at| recent_speed(&points, now.saturating_sub(at)));
        Ok(Self::new(directory, &audit.standing, now, last_count, recent_speed))
    }

    /// The pace of a run with that standing. Times are in seconds since 1970, and `recent_speed` is the work done in a second.
    fn new(
        directory: &RunDirectory,
        standing: &Standing,
        now: u64,
        last_count: Option<u64>,
        recent_speed: Option<f64>,
    ) -> Self {
        let (plan, shard, sums) = (directory.plan(), directory.run().shard, standing.sums());
        let begun = (directory.run().begun / 1000).min(now);
        let (units, done) = (shard.size(plan.units()), standing.done());
        let last_count = last_count.or((done > 0).then_some(begun));
        Self {
            units,
            done,
            pending: standing.pending_on_record(),
            work: seconds(shard.work_of(plan)),
            work_done: seconds(sums.work),
            last: last_count.and_then(|at| UNIX_EPOCH.checked_add(Duration::from_secs(at))),
            is_worked_on: recent_speed.is_some(),
            speed: recent_speed.filter(|speed| *speed > 0.0 && done < units),
            is_empty: fs::metadata(file_path(&directory.ledger(), 1)).is_ok_and(|file| file.len() == 0),
            totals: sums.tally.totals().ok(),
            families: Families::new(plan, shard).progress(plan, standing),
            credits: sums.credits.status(now, usize::MAX),
        }
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

/// The standing of a run, from its checkpoint if it is idle, or else from its ledger.
///
/// # Errors
/// Its ledger is not sound.
pub fn standing(directory: &RunDirectory) -> Result<Standing, AuditError> {
    idle_standing(directory).map_or_else(|| audit(directory).map(|audit| audit.standing), Ok)
}

/// The standing of an idle run, from its checkpoint and the ledger behind it. None if the whole ledger must be read,
/// which also finds damage.
fn idle_standing(directory: &RunDirectory) -> Option<Standing> {
    let (position, mut standing) = stored(directory)?;
    if line_before(&directory.ledger(), &position).ok()? != LineBefore::Fits {
        return None;
    }
    let rest = Stretch { from: Some(&position), until: None };
    replay(directory, rest, &mut standing, |_, _| ()).ok()?;
    Some(standing).filter(|standing| standing.sums().tally.totals().is_ok())
}

/// The time for this work at this speed.
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

/// Recent expected seconds per second of working time, after `silence` seconds without records; none if the silence is
/// too long. Checks do not count as work.
fn recent_speed(points: &[Milestone], silence: u64) -> Option<f64> {
    let last = points.last()?;
    let window = (last.at as f64 * RECENT_PART) as u64;
    let from = last.at.saturating_sub(window.max(MIN_RECENT_SECONDS));
    let before = points.iter().rev().skip(1).find(|point| point.at <= from);
    let (at, done, work) = before.map_or((0, 0, 0), |point| (point.at, point.done, point.work));
    let worked = last.at.saturating_sub(at).max(1) as f64;
    let gap = worked / last.done.saturating_sub(done).max(1) as f64;
    let is_still = silence > IDLE_SECONDS && silence as f64 > IDLE_GAPS * gap;
    (!is_still).then(|| seconds(last.work.saturating_sub(work)) / worked)
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;
    use crate::double_check::DoubleCheck;
    use crate::ledger::{Policy, UnitRecord};
    use crate::store::Store;
    use crate::testing::known_run;

    /// A run with a unit of two seconds of work every `gap` seconds.
    fn steady(counts: u64, gap: u64) -> Vec<Milestone> {
        let point = |k: u64| Milestone { at: k * gap, done: k, work: u128::from(k) * 2_000_000_000 };
        (1..=counts).map(point).collect()
    }

    #[test]
    fn the_speed_is_that_of_late() {
        let mut points = steady(100, 1);
        assert_eq!(recent_speed(&points, 0), Some(2.0));
        let (done, work) = (100, 200_000_000_000);
        points.extend((1..=100).map(|k| Milestone {
            at: 100 + 4 * k,
            done: done + k,
            work: work + u128::from(k) * 2_000_000_000,
        }));
        assert_eq!(recent_speed(&points, 1), Some(0.5), "it has become slower");
    }

    #[test]
    fn a_run_that_is_silent_for_long_stands_still() {
        let points = steady(100, 1);
        assert!(recent_speed(&points, 60).is_some());
        assert_eq!(recent_speed(&points, 61), None);
        let slow = steady(10, 900);
        assert!(recent_speed(&slow, 4000).is_some(), "its units take a quarter of an hour");
        assert_eq!(recent_speed(&slow, 5000), None);
        assert_eq!(recent_speed(&[], 1), None);
    }

    /// A run that has a count at each of these times, in seconds since it began, and was worked on for a second for each of them.
    fn counted_at(times: impl IntoIterator<Item = u64>) -> (TempDir, u64) {
        let folder = TempDir::new().unwrap();
        let begun = Store::open(known_run::options(folder.path())).unwrap().0.directory().run().begun / 1000;
        commit_each(&folder, counts_at(0, times.into_iter().map(|at| begun + at)));
        (folder, begun)
    }

    /// Counts of consecutive units from this unit on at these times, in seconds since 1970.
    fn counts_at(first: u64, times: impl IntoIterator<Item = u64>) -> impl Iterator<Item = Record> {
        let count = |(unit, at)| UnitRecord { at, ..known_run::unit_record(unit, 0, "machine") };
        (first..).zip(times).map(count).map(Record::Count)
    }

    /// One more record after the other of that run, which is worked on for a second for each of them.
    fn commit_each(folder: &TempDir, records: impl IntoIterator<Item = Record>) {
        let (mut store, ..) = Store::open(known_run::options(folder.path())).unwrap();
        let before = store.mark().elapsed().as_secs();
        for (record, worked) in records.into_iter().zip(before + 1..) {
            store.commit(&[record], Duration::from_secs(worked), 1).unwrap();
        }
    }

    /// Commits more records after this many seconds of work.
    fn commit(folder: &TempDir, records: &[Record], worked: u64) {
        let (mut store, ..) = Store::open(known_run::options(folder.path())).unwrap();
        store.commit(records, Duration::from_secs(worked), 1).unwrap();
    }

    fn pace_at(folder: &TempDir, now: u64) -> Pace {
        Pace::read(&RunDirectory::open(folder.path()).unwrap(), now).unwrap()
    }

    #[test]
    fn stopped_run_is_read_from_its_checkpoint() {
        let (folder, begun) = counted_at(0..20);
        // The checkpoint that this start rebuilds holds twenty counts, and the ledger gets two more behind it.
        commit_each(&folder, counts_at(20, [begun + 20, begun + 21]));
        let now = UNIX_EPOCH + Duration::from_secs(begun + 30);
        let of = || Pace::of(&RunDirectory::open(folder.path()).unwrap(), now).unwrap();
        let stopped = of();
        let read = pace_at(&folder, begun + 30);
        assert_eq!((stopped.is_worked_on, stopped.speed, stopped.done), (false, None, 22));
        assert_eq!(Pace { is_worked_on: false, speed: None, ..read }, stopped);
        let sum: u128 = stopped.families.iter().map(|family| family.totals.unwrap().a).sum();
        assert_eq!(sum, stopped.totals.unwrap().a);
        // The reply does not need the records before the checkpoint.
        let ledger = folder.path().join("ledger/000001.jsonl");
        let mut bytes = fs::read(&ledger).unwrap();
        bytes[30] ^= 1;
        fs::write(&ledger, bytes).unwrap();
        assert_eq!(of(), stopped);
        // A process that writes keeps its checkpoint to itself.
        let _writer = Store::open(known_run::options(folder.path())).unwrap();
        assert!(Pace::of(&RunDirectory::open(folder.path()).unwrap(), now).is_err(), "the ledger is read");
    }

    #[test]
    fn wrong_clock_at_start_does_not_change_speed() {
        let (steady, begun) = counted_at(0..60);
        let (folder, ahead) = counted_at([]);
        let early = ahead - 5000;
        commit_each(&folder, counts_at(0, [0].into_iter().chain(early + 1..early + 60)));
        let speed = pace_at(&steady, begun + 60).speed;
        assert!(speed.is_some() && pace_at(&folder, early + 60).speed == speed, "{speed:?}");
    }

    #[test]
    fn a_rest_between_two_parts_makes_no_share_slower() {
        let rest = 10 * 86_400;
        let (folder, begun) = counted_at((0..60).chain(rest..rest + 10));
        let pace = pace_at(&folder, begun + rest + 10);
        let mean = pace.work_done / 70.0;
        let factor = pace.speed.unwrap() / mean;
        assert!((0.5..2.0).contains(&factor), "{factor}");
        assert_eq!(pace_at(&folder, begun + rest + 100).speed, None, "it rests again");
    }

    #[test]
    fn recount_after_retraction_is_work() {
        let (folder, begun) = counted_at(0..60);
        let counts = (0..40).map(|unit| known_run::unit_record(unit, 0, "machine"));
        let taken_back: Vec<_> =
            counts.map(|count| known_run::retraction(&UnitRecord { at: begun + 3600, ..count })).collect();
        commit(&folder, &taken_back, 60);
        let pace = pace_at(&folder, begun + 3601);
        assert_eq!((pace.done, pace.is_worked_on, pace.speed), (20, false, None), "nobody counts");
        assert_eq!(pace.last, UNIX_EPOCH.checked_add(Duration::from_secs(begun + 59)));
        commit_each(&folder, counts_at(0, begun + 3610..begun + 3620));
        let pace = pace_at(&folder, begun + 3620);
        assert!(pace.is_worked_on && pace.speed.unwrap() > 0.0, "{pace:?}");
    }

    #[test]
    fn a_run_is_worked_on_while_its_counts_are_checked() {
        let units = known_run::plan().units();
        let (folder, begun) = counted_at(0..units);
        commit(
            &folder,
            &[Record::Policy(Policy {
                double_check: DoubleCheck::All,
                require_owners: None,
                own_checks: None,
                reason: None,
                at: begun,
            })],
            units,
        );
        let check = UnitRecord {
            at: begun + units + 100,
            of: Some("machine".into()),
            ..known_run::unit_record(0, 0, "other")
        };
        commit(&folder, &[Record::Check(check)], units + 100);
        let pace = pace_at(&folder, begun + units + 110);
        assert_eq!((pace.pending, pace.is_worked_on, pace.speed), (units - 1, true, None));
        assert_eq!(pace.last, UNIX_EPOCH.checked_add(Duration::from_secs(begun + units - 1)));
        assert!(!pace_at(&folder, begun + units + 100_000).is_worked_on);
    }

    /// The pace of a run with one count a second for a minute, and one count with a clock that is `ahead` seconds
    /// ahead, `later` seconds after these.
    fn with_one_ahead(ahead: u64, later: u64) -> Pace {
        let (folder, begun) = counted_at((0..60).chain([ahead]));
        let pace = pace_at(&folder, begun + 60 + later);
        assert_eq!(pace.done, 61);
        let now = UNIX_EPOCH + Duration::from_secs(begun + 60 + later);
        assert!(pace.last.unwrap() <= now && pace.work_done > 0.0, "{pace:?}");
        pace
    }

    #[test]
    fn count_with_clock_ahead_does_not_change_pace() {
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
    fn time_left_is_work_divided_by_speed() {
        let left = time_left(100.0, 4.0).unwrap();
        assert_eq!((left.expected.as_secs(), left.low.as_secs(), left.high.as_secs()), (25, 20, 31));
        assert_eq!(time_left(1e300, 1e-300), None);
    }
}
