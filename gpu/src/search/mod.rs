//! The row-by-row search on a device: it makes the states itself, by the million, from few of the host's, and goes on from
//! them in launches so short that it can be stopped.
//!
//! A display's driver ends what takes longer than two seconds, and a count is to stop within one: each work item goes on for
//! as many steps as took [`LAUNCH`] lately, and the next launch finds it where it was. Two counts at a time keep a device busy
//! while one of them is on the host.

#[deny(unsafe_code, reason = "the host's part")]
mod expand;
#[deny(unsafe_code, reason = "only what the device reads")]
mod rows;
#[cfg(test)]
mod tests;

use std::time::Instant;

use opencl3::command_queue::CommandQueue;
use opencl3::kernel::{ExecuteKernel, Kernel as DeviceKernel};
use opencl3::types::{cl_uint, cl_ulong};
use queens::Position;
use queens::kernel::search::descents;
use queens::kernel::{Count, Stop};

use crate::device::Device;
use crate::error::GpuError;
use crate::lanes::Lanes;
use crate::launcher::Launcher;
use crate::program::{DeviceKind, KernelSource};
use crate::room::Room;
use crate::session::{LAUNCH, Session};
use expand::{Front, LEFT_TO_DEVICE, expand};
use rows::{ROWS, Row, Vector, packed_rows};

/// The kernels' source.
const SEARCH: &str = include_str!("../kernels/search.cl");

/// How many work items a group has: what the local memory is divided by.
const GROUP: usize = 64;

/// Work items for each compute unit.
const ITEMS_OF_CARD: usize = 1024;
const ITEMS_OF_PROCESSOR: usize = GROUP;

/// States for each work item, so that all have enough to do although subtrees differ. A processor's are not at work at the same
/// time, and a launch more for each unit takes it longer than a few that have nothing to do.
const STATES_OF_CARDS_ITEM: usize = 64;
const STATES_OF_PROCESSORS_ITEM: usize = 8;

/// States that the host makes, of every board: with so many the device's first level is short, and more of them would be
/// made by one thread, in a time in which a card visits a hundred times as many nodes.
const STATES_OF_HOST: usize = 1024;

/// Steps of a work item in the first launch.
const FIRST_STEPS: cl_uint = 4096;

/// Vectors that a work item's place takes besides the states that wait.
const FROZEN: usize = 2;

/// A state with so many steps left, at least, is moved on before the search goes on depth first: with fewer a
/// work item would wait for its next state more than it counts.
const FEWEST_STEPS: usize = 9;

/// Words for each row that tell what has become of the states before it.
const MADE: usize = 3;

/// Words between two counters, which are in memory that is not locked for both; the same as in `search.cl`.
const APART: usize = 32;

/// Groups that share a counter, or a few more: few enough for their work items not to wait for each other, and enough for their subtrees to be
/// as many as those of another counter's.
const GROUPS_OF_COUNTER: usize = 32;

/// The row-by-row search on one device.
pub struct SearchLauncher {
    /// Work items of a launch at most: no more than there are states.
    items: usize,
    /// States that there should be before the search goes on depth first.
    wished: usize,
    lanes: Lanes<SearchLane>,
}

/// A queue of the device, its kernels, and the memory that these work in.
struct SearchLane {
    queue: CommandQueue,
    widen: DeviceKernel,
    search: DeviceKernel,
    rows: Room<Row>,
    /// A level's states, and the next level's.
    states: [Room<Vector>; 2],
    made: Room<cl_uint>,
    progress: Room<cl_uint>,
    found: Room<cl_ulong>,
    frozen: Room<Vector>,
    /// So many steps of each work item took [`LAUNCH`] lately.
    steps: cl_uint,
}

impl SearchLane {
    fn new(session: &Session) -> Result<Self, GpuError> {
        Ok(Self {
            queue: session.queue()?,
            widen: session.kernel("widen")?,
            search: session.kernel("search")?,
            rows: Room::new(session)?,
            states: [Room::new(session)?, Room::new(session)?],
            made: Room::new(session)?,
            progress: Room::new(session)?,
            found: Room::new(session)?,
            frozen: Room::new(session)?,
            steps: FIRST_STEPS,
        })
    }
}

/// How many states may be wished for where a room is to have no more than so many words of 64 bits.
fn states_in(words: usize) -> usize {
    let vectors = words * size_of::<cl_ulong>() / size_of::<Vector>();
    (vectors.saturating_sub(GROUP * ROWS) / 2).max(1)
}

