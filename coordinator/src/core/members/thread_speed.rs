//! The speed of a worker's threads, measured from its latest counts. A thread of a graphics card is one of the units
//! that it counts in parallel.
//!
//! Unlike a rate, the speed does not include idle time.

/// Beyond this number of units, older units lose weight.
const MEMORY_UNITS: u32 = 64;

/// The speed is unknown with fewer units.
const MIN_UNITS: u32 = 4;

/// A thread counts as at most this many times as fast or as slow as the mean.
const MAX_RATIO: f64 = 256.0;

/// The speed of a worker's thread.
#[derive(Clone, Copy, Debug, Default)]
pub struct ThreadSpeed {
    units: u32,
    /// The expected work of the units, in seconds.
    work: f64,
    /// The time of one thread for the units, in seconds.
    time: f64,
}

impl ThreadSpeed {
    /// Adds a unit: its expected work in seconds of a core, and the time of the thread in seconds.
    pub fn add_unit(&mut self, work: f64, time: f64) {
        if self.units >= MEMORY_UNITS {
            *self = Self { units: MEMORY_UNITS / 2, work: self.work / 2.0, time: self.time / 2.0 };
        }
        self.units += 1;
        self.work += work;
        self.time += time;
    }

    /// The speed relative to the mean of all threads, which is `mean` seconds of expected work per second; 1 while the
    /// speed is unknown.
    pub fn relative_to(&self, mean: f64) -> f64 {
        if self.units < MIN_UNITS {
            return 1.0;
        }
        // The time may be zero.
        (self.work / self.time.max(f64::MIN_POSITIVE) / mean).clamp(1.0 / MAX_RATIO, MAX_RATIO)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thread_speed_follows_counts_within_bounds() {
        let mut speed = ThreadSpeed::default();
        for _ in 0..MIN_UNITS {
            assert!((speed.relative_to(2.0) - 1.0).abs() < 1e-9);
            speed.add_unit(10.0, 0.1);
        }
        assert!((speed.relative_to(2.0) - 50.0).abs() < 1e-9);
        for _ in 0..1000 {
            speed.add_unit(1.0, 2.0);
        }
        assert!((speed.relative_to(2.0) - 0.25).abs() < 1e-3, "{}", speed.relative_to(2.0));
        for (time, believed) in [(0.0, MAX_RATIO), (1e9, 1.0 / MAX_RATIO)] {
            let mut liar = ThreadSpeed::default();
            (0..MIN_UNITS).for_each(|_| liar.add_unit(1.0, time));
            assert!((liar.relative_to(1.0) / believed - 1.0).abs() < 1e-9);
        }
    }
}
