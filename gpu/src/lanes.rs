//! The queue, kernels and memory of one concurrent count on a device, kept for the next count.

use std::mem::ManuallyDrop;

use parking_lot::Mutex;

use crate::error::GpuError;

/// The unused lanes.
#[derive(Debug)]
pub struct Lanes<L>(Mutex<Vec<L>>);

impl<L> Default for Lanes<L> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<L> Lanes<L> {
    /// Works with one of them, or with a new one. After a failure it is never released: a device that hangs may still use its
    /// memory, and a driver that has failed may hang there.
    pub fn with<T>(
        &self,
        new: impl FnOnce() -> Result<L, GpuError>,
        work: impl FnOnce(&mut L) -> Result<T, GpuError>,
    ) -> Result<T, GpuError> {
        let kept = self.0.lock().pop();
        let mut lane = ManuallyDrop::new(kept.map_or_else(new, Ok)?);
        let done = work(&mut lane)?;
        self.0.lock().push(ManuallyDrop::into_inner(lane));
        Ok(done)
    }
}
