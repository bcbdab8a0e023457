//! Room on a device that is kept from count to count, and grows as it is needed.

use opencl3::memory::Buffer;

use crate::error::GpuError;
use crate::session::{Queue, Session};

/// Room for values on a device.
pub struct DeviceBuffer<T> {
    /// The memory.
    pub buffer: Buffer<T>,
    values: usize,
}

impl<T: Clone + Default> DeviceBuffer<T> {
    /// The least.
    pub fn new(session: &Session) -> Result<Self, GpuError> {
        Ok(Self { buffer: session.room(1)?, values: 1 })
    }

    /// Shrinks it to the least size; the device must be idle.
    pub fn release(&mut self, session: &Session) -> Result<(), GpuError> {
        *self = Self::new(session)?;
        Ok(())
    }

    /// Reserves room for `values` values and returns whether the device has it. The device must be idle. A
    /// room that grows loses its content: it is released first, because the device may lack room for both.
    pub fn reserve(&mut self, session: &Session, queue: &Queue, values: usize) -> Result<bool, GpuError> {
        if self.values < values {
            self.release(session)?;
            if let Some(buffer) = session.room_now(queue, values)? {
                *self = Self { buffer, values };
            }
        }
        Ok(self.values >= values)
    }

    /// Stores these values from the first place on; the device must be idle.
    pub fn fill(&mut self, session: &Session, queue: &Queue, values: &[T]) -> Result<(), GpuError> {
        if !self.reserve(session, queue, values.len())? {
            return Err(session.no_room());
        }
        session.write(queue, &mut self.buffer, values)
    }
}
