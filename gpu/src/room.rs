//! Room on a device that is kept from count to count, and grows as it is needed.

use opencl3::command_queue::CommandQueue;
use opencl3::memory::Buffer;

use crate::error::GpuError;
use crate::session::Session;

/// Room for values on a device.
pub struct Room<T> {
    /// Where they are.
    pub buffer: Buffer<T>,
    values: usize,
}

impl<T> Room<T> {
    /// The least.
    pub fn new(session: &Session) -> Result<Self, GpuError> {
        Ok(Self { buffer: session.room(1)?, values: 1 })
    }

    /// Has room for so many; nothing may be at work. Where it had to grow, what was there is lost.
    pub fn reserve(&mut self, session: &Session, values: usize) -> Result<(), GpuError> {
        if self.values < values {
            *self = Self { buffer: session.room(values)?, values };
        }
        Ok(())
    }

    /// Has these there, from the first one on; nothing may be at work.
    pub fn fill(&mut self, session: &Session, queue: &CommandQueue, values: &[T]) -> Result<(), GpuError> {
        self.reserve(session, values.len())?;
        session.write(queue, &mut self.buffer, values)
    }
}