/// States of a descent in the first of a lane's two rooms.
struct Level {
    /// The row that is next for those at the beginning; the others are a row behind.
    place: usize,
    /// So many are at its beginning.
    front: usize,
    /// So many are behind the room for those.
    behind: usize,
    /// How many rows they can go down at most.
    depth: usize,
}

impl Level {
    fn states(&self) -> usize {
        self.front + self.behind
    }
}

impl SearchLauncher {
    /// Launches of that shape.
    pub fn new(device: &Device, kind: DeviceKind) -> Self {
        let about = device.description();
        let units = about.units.max(1) as usize;
        let (items, wished) = match kind {
            DeviceKind::Card => {
                let items = units * ITEMS_OF_CARD;
                (items, (items * STATES_OF_CARDS_ITEM).min(states_in(about.room())))
            }
            DeviceKind::Processor => {
                let items = units * ITEMS_OF_PROCESSOR;
                (items, items * STATES_OF_PROCESSORS_ITEM)
            }
        };
        Self { items, wished, lanes: Lanes::default() }
    }

    /// Work items for so many states.
    fn items(&self, states: usize) -> usize {
        self.items.min(states.next_multiple_of(GROUP))
    }

    /// Room for what becomes of a level's states: where it is used up there are as many as wished, for a group takes no more
    /// than `GROUP * ROWS` at a time. Behind it there is room for those that are left: levels with as many as wished are not
    /// widened.
    fn room(&self) -> usize {
        self.wished + GROUP * ROWS
    }

    /// What the device finds from these states on; `None` if stopped.
    fn go_on(
        &self,
        session: &Session,
        lane: &mut SearchLane,
        front: &Front<'_>,
        stop: &Stop,
    ) -> Result<Option<Count>, GpuError> {
        let steps = front.descent.steps.len();
        lane.rows.fill(session, &lane.queue, &packed_rows(front.descent))?;
        for room in &mut lane.states {
            room.reserve(session, front.states.len().max(self.room() + self.wished))?;
        }
        lane.states[0].fill(session, &lane.queue, &front.states)?;
        lane.made.fill(session, &lane.queue, &[0; MADE * ROWS])?;
        let depth = steps - LEFT_TO_DEVICE - front.level;
        let mut level = Level { place: front.level, front: front.states.len(), behind: 0, depth };
        let mut passed = Count::default();
        while steps - level.place >= FEWEST_STEPS && (1..self.wished).contains(&level.states()) {
            if stop.is_stopped() {
                return Ok(None);
            }
            level = self.widen(session, lane, &level)?;
            passed.nodes += level.front as u64;
        }
        if level.states() == 0 {
            return Ok(Some(passed));
        }
        let found = self.search(session, lane, &level, stop)?;
        Ok(found.map(|found| found.plus(passed)))
    }

    /// Moves a level's states on by a row, as far as there is room: what has become of them.
    fn widen(&self, session: &Session, lane: &mut SearchLane, level: &Level) -> Result<Level, GpuError> {
        // SAFETY: the arguments have the kernel's types, in its order. The kernel reads the `front` states of `from`, none of
        // which are elsewhere, since a level with some behind the room is as large as wished; and their row. It
        // writes `to` as far as `room`, and no more states behind it than it reads, fewer than wished, for which there is
        // room; the row's words of `made`, and those of the scratch.
        let launched = unsafe {
            ExecuteKernel::new(&lane.widen)
                .set_arg(&lane.rows.buffer)
                .set_arg(&(level.place as cl_uint))
                .set_arg(&lane.states[0].buffer)
                .set_arg(&(level.front as cl_uint))
                .set_arg(&lane.states[1].buffer)
                .set_arg(&(self.room() as cl_uint))
                .set_arg(&lane.made.buffer)
                .set_arg_local_buffer(MADE * size_of::<cl_uint>())
                .set_global_work_size(self.items(level.front))
                .set_local_work_size(GROUP)
                .enqueue_nd_range(&lane.queue)
        };
        session.wait(&lane.queue, launched.map_err(session.failed("a launch"))?)?;
        let mut made = [0; MADE * ROWS];
        session.read(&lane.queue, &lane.made.buffer, &mut made)?;
        lane.states.swap(0, 1);
        let [taken, used, behind] = made.as_chunks::<MADE>().0[level.place].map(|number| number as usize);
        let front = if taken > self.room() { used } else { taken };
        // Those behind the room have not moved: all of the level can go down as far as before.
        let depth = if behind > 0 { level.depth } else { level.depth - 1 };
        Ok(Level { place: level.place + 1, front, behind, depth })
    }

