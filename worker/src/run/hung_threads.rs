//! Threads that hang: each counts one unit for far longer than any unit takes.

use std::time::Duration;

use crate::pool::UnitVariant;

/// Minimum assumed share of the processor, as a fraction 1/n. A blocked thread gets no processor time, so its measured
/// share is useless.
const MIN_SHARE: u32 = 16;

/// For how long each thread has counted its unit. Only time in which the worker itself runs counts: the threads of a worker that
/// was suspended, or has to leave the processor to others, do not hang.
#[derive(Debug, Default)]
pub struct HungThreads {
    seen: Vec<Option<(UnitVariant, Duration)>>,
    /// The processor time of the pool at the last look.
    processor_time: Duration,
    /// How many threads hang.
    threads: usize,
}

impl HungThreads {
    /// Checks the threads, `elapsed` after the last check. Returns the units that hang since this check.
    pub fn look(
        &mut self,
        elapsed: Duration,
        processor_time: Option<Duration>,
        threads: &[Option<UnitVariant>],
        limit: Duration,
    ) -> Vec<UnitVariant> {
        let busy = threads.iter().flatten().count().max(1) as u32;
        let time = processor_time.map_or(elapsed, |now| self.time_of_each(elapsed, now, busy));
        let (hung, threads) = self.add(time, threads, limit);
        self.threads = threads;
        hung
    }

    /// Whether all threads hang.
    pub fn are_all(&self) -> bool {
        !self.seen.is_empty() && self.threads == self.seen.len()
    }

    /// For how long each of `busy` threads has counted: units are measured in processor time, and threads may have to share
    /// the processor with each other and with other programs.
    fn time_of_each(&mut self, elapsed: Duration, now: Duration, busy: u32) -> Duration {
        let got = now.saturating_sub(self.processor_time);
        self.processor_time = now;
        (got / busy).clamp(elapsed / MIN_SHARE, elapsed)
    }

    /// Adds this time to the busy threads. Returns the units that hang since now, and the number of hanging threads.
    fn add(
        &mut self,
        time: Duration,
        threads: &[Option<UnitVariant>],
        limit: Duration,
    ) -> (Vec<UnitVariant>, usize) {
        self.seen.resize(threads.len(), None);
        let mut hung = Vec::new();
        for (seen, counts) in self.seen.iter_mut().zip(threads) {
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
        (hung, self.seen.iter().flatten().filter(|(_, seen)| *seen >= limit).count())
    }
}

#[cfg(test)]
mod tests {
    use domain::Variant;
    use queens::UnitId;

    use super::*;

    #[test]
    fn a_unit_that_stays_in_a_thread_hangs_once() {
        let (mut seen, second) = (HungThreads::default(), Duration::from_secs(1));
        let [a, b] = [1, 2].map(|unit| (UnitId(unit), Variant::default()));
        assert_eq!(seen.add(second, &[Some(a), None], 3 * second), (vec![], 0));
        assert_eq!(seen.add(second, &[Some(a), Some(b)], 3 * second), (vec![], 0));
        assert_eq!(seen.add(second, &[Some(a), Some(b)], 3 * second), (vec![a], 1));
        assert_eq!(seen.add(second, &[Some(a), None], 3 * second), (vec![], 1), "it is logged once");
        assert_eq!(seen.add(second, &[None, Some(b)], 3 * second), (vec![], 0), "b was elsewhere meanwhile");
    }

    #[test]
    fn unit_and_check_hang_separately() {
        let (mut seen, second) = (HungThreads::default(), Duration::from_secs(1));
        let [count, check] = [Variant::ALL[0], Variant::ALL[1]].map(|variant| (UnitId(1), variant));
        let both = [Some(count), Some(check)];
        assert_eq!(seen.add(second, &both, 2 * second), (vec![], 0), "two threads make no second longer");
        assert_eq!(seen.add(second, &both, 2 * second), (vec![count, check], 2));

        let mut seen = HungThreads::default();
        seen.add(second, &[Some(count), None], 2 * second);
        // If given back and lent again, the unit hangs the other thread, too.
        assert_eq!(seen.add(second, &[Some(count); 2], 2 * second), (vec![count], 1));
        assert_eq!(seen.add(second, &[Some(count); 2], 2 * second), (vec![count], 2));
    }
}
