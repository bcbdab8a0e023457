//! Processor times reported by workers, limited to plausible values.

use queens::Plan;
use serde::{Deserialize, Serialize};

use crate::ledger::UnitRecord;

/// Assumed slowness of a thread before the first count, relative to the core in which work is measured. A generous
/// value gives every worker enough time.
pub const SLOWER: u64 = 30;

/// Maximum plausible time of a unit, in multiples of its expected time, plus a minute: a graphics card counts many
/// small units in parallel.
const MAX_TIME_FACTOR: u64 = 100;
const EXTRA_TIME_US: u64 = 60_000_000;

impl UnitRecord {
    /// The plausible time of the unit of this plan, in microseconds of one thread.
    pub fn believed_cpu_us(&self, plan: &Plan) -> u64 {
        believed(self.cpu_us, plan.mean_weight(self.unit))
    }
}

/// The plausible processor time, in microseconds, of a unit with this work, in nanoseconds of one core. An implausible
/// time is replaced by the time of a slow thread.
fn believed(cpu_us: u64, work: u64) -> u64 {
    let of_core = work / 1000;
    let most = of_core.saturating_mul(MAX_TIME_FACTOR).saturating_add(EXTRA_TIME_US);
    if cpu_us <= most { cpu_us } else { of_core.saturating_mul(SLOWER) }
}

/// The work and time of all records of an owner, including retracted counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Took {
    /// The expected work, in nanoseconds of one core.
    pub work: u128,
    /// The plausible processor time, in microseconds.
    pub cpu_us: u64,
}

impl Took {
    /// Adds the unit of this record.
    pub(super) fn add(&mut self, plan: &Plan, r: &UnitRecord) {
        self.work += u128::from(plan.mean_weight(r.unit));
        self.cpu_us = self.cpu_us.saturating_add(r.believed_cpu_us(plan));
    }

    /// Seconds of expected work per second of processor time; none without processor time.
    pub fn speed(&self) -> Option<f64> {
        (self.cpu_us > 0).then(|| self.work.max(1) as f64 / (self.cpu_us as f64 * 1e3))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn implausible_cpu_time_is_replaced_by_slow_estimate() {
        let minute: u64 = 60_000_000;
        for (cpu_us, believed_us) in [
            (0, 0),
            (minute, minute),
            (100 * minute, 100 * minute),
            (101 * minute, 101 * minute),
            (101 * minute + 1, 30 * minute),
            (u64::MAX, 30 * minute),
        ] {
            assert_eq!(believed(cpu_us, minute * 1000), believed_us);
        }
        assert_eq!(believed(minute + 1, 0), 0);
        assert_eq!(believed(u64::MAX, u64::MAX), u64::MAX / 1000 * SLOWER);
    }
}
