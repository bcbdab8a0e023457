//! A device that counts: the code built for it, its queues and its memory, and what has gone wrong with it.

#[cfg(test)]
mod tests;

use std::cell::RefCell;
use std::mem::ManuallyDrop;
use std::ptr;
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use opencl3::command_queue::CommandQueue;
use opencl3::context::Context;
use opencl3::error_codes::{
    CL_INVALID_BUFFER_SIZE, CL_MEM_OBJECT_ALLOCATION_FAILURE, CL_OUT_OF_HOST_MEMORY, CL_OUT_OF_RESOURCES,
    ClError,
};
use opencl3::event::{CL_COMPLETE, Event};
use opencl3::kernel::Kernel as DeviceKernel;
use opencl3::memory::{Buffer, CL_MEM_READ_WRITE};
use opencl3::program::Program;
use opencl3::types::{CL_NON_BLOCKING, cl_int, cl_uint};
use queens::kernel::Count;

use crate::device::Device;
use crate::error::GpuError;
use crate::program::{KernelSource, build, context};

/// How long a launch should take.
pub const LAUNCH: Duration = Duration::from_millis(60);

/// A launch or copy that takes this long will never end.
const HANG_TIMEOUT: Duration = Duration::from_secs(30);

/// How long the end of a launch is polled without a pause. Launches of small boards take less, and a sleep
/// takes at least 100 us.
const BUSY_POLL_TIME: Duration = Duration::from_micros(250);

/// The longest pause between two later looks at a launch. A pause is a small part of the time that the launch
/// has taken so far. The device waits half a pause for the next launch on average; a look takes a few
/// microseconds.
const MAX_EARLY_PAUSE: Duration = Duration::from_millis(1);
const PAUSES_PER_LAUNCH: u32 = 64;

/// No two looks are further apart in a process that runs.
const MAX_LATE_PAUSE: Duration = Duration::from_secs(1);

/// The errors of drivers that have no room for a buffer.
const NO_ROOM: [cl_int; 4] =
    [CL_MEM_OBJECT_ALLOCATION_FAILURE, CL_OUT_OF_RESOURCES, CL_OUT_OF_HOST_MEMORY, CL_INVALID_BUFFER_SIZE];

/// The name of a failed allocation in messages.
const MEMORY: &str = "memory for a count";

/// A queue, in which one thing is done after the other.
pub struct Queue {
    /// The queue of the launches.
    pub commands: CommandQueue,
    /// The launches whose results have not been checked. The device runs later launches even if an earlier
    /// launch failed.
    launched: RefCell<Vec<Event>>,
}

/// A device in use.
pub struct Session {
    device: Device,
    /// The device's own, for all code on it: launches of two contexts do not overlap on some devices, and each takes memory.
    context: Arc<Context>,
    program: Program,
    failure: Arc<OnceLock<GpuError>>,
    /// The time after which a launch has hung.
    hangs: Duration,
}

impl Session {
    /// Builds the code for the device.
    ///
    /// # Errors
    /// The device cannot be used, or its driver does not build the code.
    pub fn new(device: Device, source: &KernelSource<'_>) -> Result<Self, GpuError> {
        let context = context(&device)?;
        let program = build(&device, &context, source)?;
        Ok(Self { device, context: Arc::new(context), program, failure: Arc::default(), hangs: HANG_TIMEOUT })
    }

    /// The same device with other code. A failure of one session is a failure of both.
    ///
    /// # Errors
    /// Its driver does not build the code.
    pub fn beside(&self, source: &KernelSource<'_>) -> Result<Self, GpuError> {
        let program = build(&self.device, &self.context, source)?;
        let (device, context) = (self.device.clone(), Arc::clone(&self.context));
        Ok(Self { device, context, program, failure: Arc::clone(&self.failure), hangs: HANG_TIMEOUT })
    }

    /// The device.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The failure of the device, if any.
    pub fn failure(&self) -> Option<&GpuError> {
        self.failure.get()
    }

    /// Takes it for failed. The first failure stands.
    pub fn fail(&self, error: GpuError) {
        self.failure.set(error).ok();
    }

