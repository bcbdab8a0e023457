//! The row-by-row search on a device: states go there by the ten thousand, in launches so short that it can be stopped.
//!
//! A display's driver ends what takes longer than two seconds, and a count is to stop within one: each work item goes on for
//! as many steps as took [`LAUNCH`] lately, and the next launch finds it where it was. Two counts at a time keep a device busy while one of them is on the host.

use std::mem::{self, ManuallyDrop};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use opencl3::command_queue::CommandQueue;
use opencl3::context::Context;
use opencl3::error_codes::ClError;
use opencl3::event::{CL_COMPLETE, Event};
use opencl3::kernel::{ExecuteKernel, Kernel as DeviceKernel};
use opencl3::memory::{Buffer, CL_MEM_READ_WRITE};
use opencl3::program::Program;
use opencl3::types::{CL_BLOCKING, cl_int, cl_uint, cl_ulong};
use queens::Position;
use queens::kernel::search::{Descent, RowStep, descents};
use queens::kernel::{Count, Isa, Kernel, KernelName, Method, Stop};

use crate::device::Device;
use crate::error::GpuError;
use crate::expand::{Front, expand};
use crate::program::{GROUP, build};

/// How long a launch should take.
const LAUNCH: Duration = Duration::from_millis(60);

/// A launch that takes so long will never end.
const HANGS: Duration = Duration::from_secs(30);

/// Between two looks at whether a launch has ended.
const LOOK_EVERY: Duration = Duration::from_micros(100);

/// Work items for each compute unit of a card, and of a processor.
const ITEMS_OF_UNIT: [usize; 2] = [1024, GROUP];

/// States for each work item, so that all have enough to do although subtrees differ.
const STATES_OF_ITEM: usize = 32;

/// Steps of a work item in the first launch.
const FIRST_STEPS: cl_uint = 4096;

/// Words that a work item's place takes besides the states that wait.
const FROZEN: usize = 7;

/// Rows of a descent on the device.
const ROWS: usize = 32;

/// What happens between a row and the next one; the same layout as in `search.cl`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
struct Row {
    distance: cl_uint,
    left: cl_uint,
    looks: cl_uint,
    by_columns: cl_uint,
    ahead: [cl_uint; 5],
    open: [cl_uint; 5],
    columns: cl_uint,
    unused: cl_uint,
}

impl Row {
    fn new(step: &RowStep, columns: u32) -> Self {
        let (looks, by_columns) = step.looked_at();
        Self {
            distance: step.distance,
            left: step.left as u32,
            looks: looks as u32,
            by_columns: by_columns.into(),
            ahead: step.looks.map(|look| look.distance),
            open: step.looks.map(|look| look.open),
            columns,
            unused: 0,
        }
    }
}

/// The row-by-row search on one device.
pub struct GpuSearch {
    device: Device,
    context: Context,
    program: Program,
    /// Work items of a launch.
    items: usize,
    /// Queues that nobody uses at the moment.
    idle: Mutex<Vec<Lane>>,
    failure: OnceLock<GpuError>,
}

/// A queue of the device, and its kernel.
struct Lane {
    queue: CommandQueue,
    kernel: DeviceKernel,
    /// So many steps of each work item took [`LAUNCH`] lately.
    steps: cl_uint,
}

impl GpuSearch {
    /// The kernel for that device.
    ///
    /// # Errors
    /// The device cannot be used, or its driver does not build the code.
    pub fn new(device: Device) -> Result<Self, GpuError> {
        let (context, program) = build(&device)?;
        let is_card = device.description().kind == "gpu";
        let items = device.description().units.max(1) as usize * ITEMS_OF_UNIT[usize::from(!is_card)];
        Ok(Self { device, context, program, items, idle: Mutex::default(), failure: OnceLock::new() })
    }

    /// The device.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// What has gone wrong with the device, if anything: from then on every count is broken off.
    pub fn failure(&self) -> Option<&GpuError> {
        self.failure.get()
    }

    /// Takes the device for failed, for those who know it before its driver says so.
    pub fn fail(&self, error: GpuError) {
        self.failure.set(error).ok();
    }

