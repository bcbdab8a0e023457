//! The launches of a method on a device, which count a position.

use queens::Position;
use queens::kernel::{Count, Stop};

use crate::error::GpuError;
use crate::program::KernelSource;
use crate::session::Session;

/// A way to count on a device.
pub trait Launcher: Send + Sync {
    /// The code of its kernels.
    fn source(&self) -> KernelSource<'static>;

    /// Counts a position; `None` if stopped.
    fn count(&self, session: &Session, position: &Position, stop: &Stop) -> Result<Option<Count>, GpuError>;
}