    /// The error of a call to its driver.
    pub fn failed(&self, what: &'static str) -> impl FnOnce(ClError) -> GpuError + use<> {
        self.device.failed(what)
    }

    /// The error for a result that the device's code never writes.
    pub fn cannot_be(&self, answer: String) -> GpuError {
        GpuError::Failed {
            device: self.device.title(),
            what: "it returned an impossible result",
            code: answer,
        }
    }

    /// Whether as many groups have ended as were launched: a driver may call a launch done that it has not begun.
    pub fn have_ended(&self, ended: cl_uint, launched: cl_uint) -> Result<(), GpuError> {
        let is_less = || self.cannot_be(format!("groups that ended: {ended} of {launched}"));
        if ended == launched { Ok(()) } else { Err(is_less()) }
    }

    /// The sum of the groups' completions and nodes. The largest number stands for an overflow.
    pub fn sum(&self, found: impl IntoIterator<Item = [u64; 2]>) -> Result<Count, GpuError> {
        let sum = found.into_iter().try_fold(Count::default(), |sum, [completions, nodes]| {
            let completions = sum.completions.checked_add(completions).filter(|sum| *sum < u64::MAX)?;
            Some(Count { completions, nodes: sum.nodes.checked_add(nodes)? })
        });
        sum.ok_or_else(|| self.cannot_be("more than fits 64 bits".into()))
    }

    /// A queue.
    pub fn queue(&self) -> Result<Queue, GpuError> {
        // SAFETY: the device belongs to the context, which was made for it.
        let queue = unsafe { CommandQueue::create(&self.context, self.device.id(), 0) };
        let commands = queue.map_err(self.failed("making a queue"))?;
        Ok(Queue { commands, launched: RefCell::default() })
    }

    /// The kernel of that name in the code.
    pub fn kernel(&self, name: &str) -> Result<DeviceKernel, GpuError> {
        DeviceKernel::create(&self.program, name).map_err(self.failed("taking the kernel"))
    }

    /// Room for `values` values in the device's memory; many drivers allocate it only at the first use.
    pub fn room<T>(&self, values: usize) -> Result<Buffer<T>, GpuError> {
        self.create(values).map_err(self.failed(MEMORY))
    }

    /// Allocated room for `values` values; `None` if the device has not enough memory. The device must be
    /// idle.
    pub fn room_now<T: Clone + Default>(
        &self,
        queue: &Queue,
        values: usize,
    ) -> Result<Option<Buffer<T>>, GpuError> {
        let taken = match self.create(values) {
            Ok(buffer) => {
                let mut buffer = ManuallyDrop::new(buffer);
                let last = values.max(1) - 1;
                let there = self.copy(queue, &mut buffer, last, &[T::default()])?;
                let buffer = ManuallyDrop::into_inner(buffer);
                there.map(|()| buffer)
            }
            Err(error) => Err(error),
        };
        match taken {
            Ok(buffer) => Ok(Some(buffer)),
            Err(ClError(code)) if NO_ROOM.contains(&code) => Ok(None),
            Err(error) => Err(self.failed(MEMORY)(error)),
        }
    }

    /// There is no room for the least that a count needs.
    pub fn no_room(&self) -> GpuError {
        self.failed(MEMORY)(ClError(CL_MEM_OBJECT_ALLOCATION_FAILURE))
    }

    fn create<T>(&self, values: usize) -> Result<Buffer<T>, ClError> {
        // SAFETY: no memory of the host is handed over.
        unsafe { Buffer::create(&self.context, CL_MEM_READ_WRITE, values.max(1), ptr::null_mut()) }
    }

    /// These values in the device's memory.
    pub fn buffer<T: Clone>(&self, queue: &Queue, values: &[T]) -> Result<Buffer<T>, GpuError> {
        let mut buffer = ManuallyDrop::new(self.room(values.len())?);
        self.write(queue, &mut buffer, values)?;
        Ok(ManuallyDrop::into_inner(buffer))
    }