    fn lane(&self) -> Result<Lane, GpuError> {
        if let Some(lane) = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop() {
            return Ok(lane);
        }
        // SAFETY: the device belongs to the context, which was made for it.
        let queue = unsafe { CommandQueue::create(&self.context, self.device.id(), 0) }
            .map_err(self.device.failed("making a queue"))?;
        let kernel =
            DeviceKernel::create(&self.program, "search").map_err(self.device.failed("taking the kernel"))?;
        Ok(Lane { queue, kernel, steps: FIRST_STEPS })
    }

    /// What the device finds from these states on; `None` if stopped. After a failure nothing is released: a device that hangs may
    /// still use its memory, and a driver that has failed may hang there.
    fn search(&self, lane: &mut Lane, fronts: &[Front<'_>], stop: &Stop) -> Result<Option<Count>, GpuError> {
        let failed = |what| self.device.failed(what);
        let rows = rows(fronts);
        let states: Vec<cl_uint> =
            fronts.iter().flat_map(|front| front.states.iter().flatten().copied()).collect();
        let places: Vec<cl_uint> = places(fronts);
        let depth = fronts.iter().map(|front| front.descent.steps.len() - front.level).max().unwrap_or(0);
        let rows = ManuallyDrop::new(self.buffer(lane, &rows)?);
        let states_there = ManuallyDrop::new(self.buffer(lane, &states)?);
        let places_there = ManuallyDrop::new(self.buffer(lane, &places)?);
        let mut found = vec![0; 2 * self.items];
        let found_there = ManuallyDrop::new(self.buffer(lane, &found)?);
        let stride = FROZEN + 4 * depth;
        let frozen = ManuallyDrop::new(self.buffer(lane, &vec![0; self.items * stride])?);
        let end = places.len() as cl_uint;
        // The next state to be taken, and how many work items have not finished theirs.
        let mut progress = [0, 0];
        let mut progress_there = ManuallyDrop::new(self.buffer(lane, &progress)?);
        let is_whole = loop {
            if stop.is_stopped() {
                break false;
            }
            let begun = Instant::now();
            // SAFETY: the arguments have the kernel's types, in its order. The kernel reads `states` and `places` below `end`,
            // which is their length; a state's rows are those from its place on, of which it uses no more than its descent
            // has (a child with two rows left is not gone down to). It writes its own two words of `found` and its own
            // `stride` words of `frozen`, which have so many for each of `items`, and its own column of the scratch; both
            // of these have four words for each level below the deepest front.
            let launched = unsafe {
                ExecuteKernel::new(&lane.kernel)
                    .set_arg(&*rows)
                    .set_arg(&*states_there)
                    .set_arg(&*places_there)
                    .set_arg(&*progress_there)
                    .set_arg(&end)
                    .set_arg(&*found_there)
                    .set_arg(&*frozen)
                    .set_arg(&(stride as cl_uint))
                    .set_arg(&lane.steps)
                    .set_arg_local_buffer(4 * depth.max(1) * GROUP * size_of::<cl_uint>())
                    .set_global_work_size(self.items)
                    .set_local_work_size(GROUP)
                    .enqueue_nd_range(&lane.queue)
            };
            let event = launched.map_err(failed("a launch"))?;
            lane.queue.flush().map_err(failed("a launch"))?;
            if let Err(error) = self.wait(&event) {
                mem::forget(event);
                return Err(error);
            }
            self.read(lane, &progress_there, &mut progress)?;
            let [next, busy] = progress;
            if next >= end && busy == 0 {
                break true;
            }
            // Not more than twice as many the next time, and not more where few work items had something to do.
            let factor = LAUNCH.as_secs_f64() / begun.elapsed().as_secs_f64().max(1e-6);
            let most = if next < end { 2.0 } else { 1.0 };
            lane.steps = (f64::from(lane.steps) * factor.min(most)).clamp(1000.0, 1e9) as cl_uint;
            progress = [next.min(end), 0];
            self.write(lane, &mut progress_there, &progress)?;
        };
        self.read(lane, &found_there, &mut found)?;
        drop(ManuallyDrop::into_inner(rows));
        drop(ManuallyDrop::into_inner(found_there));
        drop([states_there, places_there, frozen, progress_there].map(ManuallyDrop::into_inner));
        let sum = |sum: Count, &[completions, nodes]: &[cl_ulong; 2]| sum.plus(Count { completions, nodes });
        Ok(is_whole.then(|| found.as_chunks().0.iter().fold(Count::default(), sum)))
    }

    /// Reads what is in the device's memory.
    fn read<T>(&self, lane: &Lane, buffer: &Buffer<T>, values: &mut [T]) -> Result<(), GpuError> {
        // SAFETY: the buffer was made for as many values, and the call waits until they are there.
        let read = unsafe { lane.queue.enqueue_read_buffer(buffer, CL_BLOCKING, 0, values, &[]) };
        read.map(drop).map_err(self.device.failed("reading what was found"))
    }

    /// Writes to the device's memory.
    fn write<T>(&self, lane: &Lane, buffer: &mut Buffer<T>, values: &[T]) -> Result<(), GpuError> {
        // SAFETY: the buffer has room for all of `values`, and the call waits until they are copied.
        let written = unsafe { lane.queue.enqueue_write_buffer(buffer, CL_BLOCKING, 0, values, &[]) };
        written.map(drop).map_err(self.device.failed("copying to its memory"))
    }

    /// These values in the device's memory.
    fn buffer<T: Copy>(&self, lane: &Lane, values: &[T]) -> Result<Buffer<T>, GpuError> {
        // SAFETY: no memory of the host is handed over.
        let buffer = unsafe {
            Buffer::create(&self.context, CL_MEM_READ_WRITE, values.len().max(1), std::ptr::null_mut())
        };
        let mut buffer = buffer.map_err(self.device.failed("memory for a search"))?;
        self.write(lane, &mut buffer, values)?;
        Ok(buffer)
    }

    /// Waits until a launch has ended, but not for ever.
    fn wait(&self, event: &Event) -> Result<(), GpuError> {
        let begun = Instant::now();
        loop {
            let status = event.command_execution_status().map_err(self.device.failed("a launch"))?;
            if status.0 == CL_COMPLETE {
                return Ok(());
            }
            if status.0 < 0 {
                return Err(self.device.failed("a launch")(ClError(status.0 as cl_int)));
            }
            if begun.elapsed() > HANGS {
                return Err(GpuError::Hangs { device: self.device.title(), seconds: HANGS.as_secs() });
            }
            thread::sleep(LOOK_EVERY);
        }
    }

    fn try_count(&self, position: &Position, stop: &Stop) -> Result<Option<Count>, GpuError> {
        let Some((small, large)) = descents(position, stop) else { return Ok(None) };
        let Some((passed, fronts)) = expand(&large, self.items * STATES_OF_ITEM, stop) else {
            return Ok(None);
        };
        let count = small.plus(passed);
        if fronts.is_empty() {
            return Ok(Some(count));
        }
        let mut lane = ManuallyDrop::new(self.lane()?);
        let found = self.search(&mut lane, &fronts, stop)?;
        let lane = ManuallyDrop::into_inner(lane);
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(lane);
        Ok(found.map(|found| count.plus(found)))
    }
}

/// The rows of all descents, [`ROWS`] for each.
fn rows(fronts: &[Front<'_>]) -> Vec<Row> {
    let of = |descent: &Descent| {
        let mut rows = [Row::default(); ROWS];
        for (row, step) in rows.iter_mut().zip(&descent.steps) {
            *row = Row::new(step, descent.columns);
        }
        rows
    };
    fronts.iter().flat_map(|front| of(front.descent)).collect()
}

/// For each state its first row.
fn places(fronts: &[Front<'_>]) -> Vec<cl_uint> {
    let of = |(number, front): (usize, &Front<'_>)| {
        std::iter::repeat_n((number * ROWS + front.level) as cl_uint, front.states.len())
    };
    fronts.iter().enumerate().flat_map(of).collect()
}

impl Kernel for GpuSearch {
    fn name(&self) -> KernelName {
        KernelName { method: Method::Search, isa: Isa::OpenCl }
    }

    fn count(&self, position: &Position, stop: &Stop) -> Option<Count> {
        if self.failure.get().is_some() {
            return None;
        }
        // The wrapper of OpenCL panics where a driver answers an error to what never fails.
        let counted = catch_unwind(AssertUnwindSafe(|| self.try_count(position, stop)));
        let broken = |_| {
            let (device, what) = (self.device.title(), "a call that never fails");
            Err(GpuError::Failed { device, what, code: "its driver is broken".into() })
        };
        counted.unwrap_or_else(broken).unwrap_or_else(|error| {
            self.fail(error);
            None
        })
    }
}
