//! The recent rate of counts and work per second.

use std::time::Duration;

/// Memory of a rate, in seconds. Older counts weigh less than 1/e.
const MEMORY_SECONDS: f64 = 120.0;

/// If counts are rare, the memory spans about this many counts,
const MEMORY_COUNTS: f64 = 16.0;

/// but at most the time of one thread for this many units.
const MEMORY_UNITS: f64 = 4.0;

/// An exponentially weighted rate without bias from its first counts on.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rate {
    /// Time of the last count.
    last: Duration,
    /// The counts, weighted by their age at that time.
    counts: f64,
    /// Their expected work, weighted likewise.
    work: f64,
    /// Their time in seconds of one thread, weighted likewise.
    took: f64,
    /// The weight of one count per second over the same period.
    full: f64,
    /// The memory for rare counts, in seconds.
    longer: f64,
}

impl Rate {
    /// Adds a counted unit: its expected work, its time in seconds of one thread, and the number of threads.
    pub fn add(&mut self, now: Duration, work: f64, took: f64, threads: u64) {
        let threads = threads.max(1) as f64;
        let mean = (self.took + took) / (self.counts + 1.0);
        self.longer = mean * MEMORY_UNITS.min(MEMORY_COUNTS / threads);
        if self.counts > 0.0 {
            *self = self.aged(now);
        } else {
            // The first count needed time, too: the mean interval between counts of these threads.
            self.full = took / threads;
        }
        self.last = now;
        self.counts += 1.0;
        self.work += work;
        self.took += took;
    }

    /// Units per second at this time; none before something has been counted for a while.
    pub fn per_second(&self, now: Duration) -> Option<f64> {
        self.of(now, |aged| aged.counts)
    }

    /// Expected work per second at this time; none likewise.
    pub fn work_per_second(&self, now: Duration) -> Option<f64> {
        self.of(now, |aged| aged.work)
    }

    fn of(&self, now: Duration, what: impl Fn(&Self) -> f64) -> Option<f64> {
        let aged = self.aged(now);
        (aged.full > 0.1).then(|| what(&aged) / aged.full).filter(|rate| *rate > 0.0)
    }

    /// The rate with weights at this time.
    fn aged(&self, now: Duration) -> Self {
        let age = now.saturating_sub(self.last).as_secs_f64();
        let memory = self.longer.max(MEMORY_SECONDS);
        let decay = (-age / memory).exp();
        Self {
            counts: self.counts * decay,
            work: self.work * decay,
            took: self.took * decay,
            full: self.full * decay + memory * (1.0 - decay),
            ..*self
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::rngs::StdRng;
    use rand::{RngExt, SeedableRng};

    use super::*;

    #[test]
    fn rate_is_known_soon_and_follows_changes() {
        let mut rate = Rate::default();
        let mut now = Duration::ZERO;
        assert_eq!(rate.per_second(now), None);
        for (per_second, seconds) in [(10u32, 30), (2, 1200)] {
            for _ in 0..seconds * per_second {
                now += Duration::from_secs(1) / per_second;
                rate.add(now, 3.0, 0.1, 1);
            }
            let found = rate.per_second(now).unwrap();
            assert!((found / f64::from(per_second) - 1.0).abs() < 0.05, "{found} instead of {per_second}");
            assert!((rate.work_per_second(now).unwrap() / found - 3.0).abs() < 1e-9);
        }
        assert!(rate.per_second(now + Duration::from_mins(4)).unwrap() < 0.3, "it has ceased");
    }

    /// The counts of this number of threads for three days, in units of 348 seconds ± 38 %: the time and duration of
    /// each. At the start all threads begin a unit, or continue one.
    fn slow_units(threads: u64, goes_on: bool, random: &mut StdRng) -> Vec<(f64, f64)> {
        let mut counts = Vec::new();
        for _ in 0..threads {
            // Of the unit that is under way so much is done.
            let done = if goes_on { random.random_range(0.0..1.0) } else { 0.0 };
            let mut took = || 348.0 * (1.0 + 0.38 * 3f64.sqrt() * random.random_range(-1.0..1.0));
            let mut next = took();
            let mut at = -done * next;
            while at + next < 3.0 * 86_400.0 {
                at += next;
                counts.push((at, next));
                next = took();
            }
        }
        counts.sort_by(|a, b| a.0.total_cmp(&b.0));
        counts
    }

    #[test]
    fn rate_of_slow_units_is_close_after_first_counts() {
        let mut random = StdRng::seed_from_u64(7);
        for (threads, goes_on) in [(1, false), (1, true), (16, false), (16, true)] {
            let (mut rate, truth) = (Rate::default(), threads as f64 / 348.0);
            let counts = slow_units(threads, goes_on, &mut random);
            for (place, pair) in counts.windows(2).enumerate() {
                let [(at, took), (next, _)] = [pair[0], pair[1]];
                rate.add(Duration::from_secs_f64(at), 1.0, took, threads);
                let bounds = if (place as u64) < threads { 0.0..5.0 } else { 0.5..2.2 };
                for later in [0.0, 5.0, 60.0] {
                    let now = Duration::from_secs_f64((at + later).min(next));
                    let found = rate.per_second(now).unwrap() / truth;
                    assert!(
                        bounds.contains(&found),
                        "{threads} threads, {later} s after count {place}: {found}"
                    );
                }
            }
        }
    }
}