    /// Reads the device's memory, from the first value on. No launch may be running.
    pub fn read<T: Copy + Default>(
        &self,
        queue: &Queue,
        buffer: &Buffer<T>,
        values: &mut [T],
    ) -> Result<(), GpuError> {
        let mut here = ManuallyDrop::new(vec![T::default(); values.len()]);
        // SAFETY: the buffers were made for as many values at least, and what they are copied to is released no earlier than they are
        // there.
        let read = unsafe { queue.commands.enqueue_read_buffer(buffer, CL_NON_BLOCKING, 0, &mut here, &[]) };
        self.outcome(queue, read)?.map_err(self.failed("reading what was found"))?;
        values.copy_from_slice(&ManuallyDrop::into_inner(here));
        Ok(())
    }

    /// Writes to the device's memory, from its first value on; nothing may be at work.
    pub fn write<T: Clone>(
        &self,
        queue: &Queue,
        buffer: &mut Buffer<T>,
        values: &[T],
    ) -> Result<(), GpuError> {
        self.copy(queue, buffer, 0, values)?.map_err(self.failed("copying to its memory"))
    }

    /// Writes to the device's memory, from that value on, for which and all behind there is room.
    fn copy<T: Clone>(
        &self,
        queue: &Queue,
        buffer: &mut Buffer<T>,
        first: usize,
        values: &[T],
    ) -> Result<Result<(), ClError>, GpuError> {
        let values = ManuallyDrop::new(values.to_vec());
        let first = first * size_of::<T>();
        // SAFETY: the buffer has room for all of them, and they are released no earlier than they are copied.
        let written =
            unsafe { queue.commands.enqueue_write_buffer(buffer, CL_NON_BLOCKING, first, &values, &[]) };
        let outcome = self.outcome(queue, written)?;
        drop(ManuallyDrop::into_inner(values));
        Ok(outcome)
    }

    /// Keeps a launch in the queue until it is waited for.
    pub fn launched(&self, queue: &Queue, launched: Result<Event, ClError>) -> Result<(), GpuError> {
        queue.launched.borrow_mut().push(launched.map_err(self.failed("a launch"))?);
        Ok(())
    }

    /// Waits until all launches have ended, with a time limit, unlike blocking calls. Each launch must have
    /// succeeded.
    pub fn settle(&self, queue: &Queue) -> Result<(), GpuError> {
        // Buffers of running launches are never released.
        let launched = ManuallyDrop::new(queue.launched.take());
        if !launched.is_empty() {
            queue.commands.flush().map_err(self.failed("a launch"))?;
        }
        // When the last launch has ended, the others have ended, too.
        for event in launched.iter().rev() {
            self.wait_for_event(event)?.map_err(self.failed("a launch"))?;
        }
        drop(ManuallyDrop::into_inner(launched));
        Ok(())
    }

    /// The outcome of an enqueued copy: success, or the driver's error. Memory that may still be in use is
    /// never released.
    fn outcome(
        &self,
        queue: &Queue,
        enqueued: Result<Event, ClError>,
    ) -> Result<Result<(), ClError>, GpuError> {
        let event = match enqueued {
            Ok(event) => ManuallyDrop::new(event),
            Err(error) => return Ok(Err(error)),
        };
        queue.commands.flush().map_err(self.failed("a copy"))?;
        self.settle(queue)?;
        let ended = self.wait_for_event(&event)?;
        drop(ManuallyDrop::into_inner(event));
        Ok(ended)
    }

    /// Waits until the event has ended, with a time limit.
    fn wait_for_event(&self, event: &Event) -> Result<Result<(), ClError>, GpuError> {
        let (mut taken, mut last) = (Duration::ZERO, Instant::now());
        loop {
            let now = Instant::now();
            // Time in which the process was suspended, for example by a batch engine, does not count.
            taken += (now - last).min(MAX_LATE_PAUSE);
            last = now;
            let status = event.command_execution_status().map_err(self.failed("a launch"))?.0;
            if status == CL_COMPLETE {
                return Ok(Ok(()));
            }
            if status < 0 {
                return Ok(Err(ClError(status)));
            }
            if taken > self.hangs {
                return Err(GpuError::Hangs { device: self.device.title(), seconds: self.hangs.as_secs() });
            }
            if taken < BUSY_POLL_TIME {
                thread::yield_now();
            } else {
                thread::sleep(MAX_EARLY_PAUSE.min(taken / PAUSES_PER_LAUNCH));
            }
        }
    }
}
