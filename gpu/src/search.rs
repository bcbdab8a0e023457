//! The row-by-row search on a device: states go there by the ten thousand, in launches so short that it can be stopped.
//!
//! A display's driver ends what takes longer than two seconds, and a count is to stop within one: each work item goes on for
//! as many steps as took [`LAUNCH`] lately, and the next launch finds it where it was. Two counts at a time keep a device busy
//! while one of them is on the host.

use std::time::Instant;

use opencl3::command_queue::CommandQueue;
use opencl3::kernel::{ExecuteKernel, Kernel as DeviceKernel};
use opencl3::types::{cl_uint, cl_ulong};
use queens::Position;
use queens::kernel::search::{Descent, RowStep, descents};
use queens::kernel::{Count, Stop};

use crate::device::Device;
use crate::error::GpuError;
use crate::expand::{Front, expand};
use crate::lanes::Lanes;
use crate::launcher::Launcher;
use crate::program::{DeviceKind, KernelSource};
use crate::room::Room;
use crate::session::{LAUNCH, Session};

/// The kernel's source.
const SEARCH: &str = include_str!("kernels/search.cl");

/// How many work items a group has: what the local memory is divided by.
const GROUP: usize = 64;

/// Work items for each compute unit.
const ITEMS_OF_CARD: usize = 1024;
const ITEMS_OF_PROCESSOR: usize = GROUP;

/// States for each work item, so that all have enough to do although subtrees differ.
const STATES_OF_ITEM: usize = 32;

/// States that the host makes at most of a unit with so many rows, or fewer, without a queen, and how many times as many for each
/// row more. A thread of the host makes 50 to 100 states in a microsecond, in which a card visits some 10,000 nodes: 50,000 take
/// it a millisecond, as the 10 million nodes of a unit of n = 20, with 15 rows, take the card. The millions of states that a large
/// card's work items would have took 0.7 seconds there, and nothing was left for it. A row more makes ten times as many nodes.
const STATES_OF_HOST: usize = 50_000;
const ROWS_OF_HOST: usize = 15;
const TIMES_BY_ROW: usize = 4;

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
pub struct SearchLauncher {
    /// Work items of a launch at most: no more than there are states.
    items: usize,
    lanes: Lanes<SearchLane>,
}

/// A queue of the device, its kernel, and the memory that this works in.
struct SearchLane {
    queue: CommandQueue,
    kernel: DeviceKernel,
    rows: Room<Row>,
    states: Room<cl_uint>,
    places: Room<cl_uint>,
    progress: Room<cl_uint>,
    found: Room<cl_ulong>,
    frozen: Room<cl_uint>,
    /// So many steps of each work item took [`LAUNCH`] lately.
    steps: cl_uint,
}

impl SearchLane {
    fn new(session: &Session) -> Result<Self, GpuError> {
        Ok(Self {
            queue: session.queue()?,
            kernel: session.kernel("search")?,
            rows: Room::new(session)?,
            states: Room::new(session)?,
            places: Room::new(session)?,
            progress: Room::new(session)?,
            found: Room::new(session)?,
            frozen: Room::new(session)?,
            steps: FIRST_STEPS,
        })
    }
}

impl SearchLauncher {
    /// Launches of that shape.
    pub fn new(device: &Device, kind: DeviceKind) -> Self {
        let items = match kind {
            DeviceKind::Card => ITEMS_OF_CARD,
            DeviceKind::Processor => ITEMS_OF_PROCESSOR,
        };
        Self { items: device.description().units.max(1) as usize * items, lanes: Lanes::default() }
    }

    /// How many states the host makes of these descents.
    fn wished(&self, descents: &[Descent]) -> usize {
        let rows = descents.iter().map(|descent| descent.steps.len()).max().unwrap_or(0);
        let more = rows.saturating_sub(ROWS_OF_HOST) as u32;
        let most = STATES_OF_HOST.saturating_mul(TIMES_BY_ROW.saturating_pow(more));
        most.min(self.items * STATES_OF_ITEM)
    }

