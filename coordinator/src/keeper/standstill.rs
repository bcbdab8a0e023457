//! Detects hanging work. The worker thread increments a pulse, and an observer regularly checks whether the pulse has
//! changed. A hanging disk returns no error.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Time between two looks.
pub(super) const LOOK_INTERVAL: Duration = Duration::from_secs(1);

/// Number of looks without change after which the work hangs. Looks are counted instead of seconds, so that a suspended
/// process does not seem to hang.
pub(super) const LOOKS_UNTIL_HANGING: u32 = 10;

/// A counter that work increments while it makes progress.
#[derive(Clone, Debug, Default)]
pub(super) struct Pulse(Arc<AtomicU64>);

impl Pulse {
    /// Notes progress.
    pub fn beat(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// The number of beats so far.
    #[cfg(test)]
    pub fn beats(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// The number of looks in a row without a change of the pulse.
#[derive(Debug)]
pub(super) struct Standstill {
    pulse: Pulse,
    /// The pulse at the last look.
    seen: u64,
    looks: u32,
    /// When the next look is due.
    next: Duration,
}

impl Standstill {
    /// A standstill without looks.
    pub fn of(pulse: Pulse, now: Duration) -> Self {
        Self { pulse, seen: 0, looks: 0, next: now.saturating_add(LOOK_INTERVAL) }
    }

    /// Looks at the pulse. A look before it is due only detects change.
    pub fn look(&mut self, now: Duration) {
        let is_due = now >= self.next;
        if self.has_moved() {
            (self.seen, self.looks) = (self.pulse.0.load(Ordering::Relaxed), 0);
        } else if is_due {
            self.looks = self.looks.saturating_add(1);
        } else {
            return;
        }
        self.next = now.saturating_add(LOOK_INTERVAL);
    }

    /// True if the pulse has changed since the last look.
    pub fn has_moved(&self) -> bool {
        self.pulse.0.load(Ordering::Relaxed) != self.seen
    }

    /// True if the work hung at the last look.
    pub fn is_hanging(&self) -> bool {
        self.looks >= LOOKS_UNTIL_HANGING
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
            for _ in 1..LOOKS_UNTIL_HANGING {
                now += LOOK_INTERVAL;
                standstill.look(now);
                // A look before its time changes nothing.
                standstill.look(now);
                assert!(!standstill.is_hanging());
            }
            now += LOOK_INTERVAL;
            standstill.look(now);
            assert!(standstill.is_hanging() && !standstill.has_moved());
            pulse.beat();
            assert!(standstill.has_moved());
            standstill.look(now);
            assert!(!standstill.is_hanging() && !standstill.has_moved());
        }
    }
}
