//! How much work a thread of a worker does, by what its latest counts took. Of a graphics card a thread is one of the counts that it is
//! given at a time.
//!
//! Unlike a rate this says nothing of how long the worker had nothing to count.

/// Units beyond so many, the older ones, count for less and less.
const MEMORY: u32 = 64;

/// With fewer units nothing is said.
const KNOWN: u32 = 4;

/// No thread is believed to be so many times as fast or as slow as the mean of all.
const FARTHEST: f64 = 256.0;

/// The speed of a worker's thread.
#[derive(Clone, Copy, Debug, Default)]
pub struct ThreadSpeed {
    units: u32,
    /// The expected work of them, in seconds.
    work: f64,
    /// The seconds that they took a thread.
    time: f64,
}

impl ThreadSpeed {
    /// A unit that was expected to take so many seconds of a core took a thread so many.
    pub fn counted(&mut self, work: f64, time: f64) {
        if self.units >= MEMORY {
            *self = Self { units: MEMORY / 2, work: self.work / 2.0, time: self.time / 2.0 };
        }
        self.units += 1;
        self.work += work;
        self.time += time;
    }

    /// The speed in terms of the mean of all threads, which is so much expected work in a second; 1 while too little is known.
    pub fn beside(&self, mean: f64) -> f64 {
        if self.units < KNOWN {
            return 1.0;
        }
        // Nothing takes no time at all.
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