    /// What the device finds from these states on; `None` if stopped.
    fn search(
        &self,
        session: &Session,
        lane: &mut SearchLane,
        fronts: &[Front<'_>],
        stop: &Stop,
    ) -> Result<Option<Count>, GpuError> {
        let states: Vec<cl_uint> =
            fronts.iter().flat_map(|front| front.states.iter().flatten().copied()).collect();
        let places: Vec<cl_uint> = places(fronts);
        let depth = fronts.iter().map(|front| front.descent.steps.len() - front.level).max().unwrap_or(0);
        let stride = FROZEN + 4 * depth;
        let end = places.len() as cl_uint;
        let items = self.items.min(places.len().next_multiple_of(GROUP));
        // The next state to be taken, and how many work items have not finished theirs.
        let mut progress = [0, 0];
        lane.rows.fill(session, &lane.queue, &rows(fronts))?;
        lane.states.fill(session, &lane.queue, &states)?;
        lane.places.fill(session, &lane.queue, &places)?;
        lane.progress.fill(session, &lane.queue, &progress)?;
        lane.found.reserve(session, 2 * items)?;
        lane.frozen.reserve(session, items * stride)?;
        let mut is_begun = false;
        loop {
            if stop.is_stopped() {
                return Ok(None);
            }
            let begun = Instant::now();
            // SAFETY: the arguments have the kernel's types, in its order. The kernel reads `states` and `places` below `end`,
            // which is their length; a state's rows are those from its place on, of which it uses no more than its descent
            // has (a child with two rows left is not gone down to). It writes its own two words of `found` and its own
            // `stride` words of `frozen`, which have so many for each of `items`, and its own column of the scratch; both
            // of these have four words for each level below the deepest front. It reads no word of `found` or `frozen` that
            // no launch of this search has written.
            let launched = unsafe {
                ExecuteKernel::new(&lane.kernel)
                    .set_arg(&lane.rows.buffer)
                    .set_arg(&lane.states.buffer)
                    .set_arg(&lane.places.buffer)
                    .set_arg(&lane.progress.buffer)
                    .set_arg(&end)
                    .set_arg(&lane.found.buffer)
                    .set_arg(&lane.frozen.buffer)
                    .set_arg(&(stride as cl_uint))
                    .set_arg(&cl_uint::from(is_begun))
                    .set_arg(&lane.steps)
                    .set_arg_local_buffer(4 * depth.max(1) * GROUP * size_of::<cl_uint>())
                    .set_global_work_size(items)
                    .set_local_work_size(GROUP)
                    .enqueue_nd_range(&lane.queue)
            };
            session.wait(&lane.queue, launched.map_err(session.failed("a launch"))?)?;
            session.read(&lane.queue, &lane.progress.buffer, &mut progress)?;
            let [next, busy] = progress;
            if next >= end && busy == 0 {
                break;
            }
            // Not more than twice as many the next time, and not more where few work items had something to do.
            let factor = LAUNCH.as_secs_f64() / begun.elapsed().as_secs_f64().max(1e-6);
            let most = if next < end { 2.0 } else { 1.0 };
            lane.steps = (f64::from(lane.steps) * factor.min(most)).clamp(1000.0, 1e9) as cl_uint;
            progress = [next.min(end), 0];
            session.write(&lane.queue, &mut lane.progress.buffer, &progress)?;
            is_begun = true;
        }
        let mut found = vec![0; 2 * items];
        session.read(&lane.queue, &lane.found.buffer, &mut found)?;
        let sum = |sum: Count, &[completions, nodes]: &[cl_ulong; 2]| sum.plus(Count { completions, nodes });
        Ok(Some(found.as_chunks().0.iter().fold(Count::default(), sum)))
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

impl Launcher for SearchLauncher {
    fn source(&self) -> KernelSource<'static> {
        KernelSource { text: SEARCH, macros: vec![("GROUP", GROUP)] }
    }

    fn count(&self, session: &Session, position: &Position, stop: &Stop) -> Result<Option<Count>, GpuError> {
        let Some((small, large)) = descents(position, stop) else { return Ok(None) };
        let Some((passed, fronts)) = expand(&large, self.wished(&large), stop) else {
            return Ok(None);
        };
        let count = small.plus(passed);
        if fronts.is_empty() {
            return Ok(Some(count));
        }
        let search = |lane: &mut SearchLane| self.search(session, lane, &fronts, stop);
        let found = self.lanes.with(|| SearchLane::new(session), search)?;
        Ok(found.map(|found| count.plus(found)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use queens::{Board, Plan, PlanSpec, UnitId};

    #[test]
    fn the_host_makes_a_small_part_of_a_units_nodes_however_many_work_items_there_are() {
        let launcher = SearchLauncher { items: 132 * ITEMS_OF_CARD, lanes: Lanes::default() };
        for n in [16, 18, 20, 21] {
            let plan = Plan::derive(PlanSpec::new(Board::new(n).unwrap())).unwrap();
            let unit = plan.unit(UnitId(plan.units() / 2)).position;
            let stop = Stop::new();
            let (_, large) = descents(&unit, &stop).unwrap();
            let begun = launcher.wished(&large);
            let (passed, _) = expand(&large, begun, &stop).unwrap();
            assert!(passed.nodes < 4 * begun as u64, "n = {n}: {}", passed.nodes);
            if n >= 20 {
                let all = queens::kernel::kernel(queens::kernel::Method::Search, None).unwrap();
                let all = all.count(&unit, &stop).unwrap().nodes;
                assert!(passed.nodes < all / 50, "n = {n}: {} of {all}", passed.nodes);
            } else {
                assert!(begun <= STATES_OF_HOST);
            }
        }
        let large = Position::empty(Board::new(27).unwrap());
        let (_, large) = descents(&large, &Stop::new()).unwrap();
        assert_eq!(launcher.wished(&large), launcher.items * STATES_OF_ITEM, "the card has enough to do");
    }
}
