//! Room on a device that is kept from count to count, and grows as it is needed; and what is on its way there and back.

use std::iter::successors;

use opencl3::command_queue::CommandQueue;
use opencl3::event::Event;
use opencl3::memory::Buffer;

use crate::error::GpuError;
use crate::session::Session;

/// Room for values on a device. It is not released while something is at work there, nor is what it has on the host: what fails
/// keeps it for ever.
pub struct Room<T> {
    /// Where they are.
    pub buffer: Buffer<T>,
    values: usize,
    /// What is on its way there.
    sent: Vec<T>,
    /// What is on its way back, or has come.
    fetched: Vec<T>,
}

impl<T: Copy + Default> Room<T> {
    /// The least.
    pub fn new(session: &Session) -> Result<Self, GpuError> {
        Ok(Self { buffer: session.room(1)?, values: 1, sent: Vec::new(), fetched: Vec::new() })
    }

    /// Has room for so many, and says whether the device has that; nothing may be at work. Where it had to grow, what was there is
    /// lost: it goes first, for there may be no room for both.
    pub fn reserve(
        &mut self,
        session: &Session,
        queue: &CommandQueue,
        values: usize,
    ) -> Result<bool, GpuError> {
        if self.values < values {
            (self.buffer, self.values) = (session.room(1)?, 1);
            if let Some(buffer) = session.room_now(queue, values)? {
                (self.buffer, self.values) = (buffer, values);
            }
        }
        Ok(self.values >= values)
    }

    /// Has these there, from the first one on, before what is enqueued behind; nothing may be at work.
    pub fn send(&mut self, session: &Session, queue: &CommandQueue, values: &[T]) -> Result<(), GpuError> {
        if !self.reserve(session, queue, values.len())? {
            return Err(session.no_room());
        }
        self.sent.clear();
        self.sent.extend_from_slice(values);
        // SAFETY: there is room for them, and they stay until something else is sent, when nothing is at work any more.
        unsafe { session.send(queue, &mut self.buffer, &self.sent) }
    }

    /// Has so many of them here, from the first one on, behind what is enqueued; none may be on their way back.
    pub fn fetch(
        &mut self,
        session: &Session,
        queue: &CommandQueue,
        values: usize,
    ) -> Result<Event, GpuError> {
        assert!(values <= self.values, "there are as many");
        self.fetched.clear();
        self.fetched.resize(values, T::default());
        // SAFETY: there are as many, and those here stay until others are fetched.
        unsafe { session.fetch(queue, &self.buffer, &mut self.fetched) }
    }

    /// What was fetched last, when that has ended.
    pub fn fetched(&self) -> &[T] {
        &self.fetched
    }
}

/// So many of what is wished, half of it and so on down to one, as the device has room for.
pub fn as_many_as_fit(
    session: &Session,
    wished: usize,
    mut fit: impl FnMut(usize) -> Result<bool, GpuError>,
) -> Result<usize, GpuError> {
    for many in successors(Some(wished), |many| Some(many / 2).filter(|many| *many > 0)) {
        if fit(many)? {
            return Ok(many);
        }
    }
    Err(session.no_room())
}
