//! How much a worker may hold, and for how long, by how fast it is: as its counts have shown, or before they have by its threads.

use std::collections::BTreeMap;
use std::time::Duration;

use domain::Owner;
use records::standing::{SLOWER, Sums, Took};

use super::Core;
use super::task::Borrower;

/// With work for less than this a worker would wait for the next answer.
const AT_LEAST: Duration = Duration::from_millis(10);

/// A unit is overdue when it is lent for so many times as long as a thread of its worker should take for it after all that the worker
/// held before, and not before.
pub(super) const PATIENCE: u32 = 4;
const SHORTEST_DUE: Duration = Duration::from_secs(2);

/// A graphics card goes on with one unit while the next one is prepared.
const UNITS_OF_CARD: u64 = 2;

/// Nothing is waited for any longer.
const LONGEST: Duration = Duration::from_hours(24 * 365 * 100);

/// Threads of which nothing is known are taken to be so fast.
const SLOW: f64 = 1.0 / SLOWER as f64;

/// What a worker may hold; work is in nanoseconds of one core.
#[derive(Debug)]
pub(super) struct Share {
    /// It is lent more while it holds no more work than this.
    fair: u128,
    /// It would wait with no more work than this,
    soon: u128,
    /// and with fewer units than this.
    units: u64,
    /// A worker that would wait is lent more while all of its owner hold no more work than this.
    part: u128,
}

impl Core {
    /// Whether the worker holds so little that it is lent one more unit.
    pub(super) fn has_share_left(&self, borrower: &Borrower, share: &Share) -> bool {
        let (work, units) = (self.leases.work_of(borrower.worker), self.leases.units_of(borrower.worker));
        let would_wait = work <= share.soon || units < share.units;
        work <= share.fair
            || (would_wait && self.leases.work_of_owner(&borrower.identity.owner) <= share.part)
    }

    /// What the worker may hold: a quarter of its share, by speed, of what is left to be counted and checked, so that the last units
    /// are not all with one worker, and one that comes later finds some; but never so little that it, or one of its threads, would
    /// have to wait.
    ///
    /// Threads and speed are what workers say of themselves. So that nobody who says more than there is takes all, what a worker
    /// holds beyond that quarter is bounded by the part of its owner, where all owners have equal parts.
    pub(super) fn share(&self, borrower: &Borrower) -> Share {
        let checks = self.standing.pending(self.policy) + self.unconfirmed();
        let to_do = self.work_left() + self.mean_work * checks as f64;
        let quarter = to_do * borrower.worth / (4.0 * self.workers.worth().max(borrower.worth));
        let is_known = self.standing.sums().took.values().any(|took| took.cpu_us > 0);
        let soon =
            if is_known { borrower.worth * borrower.usual_speed * AT_LEAST.as_nanos() as f64 } else { 0.0 };
        let at_a_time = if borrower.hardware.is_card() { UNITS_OF_CARD } else { 1 };
        // What is left is told by what units take on average: whoever is the only owner need not wait because his take longer.
        let part = match self.workers.owners() {
            0 | 1 => u128::MAX,
            owners => (to_do / owners as f64) as u128,
        };
        Share {
            fair: quarter as u128,
            soon: soon as u128,
            units: at_a_time.max(borrower.threads as u64),
            part,
        }
    }

    /// What a thread of the worker has to count until a unit of so much work is counted, in nanoseconds of one core: its part of what
    /// the worker holds, and then the unit, which no other thread helps it with.
    pub(super) fn work_of_thread(&self, borrower: &Borrower, unit: u64) -> f64 {
        self.leases.work_of(borrower.worker) as f64 / borrower.threads.max(1.0) + unit as f64
    }

    /// Where several owners are there, nothing is waited for any longer than if it had been lent by what is known now of how fast
    /// others are: they may have come since, or have shown it. As long as there are units that nobody holds it makes no difference.
    pub(super) fn hurry(&mut self, now: Duration) {
        let is_asked_for = self.workers.owners() > 1 && !self.open.has_uncounted(self.plan.units());
        if now < self.hurry_next || !is_asked_for {
            return;
        }
        self.hurry_next = now.saturating_add(SHORTEST_DUE);
        let speeds: BTreeMap<Owner, f64> =
            self.leases.owners().map(|owner| (owner.clone(), self.speed_of_others(owner))).collect();
        self.leases
            .hurry_all(|owner, work| speeds.get(owner).map_or(LONGEST, |speed| time_for(work, *speed)));
    }

    /// How long so many threads of the usual speed should take for so much work, in nanoseconds of one core.
    pub(super) fn expected(&self, work: u128, threads: f64) -> Duration {
        time(work as f64, threads, self.usual_speed())
    }

    /// The usual speed of a thread: seconds of expected work in a second of the processor. Times are what workers say, so that
    /// it is no mean: half of the work was done by owners who are as fast or faster.
    pub(super) fn usual_speed(&self) -> f64 {
        median(self.took_by_owners().map(|(_, took)| took)).unwrap_or(SLOW)
    }

    /// That of the other owners than this one, or of slow threads where none of them has counted: nobody says himself how long
    /// others wait for him.
    pub(super) fn speed_of_others(&self, owner: &Owner) -> f64 {
        let others = self.took_by_owners().filter(|(other, _)| *other != owner.name()).map(|(_, took)| took);
        let is_alone = self.workers.owners() < 2;
        median(others).unwrap_or_else(|| if is_alone { self.usual_speed() } else { SLOW })
    }

    /// What the records of each owner took who is believed.
    fn took_by_owners(&self) -> impl Iterator<Item = (&str, &Took)> {
        let Sums { took, machines, .. } = self.standing.sums();
        took.iter().map(|(owner, took)| (&**owner, took)).filter(|(owner, _)| !machines.is_expelled(owner))
    }
}

/// How long a thread of that speed may take for so much work, in nanoseconds of one core: what takes longer is overdue.
pub(super) fn time_for(work: f64, speed: f64) -> Duration {
    SHORTEST_DUE.max(time(work, 1.0, speed).saturating_mul(PATIENCE))
}

/// How long so many threads of that speed take for so much work, in nanoseconds of one core.
fn time(work: f64, threads: f64, speed: f64) -> Duration {
    let seconds = work / 1e9 / (threads.max(1.0) * speed);
    Duration::try_from_secs_f64(seconds).unwrap_or(LONGEST).min(LONGEST)
}

/// The speed that half of the work was done with, or faster; nothing where none is known.
fn median<'a>(took: impl Iterator<Item = &'a Took>) -> Option<f64> {
    let mut speeds: Vec<(f64, u128)> = took.filter_map(|took| Some((took.speed()?, took.work))).collect();
    speeds.sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
    let half = speeds.iter().map(|(_, work)| work).sum::<u128>() / 2;
    let mut done = 0;
    let is_half = |(_, work): &&(f64, u128)| {
        done += work;
        done >= half
    };
    speeds.iter().find(is_half).map(|(speed, _)| *speed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_speed_is_one_that_whoever_did_less_than_half_cannot_choose() {
        let took = |work, cpu_us| Took { work, cpu_us };
        let [slow, mean, fast] = [took(4_000, 1_000_000), took(5_000_000, 5_000), took(4_000, 1)];
        assert_eq!(median([].iter()), None);
        assert_eq!(median([took(5, 0)].iter()), None, "nothing took no time at all");
        assert_eq!(median([slow].iter()), slow.speed());
        assert_eq!((median([slow, mean].iter()), median([mean, fast].iter())), (mean.speed(), mean.speed()));
        assert_eq!(median([slow, fast, mean].iter()), mean.speed());
    }
}