    /// What is found depth first from a level's states on; `None` if stopped.
    fn search(
        &self,
        session: &Session,
        lane: &mut SearchLane,
        level: &Level,
        stop: &Stop,
    ) -> Result<Option<Count>, GpuError> {
        let end = level.states() as cl_uint;
        let gap = if level.behind > 0 { self.room() - level.front } else { 0 };
        let items = self.items(level.states());
        let groups = items / GROUP;
        let counters = (groups / GROUPS_OF_COUNTER).max(1);
        let stride = FROZEN + level.depth;
        // How many states each counter has given away, and how many work items have not finished theirs.
        let mut progress = vec![0; counters * APART + 1];
        lane.progress.fill(session, &lane.queue, &progress)?;
        lane.found.reserve(session, 2 * groups)?;
        lane.frozen.reserve(session, items * stride)?;
        let mut is_begun = false;
        loop {
            if stop.is_stopped() {
                return Ok(None);
            }
            let begun = Instant::now();
            // SAFETY: the arguments have the kernel's types, in its order. The kernel reads the level's states, which the host
            // or `widen` has written; and all rows, of which a state uses no more than its descent
            // has (a child with two rows left is not gone down to). It writes the words of `progress` that are counters, its
            // group's two words of `found`, its own `stride` vectors of `frozen`, and its own column of the scratch; both of
            // these have a vector for each row that a state can go down, the latter after the rows, which make room for what the
            // group adds up. It reads no word of `found` or `frozen` that no launch of this search has written.
            let launched = unsafe {
                ExecuteKernel::new(&lane.search)
                    .set_arg(&lane.rows.buffer)
                    .set_arg(&lane.states[0].buffer)
                    .set_arg(&(level.front as cl_uint))
                    .set_arg(&(gap as cl_uint))
                    .set_arg(&end)
                    .set_arg(&lane.progress.buffer)
                    .set_arg(&(counters as cl_uint))
                    .set_arg(&lane.found.buffer)
                    .set_arg(&lane.frozen.buffer)
                    .set_arg(&(stride as cl_uint))
                    .set_arg(&cl_uint::from(is_begun))
                    .set_arg(&lane.steps)
                    .set_arg_local_buffer((2 * ROWS + level.depth * GROUP) * size_of::<Vector>())
                    .set_global_work_size(items)
                    .set_local_work_size(GROUP)
                    .enqueue_nd_range(&lane.queue)
            };
            session.wait(&lane.queue, launched.map_err(session.failed("a launch"))?)?;
            session.read(&lane.queue, &lane.progress.buffer, &mut progress)?;
            let busy = std::mem::take(&mut progress[counters * APART]);
            let mut are_left = false;
            for (number, taken) in progress.iter_mut().step_by(APART).take(counters).enumerate() {
                // Whoever found that none are left has counted on.
                let all = end.saturating_sub(number as cl_uint).div_ceil(counters as cl_uint);
                are_left |= *taken < all;
                *taken = all.min(*taken);
            }
            if !are_left && busy == 0 {
                break;
            }
            // Not more than twice as many the next time, and not more where few work items had something to do.
            let factor = LAUNCH.as_secs_f64() / begun.elapsed().as_secs_f64().max(1e-6);
            let most = if are_left { 2.0 } else { 1.0 };
            lane.steps = (f64::from(lane.steps) * factor.min(most)).clamp(1000.0, 1e9) as cl_uint;
            session.write(&lane.queue, &mut lane.progress.buffer, &progress)?;
            is_begun = true;
        }
        let mut found = vec![0; 2 * groups];
        session.read(&lane.queue, &lane.found.buffer, &mut found)?;
        let sum = |sum: Count, &[completions, nodes]: &[cl_ulong; 2]| sum.plus(Count { completions, nodes });
        Ok(Some(found.as_chunks().0.iter().fold(Count::default(), sum)))
    }
}

impl Launcher for SearchLauncher {
    fn source(&self) -> KernelSource<'static> {
        KernelSource { text: SEARCH, macros: vec![("GROUP", GROUP)] }
    }

    fn count(&self, session: &Session, position: &Position, stop: &Stop) -> Result<Option<Count>, GpuError> {
        let Some((mut count, large)) = descents(position, stop) else { return Ok(None) };
        for descent in &large {
            let Some((passed, front)) = expand(descent, self.wished.min(STATES_OF_HOST), stop) else {
                return Ok(None);
            };
            count = count.plus(passed);
            if front.states.is_empty() {
                continue;
            }
            let go_on = |lane: &mut SearchLane| self.go_on(session, lane, &front, stop);
            match self.lanes.with(|| SearchLane::new(session), go_on)? {
                Some(found) => count = count.plus(found),
                None => return Ok(None),
            }
        }
        Ok(Some(count))
    }
}
