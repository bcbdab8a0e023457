//! A token bucket: a burst, then one token per interval.

use std::time::Duration;

/// Admits bursts up to its capacity, and one more for each interval that has passed.
#[derive(Debug)]
pub struct TokenBucket {
    /// The time to fill the bucket.
    capacity: Duration,
    interval: Duration,
    /// The time when the bucket will be full again. The time until then is the missing part.
    full_at: Duration,
}

impl TokenBucket {
    /// A full bucket.
    pub fn new(at_once: u32, interval: Duration) -> Self {
        Self { capacity: interval * at_once, interval, full_at: Duration::ZERO }
    }

    /// True if one more is admitted now.
    pub fn take(&mut self, now: Duration) -> bool {
        let full_at = self.full_at.max(now) + self.interval;
        let admitted = full_at <= now + self.capacity;
        if admitted {
            self.full_at = full_at;
        }
        admitted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bucket_admits_burst_then_one_per_interval() {
        let mut bucket = TokenBucket::new(5, Duration::from_secs(1));
        let admitted =
            |bucket: &mut TokenBucket, at| (0..100).filter(|_| bucket.take(Duration::from_secs(at))).count();
        assert_eq!(admitted(&mut bucket, 0), 5);
        assert_eq!(admitted(&mut bucket, 1), 1);
        assert_eq!(admitted(&mut bucket, 4), 3);
        assert_eq!(admitted(&mut bucket, 1000), 5);
        assert_eq!(admitted(&mut bucket, 999), 0, "a clock that steps back admits nobody");
    }
}
