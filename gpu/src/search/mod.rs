//! The row-by-row search on a device: it makes the states itself, by the million, from few of the host's, and goes on from
//! them in launches so short that it can be stopped.
//!
//! A display's driver ends what takes longer than two seconds, and a count is to stop within one: each group of work items goes on
//! for as many passes as took [`LAUNCH`] lately, and the next launch finds it where it was. Two counts at a time keep a device busy
//! while one of them is on the host.

#[deny(unsafe_code, reason = "the host's part")]
mod expand;
#[deny(unsafe_code, reason = "only memory")]
mod lane;
#[deny(unsafe_code, reason = "only what the device reads")]
mod rows;
#[deny(unsafe_code, reason = "only numbers")]
mod shape;
#[cfg(test)]
mod tests;

use std::time::{Duration, Instant};

use opencl3::kernel::ExecuteKernel;
use opencl3::types::{cl_uint, cl_ulong};
use queens::Position;
use queens::kernel::search::{Descent, descents};
use queens::kernel::{Count, Stop};

use crate::device::Description;
use crate::error::GpuError;
use crate::lanes::Lanes;
use crate::launcher::Launcher;
use crate::program::{DeviceKind, KernelSource};
use crate::session::{LAUNCH, Session};
use expand::{Front, expand};
use lane::{ROOM, SearchLane, Wishes};
use rows::{ROWS, VECTORS, Vector, packed_rows};
use shape::GroupShape;

/// The kernels' source.
const SEARCH: &str = include_str!("../kernels/search.cl");

/// Groups for each compute unit: somewhat more than the local memory of large cards has room for at a time.
const GROUPS_OF_CARD: usize = 16;
const GROUPS_OF_PROCESSOR: usize = 1;

/// States for each of those that a group moves on at a time, so that all groups have enough to do although subtrees differ. A
/// processor's groups are not at work at the same time.
const STATES_ON_CARD: usize = 32;
const STATES_ON_PROCESSOR: usize = 16;

/// States that the host makes, of every board: with so many the device's first level is short, and more of them would be
/// made by one thread, in a time in which a card visits a hundred times as many nodes.
const STATES_OF_HOST: usize = 1024;

/// Passes of a group in the first launch, and how far they may go in any.
const FEWEST_PASSES: cl_uint = 256;
const MOST_PASSES: cl_uint = 1 << 24;

/// A state with so many steps left, at least, is moved on before the search goes on depth first: with fewer a group
/// would wait for its next states more than it counts.
const FEWEST_STEPS: usize = 9;

/// The row-by-row search on one device.
pub struct SearchLauncher {
    shape: GroupShape,
    /// Groups of a launch at most: no more than have states.
    groups: usize,
    /// States that there should be before the search goes on depth first.
    wished: usize,
    /// Passes of a group in a launch at least.
    fewest_passes: cl_uint,
    lanes: Lanes<SearchLane>,
}

/// How many states may be wished for where a room is to have no more than so many words of 64 bits.
fn states_in(words: usize) -> usize {
    (words * size_of::<cl_ulong>() / size_of::<Vector>() / ROOM).max(1)
}

/// How many passes to take after a launch of so many, which took that long: not more than twice as many, and not more where groups
/// had nothing to do, unless no states were left for them, half of them were busy to the end all the same, and that was soon.
fn next_passes(passes: cl_uint, taken: Duration, are_left: bool, is_half_busy: bool) -> cl_uint {
    let factor = LAUNCH.as_secs_f64() / taken.as_secs_f64().max(1e-6);
    let may_be_more = are_left || is_half_busy && taken < LAUNCH / 16;
    (f64::from(passes) * factor.min(if may_be_more { 2.0 } else { 1.0 })) as cl_uint
}

/// The states of a descent before one of its rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Level {
    /// The row, by its number among the free ones.
    place: usize,
    /// So many are in one of the lane's two rooms.
    states: usize,
    room: usize,
}

