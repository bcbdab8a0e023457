//! The speed of a worker's threads, measured from its latest counts. A thread of a graphics card is one of the units
//! that it counts in parallel.
//!
//! Unlike a rate, the speed does not include idle time.

/// Beyond this number of units, older units lose weight.
const MEMORY: u32 = 64;

/// The speed is unknown with fewer units.
const KNOWN: u32 = 4;

/// A thread counts as at most this many times as fast or as slow as the mean.
const FARTHEST: f64 = 256.0;

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
    pub fn counted(&mut self, work: f64, time: f64) {
        if self.units >= MEMORY {
            *self = Self { units: MEMORY / 2, work: self.work / 2.0, time: self.time / 2.0 };
        }
        self.units += 1;
        self.work += work;
        self.time += time;
    }

    /// The speed relative to the mean of all threads, which is `mean` seconds of expected work per second; 1 while the
    /// speed is unknown.
    pub fn beside(&self, mean: f64) -> f64 {
        if self.units < KNOWN {
            return 1.0;
        }
        // The time may be zero.
        (self.work / self.time.max(f64::MIN_POSITIVE) / mean).clamp(1.0 / FARTHEST, FARTHEST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thread_speed_follows_counts_within_bounds() {
        let mut speed = ThreadSpeed::default();
        for _ in 0..KNOWN {
            assert!((speed.beside(2.0) - 1.0).abs() < 1e-9);
            speed.counted(10.0, 0.1);
        }
        assert!((speed.beside(2.0) - 50.0).abs() < 1e-9);
        for _ in 0..1000 {
            speed.counted(1.0, 2.0);
        }
        assert!((speed.beside(2.0) - 0.25).abs() < 1e-3, "{}", speed.beside(2.0));
        for (time, believed) in [(0.0, FARTHEST), (1e9, 1.0 / FARTHEST)] {
            let mut liar = ThreadSpeed::default();
            (0..KNOWN).for_each(|_| liar.counted(1.0, time));
            assert!((liar.beside(1.0) / believed - 1.0).abs() < 1e-9);
        }
    }
}
