//! Two halves that meet, on a device.
//!
//! ```text
//! count(cut):                                   # which cuts there are is what the processor's kernel does
//!     pass(the rows that fit into one half only)
//! pass(rows whose side is fixed):
//!     for both halves, column by column but for the last:
//!         grow the lists of all sets that agree with the fixed rows
//!         if they do not fit the device's memory: pass(one row more, on the left), pass(on the right), and nothing else
//!     for each batch of row sets that take a launch's time:
//!         grow the last column of both halves, and join them
//! ```
//!
//! The host decides and the device does the rest: `kernels/meet.cl`. Launches are short because a batch is; the columns before are
//! grown by batches of row sets, too. What can be no more than a moment's work is not waited for, until something is read or
//! written.

mod geometry;
mod halving;
#[allow(unsafe_code, reason = "launches what was compiled for the device")]
mod lane;
mod lists;
mod row_sets;
mod shape;
#[cfg(test)]
mod tests;

use queens::Position;
use queens::kernel::meet::count_by_cuts;
use queens::kernel::{Count, Stop};

use crate::device::Description;
use crate::error::GpuError;
use crate::lanes::Lanes;
use crate::launcher::Launcher;
use crate::program::{DeviceKind, KernelSource};
use crate::session::Session;
use halving::Halving;
use lane::MeetLane;
use shape::MeetShape;

/// Two halves that meet, on one device.
pub struct MeetLauncher {
    shape: MeetShape,
    lanes: Lanes<MeetLane>,
}

impl MeetLauncher {
    /// Launches for a device with this description, treated as that kind.
    pub fn new(about: &Description, kind: DeviceKind) -> Self {
        Self { shape: MeetShape::new(about, kind), lanes: Lanes::default() }
    }
}

impl Launcher for MeetLauncher {
    fn source(&self) -> KernelSource<'static> {
        self.shape.source()
    }

    fn count(&self, session: &Session, position: &Position, stop: &Stop) -> Result<Option<Count>, GpuError> {
        let mut failure = None;
        let count = count_by_cuts(position, stop, &mut |cut| {
            let counted = self.lanes.with(
                || MeetLane::new(session, &self.shape),
                |lane| Halving::new(session, &self.shape, lane, cut, stop).count(),
            );
            counted.unwrap_or_else(|error| {
                failure = Some(error);
                None
            })
        });
        failure.map_or(Ok(count), Err)
    }
}