impl SearchLauncher {
    /// Launches of that shape.
    pub fn new(about: &Description, kind: DeviceKind) -> Self {
        let units = about.units.max(1) as usize;
        let shape = GroupShape::new(about, kind);
        let (groups, states) = match kind {
            DeviceKind::Card => (units * GROUPS_OF_CARD, STATES_ON_CARD),
            DeviceKind::Processor => (units * GROUPS_OF_PROCESSOR, STATES_ON_PROCESSOR),
        };
        let wished = (groups * shape.wide() * states).min(states_in(about.room()));
        Self { shape, groups, wished, fewest_passes: FEWEST_PASSES, lanes: Lanes::default() }
    }

    /// What a search from these states on takes of the device's memory.
    fn wishes(&self, front: &Front<'_>) -> Wishes {
        let levels = front.descent.steps.len() - 1 - front.level;
        Wishes { states: self.wished, groups: self.groups, vectors: (1 + self.shape.pool()) * levels }
    }

    /// What the device finds from these states on; `None` if stopped.
    fn go_on(
        &self,
        session: &Session,
        lane: &mut SearchLane,
        front: &Front<'_>,
        stop: &Stop,
    ) -> Result<Option<Count>, GpuError> {
        lane.reserve(session, front.states.len(), self.wishes(front))?;
        lane.rows.fill(session, &lane.queue, &packed_rows(front.descent))?;
        lane.states[0].fill(session, &lane.queue, &front.states)?;
        let (nodes, level) = self.widen(session, lane, front)?;
        let found = self.search(session, lane, front.descent, &level, stop)?;
        Ok(found.map(|found| found.plus(Count { completions: 0, nodes })))
    }

    /// Moves the states on, row by row, until there are as many as wished; and the nodes on the way.
    fn widen(
        &self,
        session: &Session,
        lane: &mut SearchLane,
        front: &Front<'_>,
    ) -> Result<(u64, Level), GpuError> {
        let mut made = [0; ROWS + 1];
        made[front.level] = front.states.len() as cl_uint;
        lane.made.fill(session, &lane.queue, &made)?;
        let wished = lane.share.of(self.wished);
        let end = (front.descent.steps.len() + 1).saturating_sub(FEWEST_STEPS);
        for (place, turn) in (front.level..end).zip([[0, 1], [1, 0]].into_iter().cycle()) {
            let [from, to] = turn.map(|room| &lane.states[room].buffer);
            // SAFETY: the arguments have the kernel's types, in its order. The kernel reads as many states of `from` as `made` says
            // of the row, which the host or the launch before this one has written there: if they were more than there was
            // room for, they are more than wished, and it reads none. It writes `to` as far as `room`, the next row's word of
            // `made`, and of the scratch the row and two words.
            let launched = unsafe {
                ExecuteKernel::new(&lane.widen)
                    .set_arg(&lane.rows.buffer)
                    .set_arg(&(place as cl_uint))
                    .set_arg(from)
                    .set_arg(to)
                    .set_arg(&lane.made.buffer)
                    .set_arg(&((wished * ROOM) as cl_uint))
                    .set_arg(&(wished as cl_uint))
                    .set_arg_local_buffer((VECTORS + 1) * size_of::<Vector>())
                    .set_global_work_size(self.groups * self.shape.group)
                    .set_local_work_size(self.shape.group)
                    .enqueue_nd_range(&lane.queue)
            };
            launched.map_err(session.failed("a launch"))?;
        }
        session.settle(&lane.queue)?;
        session.read(&lane.queue, &lane.made.buffer, &mut made)?;
        let made = made.map(|states| states as usize);
        let mut level = Level { place: front.level, states: front.states.len(), room: 0 };
        let mut nodes = 0;
        // Where there is none behind they were not moved on, or nothing becomes of them: then that is found once more.
        while (1..=wished * ROOM).contains(&made[level.place + 1]) {
            level = Level { place: level.place + 1, states: made[level.place + 1], room: 1 - level.room };
            nodes += level.states as u64;
        }
        Ok((nodes, level))
    }

