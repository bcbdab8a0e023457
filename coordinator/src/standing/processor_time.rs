//! What workers say that their counts took, as far as anybody believes it.

use queens::Plan;

use crate::ledger::UnitRecord;

/// Before anything was counted, a thread is taken to be so many times as slow as the core that work is told for: nobody is to
/// be hurried.
pub(crate) const SLOWER: u64 = 30;

/// Nobody believes that units took a thread so many times as long as they take that core, and a minute each beyond that: of small
/// ones a graphics card has many under way at a time.
const SLOWEST: u64 = 100;
const ANY_UNIT_US: u64 = 60_000_000;

impl UnitRecord {
    /// What the unit, which is one of that plan, took a thread in microseconds, as far as that is believed.
    pub fn believed_cpu_us(&self, plan: &Plan) -> u64 {
        believed(self.cpu_us, plan.weight(self.unit).into(), 1)
    }
}

/// The processor time, in microseconds, that so many units of that work, in nanoseconds of one core, are said to have taken. What
/// nobody believes says nothing: then it is what they would take slow threads.
pub(crate) fn believed(cpu_us: u64, work: u128, units: u64) -> u64 {
    let of_core = u64::try_from(work / 1000).unwrap_or(u64::MAX);
    let most = of_core.saturating_mul(SLOWEST).saturating_add(units.saturating_mul(ANY_UNIT_US));
    if cpu_us <= most { cpu_us } else { of_core.saturating_mul(SLOWER) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_that_nobody_believes_is_that_of_slow_threads() {
        let minute: u64 = 60_000_000;
        for (cpu_us, believed_us) in [
            (0, 0),
            (minute, minute),
            (100 * minute, 100 * minute),
            (101 * minute, 101 * minute),
            (101 * minute + 1, 30 * minute),
            (u64::MAX, 30 * minute),
        ] {
            assert_eq!(believed(cpu_us, u128::from(minute) * 1000, 1), believed_us);
        }
        assert_eq!(believed(minute + 1, 0, 1), 0);
        assert_eq!(believed(u64::MAX, u128::MAX, u64::MAX), u64::MAX);
    }
}
