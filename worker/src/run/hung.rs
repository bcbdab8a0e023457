//! Threads that hang: what they count is given back, so that others count it.

use std::collections::HashMap;
use std::time::Duration;

use queens::UnitId;
use tracing::error;

use super::WorkerLoop;
use crate::pool::Pool;

/// For how long each unit has been seen in a thread. Only time in which the worker itself runs counts: one that was
/// suspended does not take its threads to hang.
#[derive(Debug, Default)]
pub(super) struct Seen(HashMap<UnitId, Duration>);

impl Seen {
    /// These units were in threads for that much longer. Gives those that have been for longer than the limit since
    /// now, and how many are in all.
    fn add(&mut self, time: Duration, counting: &[UnitId], limit: Duration) -> (Vec<UnitId>, usize) {
        self.0.retain(|unit, _| counting.contains(unit));
        let mut hung = Vec::new();
        for unit in counting {
            let seen = self.0.entry(*unit).or_default();
            if *seen < limit && *seen + time >= limit {
                hung.push(*unit);
            }
            *seen += time;
        }
        (hung, self.0.values().filter(|seen| **seen >= limit).count())
    }
}

impl<P: Pool> WorkerLoop<P> {
    /// Looks at what the threads count, `time` after it did so before. What has been counted for far longer than units
    /// take is not held any more: leases that are not renewed end. Should it be counted after all, it is reported.
    pub(super) fn give_up_hung(&mut self, time: Duration) {
        let limit = self.pace.hung();
        let (hung, all) = self.seen.add(time, &self.pool.counting(), limit);
        for unit in hung {
            self.counting.retain(|(counting, _), _| *counting != unit);
            let minutes = limit.as_secs() / 60;
            error!(%unit, minutes, "a thread hangs: the unit is counted for longer than any should take, and given back");
        }
        self.is_hung = all >= self.config.threads as usize;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_that_stays_in_a_thread_hangs_once() {
        let (mut seen, second) = (Seen::default(), Duration::from_secs(1));
        let [a, b] = [UnitId(1), UnitId(2)];
        assert_eq!(seen.add(second, &[a], 3 * second), (vec![], 0));
        assert_eq!(seen.add(second, &[b, a], 3 * second), (vec![], 0));
        assert_eq!(seen.add(second, &[b, a], 3 * second), (vec![a], 1));
        assert_eq!(seen.add(second, &[a], 3 * second), (vec![], 1), "it is told once");
        assert_eq!(seen.add(second, &[b], 3 * second), (vec![], 0), "b was elsewhere meanwhile");
    }
}
