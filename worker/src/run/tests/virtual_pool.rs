//! A pool without threads: units take a fixed time of the test's clock, one after the other.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use domain::{Lease, UnitCount};
use queens::UnitId;
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, sleep_until};

use crate::pool::{Pool, UnitOutcome, UnitVariant, unit_variant};

/// One thread, as it were.
pub struct VirtualPool {
    /// How long it counts a unit.
    unit_time: Duration,
    /// When it will have counted all that it has been given.
    free_at: Mutex<Instant>,
    outcomes: UnboundedSender<UnitOutcome>,
    level: Arc<VirtualLevel>,
    /// Its share of the processor, as a fraction 1/n.
    share: u32,
    /// Whether it counts by one method only.
    has_one_method: bool,
    begun: Instant,
    stop: watch::Sender<bool>,
    finish: watch::Sender<bool>,
}

#[derive(Default)]
struct VirtualLevel {
    in_line: Mutex<Vec<UnitVariant>>,
    low: AtomicUsize,
    is_low: Notify,
}

/// The completions of a unit: whatever is reported of it must say this.
pub fn completions(unit: UnitId) -> u64 {
    1000 + unit.0
}

impl VirtualPool {
    /// The same pool with this fraction of the processor, 1/n. A unit takes as long by the clock.
    pub fn with_share(self, share: u32) -> Self {
        Self { share, ..self }
    }

    /// The same pool that does not count by the other method.
    pub fn with_one_method(self) -> Self {
        Self { has_one_method: true, ..self }
    }

    /// A pool that takes `unit_time` for a unit and sends each outcome to `outcomes`.
    pub fn new(unit_time: Duration, outcomes: UnboundedSender<UnitOutcome>) -> Self {
        let [stop, finish] = [(); 2].map(|()| watch::channel(false).0);
        let begun = Instant::now();
        let (free_at, level) = (Mutex::new(begun), Arc::default());
        Self { unit_time, free_at, outcomes, level, share: 1, has_one_method: false, begun, stop, finish }
    }
}

impl Pool for VirtualPool {
    fn count(&self, lease: Lease) {
        if self.has_one_method && lease.variant.other_kernel {
            self.outcomes.send(UnitOutcome::Beyond(lease)).ok();
            return;
        }
        let counted_at = {
            let mut free_at = self.free_at.lock().unwrap();
            *free_at = (*free_at).max(Instant::now()) + self.unit_time;
            *free_at
        };
        let count = UnitCount {
            lease,
            completions: completions(lease.unit),
            nodes: 1,
            cpu: self.unit_time / self.share,
        };
        let (outcomes, level) = (self.outcomes.clone(), Arc::clone(&self.level));
        let (mut stop, mut finish) = (self.stop.subscribe(), self.finish.subscribe());
        let begun_at = counted_at - self.unit_time;
        {
            let mut in_line = level.in_line.lock().unwrap();
            assert!(!in_line.contains(&unit_variant(&lease)), "{lease:?} is in line already");
            in_line.push(unit_variant(&lease));
        }
        tokio::spawn(async move {
            let is_begun = tokio::select! {
                biased;
                () = sleep_until(begun_at) => true,
                _ = stop.wait_for(|stopped| *stopped) => false,
                _ = finish.wait_for(|finishes| *finishes) => false,
            };
            let outcome = tokio::select! {
                () = sleep_until(counted_at), if is_begun => UnitOutcome::Counted(count),
                _ = stop.wait_for(|stopped| *stopped), if is_begun => UnitOutcome::Stopped,
                else => UnitOutcome::Stopped,
            };
            outcomes.send(outcome).ok();
            let left = {
                let mut in_line = level.in_line.lock().unwrap();
                in_line.retain(|in_line| *in_line != unit_variant(&lease));
                in_line.len()
            };
            if left < level.low.load(Ordering::Relaxed) {
                level.is_low.notify_one();
            }
        });
    }

    fn set_low(&self, units: usize) {
        self.level.low.store(units, Ordering::Relaxed);
    }

    async fn running_dry(&self) {
        while self.level.in_line.lock().unwrap().len() >= self.level.low.load(Ordering::Relaxed) {
            self.level.is_low.notified().await;
        }
    }

    fn counting(&self) -> Vec<Option<UnitVariant>> {
        vec![self.level.in_line.lock().unwrap().first().copied()]
    }

    fn processor_time(&self) -> Option<Duration> {
        Some(self.begun.elapsed() / self.share)
    }

    fn finish(&self) {
        self.finish.send_replace(true);
    }

    fn stop(&self) {
        self.stop.send_replace(true);
    }
}
