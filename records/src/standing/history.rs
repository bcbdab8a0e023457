//! How a run has come, by the times that its records bear: a curve of at most 600 points, however long the run takes.
//!
//! ```text
//! a record counts in the slot of its own time:     slot = time / spacing
//! once there are more than 600 slots:              spacing doubles, and slots 2k and 2k + 1 are joined
//! ```
//!
//! The spacing starts at one second. The result depends on the records, not on their order: if a clock steps back,
//! later records go into earlier slots. The curves of merged runs are added.

use domain::Sample;
use serde::{Deserialize, Serialize};

/// Maximum number of slots.
const MAX_SLOTS: usize = 600;

/// A run is idle after this many usual steps of its curve without records.
const IDLE_STEPS: u64 = 4;

/// The units on record over time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct History {
    /// Slots have 2^`doublings` seconds.
    doublings: u32,
    /// The slots with records, in ascending order.
    slots: Vec<Slot>,
}

/// The records between two times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Slot {
    /// The latest time of a record, in seconds since 1970 (UTC); the slot's number follows from it.
    last: u64,
    /// Units more on record, or fewer.
    units: i64,
    /// Their expected work, in nanoseconds of one core.
    work: i128,
}

/// How much was on record at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Milestone {
    /// In seconds since 1970 (UTC).
    pub at: u64,
    /// Units on record.
    pub done: u64,
    /// Their expected work, in nanoseconds of one core.
    pub work: u128,
}

impl Slot {
    fn join(&mut self, other: Self) {
        self.last = self.last.max(other.last);
        self.units = self.units.saturating_add(other.units);
        self.work = self.work.saturating_add(other.work);
    }
}

impl History {
    /// True if the length and the number of slots are within their limits.
    pub(super) fn fits(&self) -> bool {
        self.doublings < u64::BITS && self.slots.len() <= MAX_SLOTS
    }

    /// True if no unit was ever on record.
    pub(super) fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Adds the standing count of a unit with this expected work, in nanoseconds of one core, at this time.
    pub fn count(&mut self, at: u64, work: u64) {
        self.add(Slot { last: at, units: 1, work: work.into() });
    }

    /// Subtracts a retracted standing count of a unit with this expected work, at this time.
    pub fn retract(&mut self, at: u64, work: u64) {
        self.add(Slot { last: at, units: -1, work: -i128::from(work) });
    }

    /// The curve, oldest point first: the records at the end of each slot.
    pub fn milestones(&self) -> impl Iterator<Item = Milestone> + '_ {
        let mut sum = (0i64, 0i128);
        self.slots.iter().map(move |slot| {
            sum = (sum.0.saturating_add(slot.units), sum.1.saturating_add(slot.work));
            // After a clock stepped back, a retraction can come before its count.
            let done = u64::try_from(sum.0).unwrap_or(0);
            Milestone { at: slot.last, done, work: u128::try_from(sum.1).unwrap_or(0) }
        })
    }

    /// The curve up to this time. Records with later times were written while a clock was ahead, so their true times
    /// are unknown. In the slot of this time, records cannot be distinguished, so all of them count.
    pub fn milestones_until(&self, now: u64) -> impl Iterator<Item = Milestone> + '_ {
        let doublings = self.doublings;
        self.milestones()
            .take_while(move |point| point.at >> doublings <= now >> doublings)
            .map(move |point| Milestone { at: point.at.min(now), ..point })
    }

    /// The curve in a status at this time, for a run with this work in nanoseconds of one core.
    pub fn samples(&self, total_work: u128, now: u64) -> Vec<Sample> {
        let total = (total_work as f64).max(1.0);
        let sample =
            |Milestone { at, done, work }| Sample { at, done, progress: (work as f64 / total).min(1.0) };
        self.milestones_until(now).map(sample).collect()
    }

    /// The curve of a run that is being counted. If the run is idle, the curve continues at the same height to the
    /// beginning of the present slot.
    pub fn samples_until_now(&self, total_work: u128, now: u64) -> Vec<Sample> {
        let mut samples = self.samples(total_work, now);
        let now = (now >> self.doublings) << self.doublings;
        let last = samples
            .last()
            .copied()
            .filter(|last| now.saturating_sub(last.at) > usual_step(&samples).saturating_mul(IDLE_STEPS));
        if let Some(last) = last {
            if samples.len() == MAX_SLOTS {
                samples.remove(1);
            }
            samples.push(Sample { at: now, ..last });
        }
        samples
    }

    fn add(&mut self, slot: Slot) {
        let number = slot.last >> self.doublings;
        let place = self.slots.partition_point(|other| other.last >> self.doublings < number);
        match self.slots.get_mut(place) {
            Some(other) if other.last >> self.doublings == number => other.join(slot),
            _ => self.slots.insert(place, slot),
        }
        while self.slots.len() > MAX_SLOTS {
            self.doublings += 1;
            self.join_neighbours();
        }
    }

    fn join_neighbours(&mut self) {
        let doublings = self.doublings;
        self.slots.dedup_by(|next, slot| {
            let is_same = next.last >> doublings == slot.last >> doublings;
            if is_same {
                slot.join(*next);
            }
            is_same
        });
    }
}

