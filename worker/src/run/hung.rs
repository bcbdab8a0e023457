//! Threads that hang: what they count is given back, so that others count it.

use std::time::Duration;

use tracing::error;

use super::WorkerLoop;
use crate::pool::{Pool, UnitVariant};

/// A thread that gets less of the processor than one part in so many is taken to get that: one that is blocked gets none.
const LEAST_SHARE: u32 = 16;

/// For how long each thread has been seen with what it counts. Only time in which the worker itself runs counts: one that
/// was suspended, or has to leave the processor to others, does not take its threads to hang.
#[derive(Debug, Default)]
pub(super) struct Seen(Vec<Option<(UnitVariant, Duration)>>);

impl Seen {
    /// The threads counted that for so much longer. Gives what a thread has counted for longer than the limit since now, and
    /// how many threads do in all.
    fn add(
        &mut self,
        time: Duration,
        threads: &[Option<UnitVariant>],
        limit: Duration,
    ) -> (Vec<UnitVariant>, usize) {
        self.0.resize(threads.len(), None);
        let mut hung = Vec::new();
        for (seen, counts) in self.0.iter_mut().zip(threads) {
            let Some(counts) = *counts else {
                *seen = None;
                continue;
            };
            let before =
                seen.filter(|(before, _)| *before == counts).map_or(Duration::ZERO, |(_, seen)| seen);
            if before < limit && before + time >= limit {
                hung.push(counts);
            }
            *seen = Some((counts, before + time));
        }
        let is_hung = |seen: &&(UnitVariant, Duration)| seen.1 >= limit;
        (hung, self.0.iter().flatten().filter(is_hung).count())
    }
}

impl<P: Pool> WorkerLoop<P> {
    /// Looks at what the threads count, `time` after it did so before. What has been counted for far longer than units
    /// take is not held any more: leases that are not renewed end. Should it be counted after all, it is reported.
    pub(super) fn give_up_hung(&mut self, time: Duration) {
        let (limit, threads) = (self.pace.hung(), self.pool.counting());
        let busy = threads.iter().flatten().count().max(1) as u32;
        let time = self.counted_for(time, busy);
        let (hung, all) = self.seen.add(time, &threads, limit);
        self.held.give_up(&hung);
        for (unit, _) in hung {
            let minutes = limit.as_secs() / 60;
            error!(%unit, minutes, "a thread hangs: the unit is counted for longer than any should take, and given back");
        }
        self.is_hung = all >= self.config.threads as usize;
    }

    /// For how long each of so many threads has counted in that time: units are measured in processor time, and threads may
    /// have to share the processor with each other and with other programs.
    fn counted_for(&mut self, time: Duration, busy: u32) -> Duration {
        let Some(now) = self.pool.processor_time() else { return time };
        let got = now.saturating_sub(self.processor_time);
        self.processor_time = now;
        (got / busy).clamp(time / LEAST_SHARE, time)
    }
}

#[cfg(test)]
mod tests {
    use domain::Variant;
    use queens::UnitId;

    use super::*;

    #[test]
    fn a_unit_that_stays_in_a_thread_hangs_once() {
        let (mut seen, second) = (Seen::default(), Duration::from_secs(1));
        let [a, b] = [1, 2].map(|unit| (UnitId(unit), Variant::default()));
        assert_eq!(seen.add(second, &[Some(a), None], 3 * second), (vec![], 0));
        assert_eq!(seen.add(second, &[Some(a), Some(b)], 3 * second), (vec![], 0));
        assert_eq!(seen.add(second, &[Some(a), Some(b)], 3 * second), (vec![a], 1));
        assert_eq!(seen.add(second, &[Some(a), None], 3 * second), (vec![], 1), "it is told once");
        assert_eq!(seen.add(second, &[None, Some(b)], 3 * second), (vec![], 0), "b was elsewhere meanwhile");
    }

    #[test]
    fn a_unit_and_its_check_in_two_threads_hang_each_for_itself_and_one_unit_can_hang_all_threads() {
        let (mut seen, second) = (Seen::default(), Duration::from_secs(1));
        let [count, check] = [Variant::ALL[0], Variant::ALL[1]].map(|variant| (UnitId(1), variant));
        let both = [Some(count), Some(check)];
        assert_eq!(seen.add(second, &both, 2 * second), (vec![], 0), "two threads make no second longer");
        assert_eq!(seen.add(second, &both, 2 * second), (vec![count, check], 2));

        let mut seen = Seen::default();
        seen.add(second, &[Some(count), None], 2 * second);
        // Given back, and lent again, it hangs the other thread too.
        assert_eq!(seen.add(second, &[Some(count); 2], 2 * second), (vec![count], 1));
        assert_eq!(seen.add(second, &[Some(count); 2], 2 * second), (vec![count], 2));
    }
}
