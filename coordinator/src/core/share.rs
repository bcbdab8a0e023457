//! How much a worker may hold, and for how long, by how fast it is: as its counts have shown, or before they have by its threads.

use std::time::Duration;

use domain::{Hardware, Owner, WorkerId};
use queens::kernel::KernelName;
use records::standing::{Identity, SLOWER, Standing, Sums, Took};

use super::leases::{LEASE_TIME, Leases};
use super::members::{Members, Methods};

/// With work for less than this a worker would wait for the next answer.
const AT_LEAST: Duration = Duration::from_millis(10);

/// A lease may be renewed for so many times as long as others take for such a unit, and for all that the worker held before it.
const RENEWABLE: u32 = 10;

/// A graphics card goes on with one unit while the next one is prepared.
const UNITS_OF_CARD: u64 = 2;

/// Nothing is waited for any longer.
const LONGEST: Duration = Duration::from_hours(24 * 365 * 100);

/// Threads of which nothing is known are taken to be so fast.
const SLOW: f64 = 1.0 / SLOWER as f64;

/// A worker that asks for units.
#[derive(Debug)]
pub struct Borrower {
    /// The worker.
    pub worker: WorkerId,
    /// How many units it counts at a time.
    pub threads: f64,
    /// How many threads of the usual speed it is worth.
    pub worth: f64,
    /// How fast a thread usually is, in seconds of expected work a second,
    pub usual_speed: f64,
    /// and one of other owners.
    pub speed_of_others: f64,
    /// The kernel that it counts with.
    pub kernel: KernelName,
    /// By which methods it counts.
    pub methods: Methods,
    /// Its machine.
    pub identity: Identity,
    /// What kind of hardware that is.
    pub hardware: Hardware,
}

impl Borrower {
    /// How many units it must hold so that no thread of it waits.
    pub fn units_at_a_time(&self) -> u64 {
        (self.threads as u64).max(if self.hardware.is_card() { UNITS_OF_CARD } else { 1 })
    }

    /// For how long it may renew a lease of a unit of that work, in nanoseconds of one core, beside all that it holds. It gains
    /// nothing by being slow: its threads are taken to be as fast as those of others at least.
    pub fn renewable_for(&self, leases: &Leases, work: u64) -> Duration {
        let speed = self.speed_of_others.max(self.worth * self.usual_speed / self.threads.max(1.0));
        let of_thread = leases.work_of(self.worker) as f64 / self.threads.max(1.0) + work as f64;
        LEASE_TIME.max(time(of_thread, speed).saturating_mul(RENEWABLE))
    }
}

/// What a worker may hold; work is in nanoseconds of one core.
#[derive(Debug)]
pub struct Share {
    /// It is lent more while it holds no more work than this.
    fair: u128,
    /// It would wait with no more work than this,
    soon: u128,
    /// and with fewer units than this.
    units: u64,
    /// A worker that would wait is lent more while all of its owner hold no more work than this.
    part: u128,
}

impl Share {
    /// What the worker may hold: a quarter of its share, by speed, of what is left to be counted and checked, so that the last units
    /// are not all with one worker, and one that comes later finds some; but never so little that it, or one of its threads, would
    /// have to wait.
    ///
    /// Threads and speed are what workers say of themselves. So that nobody who says more than there is takes all, what a worker
    /// holds beyond that quarter is bounded by the part of its owner, where all owners have equal parts.
    pub fn of(borrower: &Borrower, members: &Members, to_do: f64, is_speed_known: bool) -> Self {
        let quarter = to_do * borrower.worth / (4.0 * members.worth().max(borrower.worth));
        let soon = borrower.worth * borrower.usual_speed * AT_LEAST.as_nanos() as f64;
        // What is left is told by what units take on average: the only owner need not wait because his take longer.
        let part = match members.owners() {
            0 | 1 => u128::MAX,
            owners => (to_do / owners as f64) as u128,
        };
        let soon = if is_speed_known { soon as u128 } else { 0 };
        Self { fair: quarter as u128, soon, units: borrower.units_at_a_time(), part }
    }

    /// Whether the worker holds so little that it is lent one more unit.
    pub fn has_room(&self, leases: &Leases, borrower: &Borrower) -> bool {
        let (work, units) = (leases.work_of(borrower.worker), leases.units_of(borrower.worker));
        let would_wait = work <= self.soon || units < self.units;
        work <= self.fair || (would_wait && leases.work_of_owner(&borrower.identity.owner) <= self.part)
    }
}

/// The usual speed of a thread: seconds of expected work in a second of the processor. Times are what workers say, so that
/// it is no mean: half of the work was done by owners who are as fast or faster.
pub fn usual_speed(standing: &Standing) -> f64 {
    median(took_by_owners(standing).map(|(_, took)| took)).unwrap_or(SLOW)
}

/// That of the other owners than this one, or of slow threads where none of them has counted: nobody says himself how long
/// others wait for him.
pub fn speed_of_others(standing: &Standing, owner: &Owner, is_only_owner: bool) -> f64 {
    let others = took_by_owners(standing).filter(|(other, _)| *other != owner.name()).map(|(_, took)| took);
    median(others).unwrap_or_else(|| if is_only_owner { usual_speed(standing) } else { SLOW })
}

/// Whether anybody has said how long a count took.
pub fn is_speed_known(standing: &Standing) -> bool {
    standing.sums().took.values().any(|took| took.cpu_us > 0)
}

/// What the records of each owner took who is believed.
fn took_by_owners(standing: &Standing) -> impl Iterator<Item = (&str, &Took)> {
    let Sums { took, machines, .. } = standing.sums();
    took.iter().map(|(owner, took)| (&**owner, took)).filter(|(owner, _)| !machines.is_expelled(owner))
}

/// How long a thread of that speed takes for so much work, in nanoseconds of one core.
fn time(work: f64, speed: f64) -> Duration {
    Duration::try_from_secs_f64(work / 1e9 / speed).unwrap_or(LONGEST).min(LONGEST)
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
    fn minority_of_work_cannot_choose_median_speed() {
        let took = |work, cpu_us| Took { work, cpu_us };
        let [slow, mean, fast] = [took(4_000, 1_000_000), took(5_000_000, 5_000), took(4_000, 1)];
        assert_eq!(median([].iter()), None);
        assert_eq!(median([took(5, 0)].iter()), None, "nothing took no time at all");
        assert_eq!(median([slow].iter()), slow.speed());
        assert_eq!((median([slow, mean].iter()), median([mean, fast].iter())), (mean.speed(), mean.speed()));
        assert_eq!(median([slow, fast, mean].iter()), mean.speed());
    }
}
