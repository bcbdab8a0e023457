//! Whether something goes on: who does it counts, and who watches looks from time to time whether the count has moved. A disk that
//! hangs gives no error.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Between two looks.
pub(super) const EVERY: Duration = Duration::from_secs(1);

/// After so many looks in a row at which it has not moved something hangs. Looks are counted rather than seconds: a process that was
/// stopped for a while is none that hangs.
pub(super) const LOOKS: u32 = 10;

/// What somebody moves as long as he goes on.
#[derive(Clone, Debug, Default)]
pub(super) struct Pulse(Arc<AtomicU64>);

impl Pulse {
    /// He goes on.
    pub fn beat(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// How often he has said so.
    #[cfg(test)]
    pub fn beats(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// For how many looks in a row a pulse has stood still.
#[derive(Debug)]
pub(super) struct Standstill {
    pulse: Pulse,
    /// What it was at the last look.
    seen: u64,
    looks: u32,
    /// When the next look is due.
    next: Duration,
}

impl Standstill {
    /// Nobody has looked at it yet.
    pub fn of(pulse: Pulse, now: Duration) -> Self {
        Self { pulse, seen: 0, looks: 0, next: now.saturating_add(EVERY) }
    }

    /// Looks at it. A look that comes sooner than it is due sees only whether it has moved.
    pub fn look(&mut self, now: Duration) {
        let is_due = now >= self.next;
        if self.has_moved() {
            (self.seen, self.looks) = (self.pulse.0.load(Ordering::Relaxed), 0);
        } else if is_due {
            self.looks = self.looks.saturating_add(1);
        } else {
            return;
        }
        self.next = now.saturating_add(EVERY);
    }

    /// Whether it has moved since the last look.
    pub fn has_moved(&self) -> bool {
        self.pulse.0.load(Ordering::Relaxed) != self.seen
    }

    /// Whether what it belongs to hung at the last look.
    pub fn is_hanging(&self) -> bool {
        self.looks >= LOOKS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn standstill_hangs_after_several_looks() {
        let (pulse, mut now) = (Pulse::default(), Duration::ZERO);
        let mut standstill = Standstill::of(pulse.clone(), now);
        for _ in 0..2 {
            for _ in 1..LOOKS {
                now += EVERY;
                standstill.look(now);
                // None that comes at once says more.
                standstill.look(now);
                assert!(!standstill.is_hanging());
            }
            now += EVERY;
            standstill.look(now);
            assert!(standstill.is_hanging() && !standstill.has_moved());
            pulse.beat();
            assert!(standstill.has_moved());
            standstill.look(now);
            assert!(!standstill.is_hanging() && !standstill.has_moved());
        }
    }
}
