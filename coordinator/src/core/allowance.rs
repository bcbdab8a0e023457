//! How much a worker may hold, and for how long. Both depend on its speed: measured from its counts, or assumed from
//! its threads before the first counts.

use std::time::Duration;

use domain::{Hardware, Owner, WorkerId};
use queens::kernel::KernelName;
use records::standing::{Identity, SLOWER, Standing, Sums, Took};

use super::leases::{LEASE_TIME, Leases};
use super::members::{Members, Methods};

/// A worker with less work than this would be idle before the next reply arrives.
const MIN_WORK_AHEAD: Duration = Duration::from_millis(10);

/// A lease is renewable for this many times the time that other workers need for the unit and for all units that the
/// worker held before it.
const RENEWAL_FACTOR: u32 = 10;

/// A card prepares its next unit while it counts the current unit.
const MIN_CARD_UNITS: u64 = 2;

/// Upper limit of the renewal time.
const MAX_RENEWAL: Duration = Duration::from_hours(24 * 365 * 100);

/// Assumed speed of threads without counts.
const UNKNOWN_THREAD_SPEED: f64 = 1.0 / SLOWER as f64;

/// A worker that asks for units.
#[derive(Debug)]
pub struct Borrower {
    /// The worker.
    pub worker: WorkerId,
    /// The number of units that it counts in parallel.
    pub threads: f64,
    /// Its speed, in threads of the usual speed.
    pub worth: f64,
    /// The usual speed of a thread, in seconds of expected work per second.
    pub usual_speed: f64,
    /// The usual speed of a thread of other owners, in the same unit.
    pub speed_of_others: f64,
    /// Its kernel.
    pub kernel: KernelName,
    /// The methods that it supports.
    pub methods: Methods,
    /// Its machine.
    pub identity: Identity,
    /// The kind of its device.
    pub hardware: Hardware,
}

impl Borrower {
    /// The number of units that it must hold so that none of its threads is idle.
    pub fn units_at_a_time(&self) -> u64 {
        (self.threads as u64).max(if self.hardware.is_card() { MIN_CARD_UNITS } else { 1 })
    }

    /// How long it may renew a lease of a unit with this work, in nanoseconds of one core, in addition to all units
    /// that it holds. A slow worker does not gain time: its threads count as at least as fast as the threads of other
    /// owners.
    pub fn renewable_for(&self, leases: &Leases, work: u64) -> Duration {
        let speed = self.speed_of_others.max(self.worth * self.usual_speed / self.threads.max(1.0));
        let of_thread = leases.work_of(self.worker) as f64 / self.threads.max(1.0) + work as f64;
        LEASE_TIME.max(time(of_thread, speed).saturating_mul(RENEWAL_FACTOR))
    }
}

/// The limits on what a worker may hold. Work is in nanoseconds of one core.
#[derive(Debug)]
pub struct Allowance {
    /// The worker gets another unit while it holds at most this work.
    fair_work: u128,
    /// The worker would be idle with at most this work.
    idle_work: u128,
    /// The worker would be idle with fewer units than this.
    units: u64,
    /// An idle worker gets another unit only while its owner holds at most this work.
    owner_work: u128,
}

impl Allowance {
    /// The limits for this worker. It may hold a quarter of its share of the remaining counts and checks, by speed. So
    /// the last units are spread over several workers, and a later worker still finds some. The limit never leaves the
    /// worker or one of its threads idle.
    ///
    /// Workers report their own threads and speed. So that an exaggerating worker cannot take all units, the work
    /// beyond the quarter is limited to the part of its owner. All owners have equal parts.
    pub fn of(borrower: &Borrower, members: &Members, to_do: f64, is_speed_known: bool) -> Self {
        let quarter = to_do * borrower.worth / (4.0 * members.worth().max(borrower.worth));
        let idle_work = borrower.worth * borrower.usual_speed * MIN_WORK_AHEAD.as_nanos() as f64;
        // The remaining work is an estimate from average units. A single owner must not wait because its units take
        // longer.
        let owner_work = match members.owners() {
            0 | 1 => u128::MAX,
            owners => (to_do / owners as f64) as u128,
        };
        let idle_work = if is_speed_known { idle_work as u128 } else { 0 };
        Self { fair_work: quarter as u128, idle_work, units: borrower.units_at_a_time(), owner_work }
    }

    /// True if the worker may get one more unit.
    pub fn has_room(&self, leases: &Leases, borrower: &Borrower) -> bool {
        let (work, units) = (leases.work_of(borrower.worker), leases.units_of(borrower.worker));
        let would_wait = work <= self.idle_work || units < self.units;
        work <= self.fair_work
            || (would_wait && leases.work_of_owner(&borrower.identity.owner) <= self.owner_work)
    }
}

/// The usual speed of a thread, in seconds of expected work per second of processor time. It is the median by work,
/// because workers report their own times: owners that are at least as fast did half of the work.
pub fn usual_speed(standing: &Standing) -> f64 {
    median(took_by_owners(standing).map(|(_, took)| took)).unwrap_or(UNKNOWN_THREAD_SPEED)
}

/// The usual speed of the other owners' threads, or the assumed speed if none of them has counted. So an owner cannot
/// set its own renewal time.
pub fn speed_of_others(standing: &Standing, owner: &Owner, is_only_owner: bool) -> f64 {
    let others = took_by_owners(standing).filter(|(other, _)| *other != owner.name()).map(|(_, took)| took);
    median(others).unwrap_or_else(|| if is_only_owner { usual_speed(standing) } else { UNKNOWN_THREAD_SPEED })
}

/// True if a recorded count has a processor time.
pub fn is_speed_known(standing: &Standing) -> bool {
    standing.sums().took.values().any(|took| took.cpu_us > 0)
}

/// The work and time of each owner that is not expelled.
fn took_by_owners(standing: &Standing) -> impl Iterator<Item = (&str, &Took)> {
    let Sums { took, machines, .. } = standing.sums();
    took.iter().map(|(owner, took)| (&**owner, took)).filter(|(owner, _)| !machines.is_expelled(owner))
}

/// How long a thread with this speed takes for this work, in nanoseconds of one core.
fn time(work: f64, speed: f64) -> Duration {
    Duration::try_from_secs_f64(work / 1e9 / speed).unwrap_or(MAX_RENEWAL).min(MAX_RENEWAL)
}

/// The speed at or above which half of the work was done; none without counts.
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
