//! The contract of a kernel: the numbers it returns, and when it stops.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::kernel::kernel;
use crate::kernel::name::KernelName;
use crate::position::Position;

/// The count of one position.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// The number of completions.
    pub completions: u64,
    /// The search nodes visited: a fingerprint of the search, the same on every machine for one method, and for a
    /// position and its left-right mirror image.
    pub nodes: u64,
}

impl Count {
    /// Both counts added up.
    ///
    /// # Panics
    /// If a sum does not fit 64 bits: a kernel's count must not wrap.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        let sum = |a: u64, b: u64| a.checked_add(b).expect("a unit's count fits 64 bits");
        Self { completions: sum(self.completions, other.completions), nodes: sum(self.nodes, other.nodes) }
    }
}

/// A flag that asks kernels to stop. Polled at least every 100 ms.
#[derive(Debug, Default)]
pub struct Stop(AtomicBool);

impl Stop {
    /// A flag that is not set.
    pub const fn new() -> Self {
        Self(AtomicBool::new(false))
    }

    /// Sets the flag permanently.
    pub fn stop(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the flag is set.
    pub fn is_stopped(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Code that counts the completions of positions.
pub trait Kernel: Send + Sync {
    /// The name of the kernel.
    fn name(&self) -> KernelName;

    /// The completions of the position, or nothing if it was stopped. Sums are checked: a count that does not fit
    /// 64 bits panics rather than wraps.
    fn count(&self, position: &Position, stop: &Stop) -> Option<Count>;

    /// The same for the position of the unit with that number, which a kernel may name where it fails.
    fn count_unit(&self, unit: u64, position: &Position, stop: &Stop) -> Option<Count> {
        let _ = unit;
        self.count(position, stop)
    }

    /// True if OpenCL counts on the processor, in threads of its driver.
    fn is_on_processor(&self) -> bool {
        false
    }

    /// The kernel to check this one by, which [`KernelName::other`] names, if there is one here.
    fn other(&self) -> Option<Arc<dyn Kernel>> {
        let KernelName { method, isa } = self.name().other();
        kernel(method, Some(isa)).ok()
    }
}