    /// What is found depth first from a level's states on; `None` if stopped.
    fn search(
        &self,
        session: &Session,
        lane: &mut SearchLane,
        descent: &Descent,
        level: &Level,
        stop: &Stop,
    ) -> Result<Option<Count>, GpuError> {
        let levels = descent.steps.len() - 1 - level.place;
        let (needed, has) = (self.shape.scratch(levels), session.device().description().local_memory);
        if needed as u64 > has {
            let why = format!("it has {has} bytes of local memory and {needed} are needed");
            return Err(GpuError::Unusable { device: session.device().title(), why });
        }
        let groups = lane.share.of(self.groups).min(level.states.div_ceil(self.shape.wide()));
        let (mut progress, mut is_begun) = ([0; 2], false);
        loop {
            if stop.is_stopped() {
                return Ok(None);
            }
            let begun = Instant::now();
            lane.progress.fill(session, &lane.queue, &progress)?;
            // SAFETY: the arguments have the kernel's types, in its order. The kernel reads the level's states, which the host
            // or `widen` has written, and the rows from theirs on to the last but one, of which a descent has all. It
            // writes the two words of `progress`, its group's two words of `found` and its vectors of `frozen`, for each of the
            // levels one and a pool; and the scratch, for which there is room. No pool overflows: the one that is taken from has
            // no more states afterwards, the next one had fewer than are moved on at a time, and so had the first one where as
            // many are added. It reads no word of `found` or `frozen` that no launch of this search has written.
            let launched = unsafe {
                ExecuteKernel::new(&lane.search)
                    .set_arg(&lane.rows.buffer)
                    .set_arg(&(level.place as cl_uint))
                    .set_arg(&(levels as cl_uint))
                    .set_arg(&lane.states[level.room].buffer)
                    .set_arg(&(level.states as cl_uint))
                    .set_arg(&lane.progress.buffer)
                    .set_arg(&lane.found.buffer)
                    .set_arg(&lane.frozen.buffer)
                    .set_arg(&cl_uint::from(is_begun))
                    .set_arg(&lane.passes)
                    .set_arg_local_buffer(needed)
                    .set_global_work_size(groups * self.shape.group)
                    .set_local_work_size(self.shape.group)
                    .enqueue_nd_range(&lane.queue)
            };
            session.wait(&lane.queue, launched.map_err(session.failed("a launch"))?)?;
            session.read(&lane.queue, &lane.progress.buffer, &mut progress)?;
            let [taken, busy] = progress;
            let are_left = (taken as usize) < level.states;
            if !are_left && busy == 0 {
                break;
            }
            let passes = next_passes(lane.passes, begun.elapsed(), are_left, 2 * busy as usize >= groups);
            lane.passes = passes.clamp(self.fewest_passes, MOST_PASSES);
            // Groups that found no more have counted on.
            (progress, is_begun) = ([taken.min(level.states as cl_uint), 0], true);
        }
        let mut found = vec![0; 2 * groups];
        session.read(&lane.queue, &lane.found.buffer, &mut found)?;
        let sum = |sum: Count, &[completions, nodes]: &[cl_ulong; 2]| sum.plus(Count { completions, nodes });
        Ok(Some(found.as_chunks().0.iter().fold(Count::default(), sum)))
    }
}

impl Launcher for SearchLauncher {
    fn source(&self) -> KernelSource<'static> {
        KernelSource { text: SEARCH, macros: self.shape.macros() }
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
            match self.lanes.with(|| SearchLane::new(session, self.fewest_passes), go_on)? {
                Some(found) => count = count.plus(found),
                None => return Ok(None),
            }
        }
        Ok(Some(count))
    }
}
