//! What a method does with a device: launches that find what a position has.

use queens::Position;
use queens::kernel::{Count, Stop};

use crate::error::GpuError;
use crate::program::KernelSource;
use crate::session::Session;

/// A way to count on a device.
pub trait Launcher: Send + Sync {
    /// What is launched.
    fn source(&self) -> KernelSource<'static>;

    /// Counts a position; `None` if stopped.
    fn count(&self, session: &Session, position: &Position, stop: &Stop) -> Result<Option<Count>, GpuError>;
}