/// The middle one of the steps between samples, in seconds: at least 1.
pub fn usual_step(samples: &[Sample]) -> u64 {
    let mut steps: Vec<u64> = samples.windows(2).map(|pair| pair[1].at.saturating_sub(pair[0].at)).collect();
    steps.sort_unstable();
    steps.get(steps.len() / 2).copied().unwrap_or(1).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const BEGUN: u64 = 1_790_000_000;

    fn counted_at(times: impl IntoIterator<Item = u64>) -> History {
        let mut history = History::default();
        times.into_iter().for_each(|at| history.count(at, 10));
        history
    }

    fn curve(history: &History) -> Vec<(u64, u64)> {
        history.milestones().map(|point| (point.at, point.done)).collect()
    }

    #[test]
    fn history_is_by_second_at_first_and_coarser_later() {
        let minutes = counted_at((0..600).map(|second| BEGUN + second));
        assert_eq!(curve(&minutes), (0..600).map(|k| (BEGUN + k, k + 1)).collect::<Vec<_>>());
        let months = counted_at((0..90 * 1440).map(|minute| BEGUN + 60 * minute));
        let points = curve(&months);
        assert!((300..=600).contains(&points.len()), "{} points", points.len());
        assert_eq!(points.last(), Some(&(BEGUN + 60 * (90 * 1440 - 1), 90 * 1440)));
        let gaps = points.windows(2).map(|pair| pair[1].0 - pair[0].0);
        assert!(gaps.clone().all(|gap| gap <= 5 * 3600) && gaps.max().unwrap() >= 3600);
    }

    #[test]
    fn clock_step_back_keeps_curve_ascending() {
        let stepped = counted_at((0..100).chain(50..200).map(|second| BEGUN + second));
        let points = curve(&stepped);
        assert!(points.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 < pair[1].1));
        assert_eq!((points.len(), points.last()), (200, Some(&(BEGUN + 199, 250))));
    }

    #[test]
    fn retraction_lowers_curve_from_its_time() {
        let mut history = counted_at([BEGUN, BEGUN + 10, BEGUN + 20]);
        history.retract(BEGUN + 15, 10);
        assert_eq!(curve(&history), [(BEGUN, 1), (BEGUN + 10, 2), (BEGUN + 15, 1), (BEGUN + 20, 2)]);
        assert_eq!(history.milestones().last().unwrap().work, 20);
        let mut early = History::default();
        early.retract(BEGUN, 10);
        early.count(BEGUN + 1, 10);
        assert_eq!(curve(&early), [(BEGUN, 0), (BEGUN + 1, 0)]);
    }

    #[test]
    fn curve_of_idle_run_extends_to_now() {
        let history = counted_at((0..600).map(|minute| BEGUN + 60 * minute));
        let (end, last) = (BEGUN + 60 * 599, |now| *history.samples_until_now(6000, now).last().unwrap());
        assert_eq!(
            (last(end).at, last(end + 60).at),
            (end, end),
            "it has not been silent for longer than usual"
        );
        let night = end + 8 * 3600;
        assert!((night - 128..=night).contains(&last(night).at), "{:?}", last(night));
        assert_eq!((last(night).done, last(night).progress), (600, 1.0));
        assert!(history.samples_until_now(6000, night).len() <= MAX_SLOTS);
        assert_eq!(history.samples(6000, night).last().unwrap().at, end);
        assert_eq!(History::default().samples_until_now(1, BEGUN), []);
    }

    #[test]
    fn no_time_that_a_record_can_bear_is_too_much() {
        let wild = counted_at((0..64).flat_map(|k| [1 << k, u64::MAX >> k, u64::MAX - k]).chain(0..1000));
        let points = curve(&wild);
        assert!(points.len() <= 600);
        assert_eq!(points.last(), Some(&(u64::MAX, 64 * 3 + 1000)));
    }

    #[test]
    fn future_count_joins_curve_at_its_time() {
        let mut history = counted_at((0..600).map(|minute| BEGUN + 60 * minute));
        history.count(BEGUN + 86400 * 365, 10);
        let until = |now: u64| history.milestones_until(now).last().map(|point| (point.at, point.done));
        let end = BEGUN + 60 * 599;
        assert_eq!(until(end + 86400), Some((end, 600)));
        assert_eq!(until(BEGUN + 86400 * 365), Some((BEGUN + 86400 * 365, 601)));
        // The observer's clock is a second behind. Slots have two minutes, and nothing of the last slot is lost.
        assert_eq!(until(end - 1), Some((end - 1, 600)));
        assert_eq!(until(BEGUN - 86400), None);
        assert_eq!(history.samples(6010, end).last().unwrap().done, 600);
    }

    proptest! {
        #[test]
        fn curve_does_not_depend_on_record_order(
            mut records in proptest::collection::vec((0u64..100_000, any::<bool>(), any::<u64>()), 0..2000),
            cut in any::<prop::sample::Index>(),
        ) {
            let mut ordered = records.clone();
            ordered.sort_unstable();
            let cut = cut.index(records.len() + 1);
            records.rotate_left(cut);
            let [one, other] = [records, ordered].map(|records| {
                let mut history = History::default();
                for (at, is_count, work) in records {
                    if is_count { history.count(at, work) } else { history.retract(at, work) }
                }
                history
            });
            prop_assert!(one.slots.len() <= MAX_SLOTS);
            prop_assert_eq!(&one, &other);
            let text = serde_json::to_string(&one).unwrap();
            prop_assert_eq!(serde_json::from_str::<History>(&text).unwrap(), one);
        }
    }
}
