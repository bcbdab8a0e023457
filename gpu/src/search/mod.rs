//! The row-by-row search on a device. The host makes a few states of a unit's descents; the device makes
//! millions of states from them. The device searches these in launches so short that a count can be stopped.
//!
//! The driver of a display ends launches of more than two seconds, and a count must stop within one second.
//! So the groups of a launch share a limited number of passes, as many as took [`LAUNCH`] in earlier
//! launches, and the next launch resumes where they stopped. Two concurrent counts keep the device busy while
//! one of them is on the host.

#[deny(unsafe_code, reason = "the host's part")]
mod expand;
#[deny(unsafe_code, reason = "only memory")]
mod lane;
#[deny(unsafe_code, reason = "only what the device reads")]
mod packed;
#[deny(unsafe_code, reason = "only numbers")]
mod shape;
#[cfg(test)]
mod tests;

use std::time::{Duration, Instant};

use opencl3::kernel::ExecuteKernel;
use opencl3::types::{cl_uint, cl_ulong};
use queens::Position;
use queens::kernel::search::descents;
use queens::kernel::{Count, Stop};

use crate::device::Description;
use crate::error::GpuError;
use crate::lanes::Lanes;
use crate::launcher::Launcher;
use crate::program::{DeviceKind, KernelSource, kernel_text};
use crate::session::{LAUNCH, Session};
use expand::{Front, expand};
use lane::{DescentRoom, Found, LEAST_ROOM, ROOM, SearchLane, Wishes};
use packed::{OnDevice, VECTORS, Vector, packed_rows, rows_of_device};
use shape::GroupShape;

/// The kernels' source.
const SEARCH: &str = kernel_text!("../kernels/search.cl");

/// Groups for each compute unit: somewhat more than the local memory of large cards has room for at a time.
const GROUPS_OF_CARD: usize = 16;
const GROUPS_OF_PROCESSOR: usize = 1;

/// States for each of those that a group moves on at a time, so that all groups have enough to do although subtrees differ. A
/// processor's groups are not at work at the same time.
const STATES_ON_CARD: usize = 128;
const STATES_ON_PROCESSOR: usize = 16;

/// States that the host makes of all descents that are searched together, of every board. They suffice for a
/// short first level on the device. More states would cost the host, with one thread, time in which a card
/// visits a hundred times as many nodes.
const STATES_OF_HOST: usize = 1024;

/// Passes of a launch for each of its groups at least, for all together at most, and as many as a group takes at a time at most.
const FEWEST_PASSES: cl_uint = 256;
const MOST_PASSES: cl_uint = 1 << 31;
const SOME_PASSES: cl_uint = 64;

/// The most passes of a group, as a multiple of its share of a launch. Not all groups work at the same time,
/// so a working group may use the share of idle groups. The work of the last groups is left to the next
/// launch.
const MOST_SHARES: cl_uint = 8;

/// The row-by-row search on one device.
pub struct SearchLauncher {
    shape: GroupShape,
    /// Groups of a launch at most: no more than have states.
    groups: usize,
    /// The number of states to make before the depth-first search begins.
    wished: usize,
    /// Passes of a launch for each group at least.
    fewest_passes: cl_uint,
    lanes: Lanes<SearchLane>,
}

/// The wished number of states for a room of at most `words` words of 64 bits.
fn states_in(words: usize) -> usize {
    (words * size_of::<cl_ulong>() / size_of::<Vector>() / ROOM).max(1)
}

/// The passes of a group in the next launch. `passes` is their number in the last launch, which took `taken`
/// and ended with `busy` of `groups` groups unfinished. The number grows to at most twice as many. It grows
/// only if all groups were busy, or if half of them were and the launch was short.
fn next_passes(passes: cl_uint, taken: Duration, busy: usize, groups: usize) -> cl_uint {
    let factor = LAUNCH.as_secs_f64() / taken.as_secs_f64().max(1e-6);
    let may_be_more = busy == groups || 2 * busy >= groups && taken < LAUNCH / 16;
    (f64::from(passes) * factor.min(if may_be_more { 2.0 } else { 1.0 })) as cl_uint
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

    /// The number of descents to search together: as many as have their least room within the room of all
    /// wished states.
    fn together(&self) -> usize {
        (self.wished * ROOM / LEAST_ROOM).max(1)
    }

    /// The memory for a search from these states.
    fn wishes(&self, fronts: &[Front<'_>]) -> Wishes {
        let levels = fronts.iter().map(|front| rows_of_device(front.descent, front.level)).max().unwrap_or(0);
        let vectors = (1 + self.shape.pool()) * levels;
        Wishes { descents: fronts.len(), states: self.wished, groups: self.groups, vectors }
    }

    /// The count of the device from these states; `None` if stopped.
    fn count_on_device(
        &self,
        session: &Session,
        lane: &mut SearchLane,
        fronts: &[Front<'_>],
        stop: &Stop,
    ) -> Result<Option<Count>, GpuError> {
        let Some(part) = lane.reserve(session, self.wishes(fronts))? else {
            let (some, others) = fronts.split_at(fronts.len() / 2);
            let Some(found) = self.count_on_device(session, lane, some, stop)? else { return Ok(None) };
            return Ok(self.count_on_device(session, lane, others, stop)?.map(|others| found.plus(others)));
        };
        let (nodes, widened) = self.widen(session, lane, fronts, part)?;
        let found = self.search(session, lane, &widened, stop)?;
        Ok(found.map(|found| found.plus(Count { completions: 0, nodes })))
    }

    /// Moves the states on, row by row, until each descent has the wished number. Returns the nodes on the
    /// way.
    fn widen(
        &self,
        session: &Session,
        lane: &mut SearchLane,
        fronts: &[Front<'_>],
        part: DescentRoom,
    ) -> Result<(u64, Vec<OnDevice>), GpuError> {
        let (mut descents, mut rows, mut states) = (Vec::new(), Vec::new(), Vec::new());
        for front in fronts {
            descents.push(OnDevice::begun(front, rows.len(), states.len()));
            rows.extend(packed_rows(front.descent));
            states.extend_from_slice(&front.states);
        }
        lane.rows.fill(session, &lane.queue, &rows)?;
        lane.descents.fill(session, &lane.queue, &descents)?;
        lane.begun.fill(session, &lane.queue, &states)?;
        let groups = self.groups.div_ceil(fronts.len());
        let steps = descents.iter().map(|descent| descent.rows).max().unwrap_or(0);
        let [one, other] = &lane.states;
        for (step, turn) in (0..steps).zip([[one, other], [other, one]].into_iter().cycle()) {
            let [to, made] = turn;
            let from = if step == 0 { &lane.begun } else { made };
            // SAFETY: the arguments have the kernel's types, in its order. The kernel reads as many states of `from` as a descent's
            // `made` says of the row, from where its part begins, which the host or the launch before this one has
            // written there: if they were more than there was room for, they are more than wished, and it reads none. It writes
            // that part of `to`, the next row's word of `made`, the word that counts its groups, and of the scratch the row and two words. Of a descent's rows it reads
            // one that is moved on from: these are `rows`, fewer than it has from `place` on.
            let launched = unsafe {
                ExecuteKernel::new(&lane.widen)
                    .set_arg(&lane.rows.buffer)
                    .set_arg(&lane.descents.buffer)
                    .set_arg(&step)
                    .set_arg(&from.buffer)
                    .set_arg(&to.buffer)
                    .set_arg(&(part.room as cl_uint))
                    .set_arg(&(part.wished as cl_uint))
                    .set_arg_local_buffer((VECTORS + 1) * size_of::<Vector>())
                    .set_global_work_sizes(&[groups * self.shape.group, fronts.len()])
                    .set_local_work_sizes(&[self.shape.group, 1])
                    .enqueue_nd_range(&lane.queue.commands)
            };
            session.launched(&lane.queue, launched)?;
        }
        session.settle(&lane.queue)?;
        // These numbers come from the device. Check their range, because they determine where memory is read.
        let mut read = descents.clone();
        session.read(&lane.queue, &lane.descents.buffer, &mut read)?;
        let (mut nodes, launched) = (0, steps * groups as cl_uint);
        for (index, (descent, front)) in descents.iter_mut().zip(fronts).enumerate() {
            session.have_ended(read[index].ended, launched)?;
            let made = &read[index].made;
            let Some((passed, widened)) = descent.widened(made, front.descent, index, part.room) else {
                return Err(session.cannot_be(format!("made states: {made:?}")));
            };
            *descent = widened;
            nodes += passed;
        }
        Ok((nodes, descents))
    }

    /// The depth-first count from the widened states; `None` if stopped.
    fn search(
        &self,
        session: &Session,
        lane: &mut SearchLane,
        descents: &[OnDevice],
        stop: &Stop,
    ) -> Result<Option<Count>, GpuError> {
        let levels = descents.iter().map(|descent| descent.rows as usize).max().unwrap_or(0);
        let (needed, has) = (self.shape.scratch(levels), session.device().description().local_memory);
        if needed as u64 > has {
            let why = format!("it has {has} bytes of local memory and {needed} are needed");
            return Err(GpuError::Unusable { device: session.device().title(), why });
        }
        lane.descents.fill(session, &lane.queue, descents)?;
        let states: usize = descents.iter().map(|descent| descent.states as usize).sum();
        let groups = lane.share.of(self.groups).min(states.div_ceil(self.shape.wide()));
        let (mut found, mut is_begun) = (vec![Found::default(); groups], false);
        loop {
            if stop.is_stopped() {
                return Ok(None);
            }
            let begun = Instant::now();
            lane.launch = lane.launch.wrapping_add(1);
            lane.progress.fill(session, &lane.queue, &[0])?;
            // At least some for each group: groups that have finished also take theirs.
            let each = lane.passes.min(MOST_PASSES / groups as cl_uint);
            let (passes, some, most) =
                (each * groups as cl_uint, each.min(SOME_PASSES), each.saturating_mul(MOST_SHARES));
            // SAFETY: the arguments have the kernel's types, in its order. The kernel reads each descent's states, which the host
            // or `widen` has written where it says, and where nothing else was written, and its rows from theirs on to the last but
            // one, of which a descent has all, and `levels` at most. It writes how many states of it were taken and how many passes,
            // its group's words of `found` and its vectors of `frozen`, for each of the levels one and a pool; and the scratch, for
            // which there is room. No pool overflows: the one that is taken from has no more states afterwards, the next one had
            // fewer than are moved on at a time, and so had the first one where as many are added. It reads no word of `found` or
            // `frozen` that no launch of this search has written.
            let launched = unsafe {
                ExecuteKernel::new(&lane.search)
                    .set_arg(&lane.rows.buffer)
                    .set_arg(&lane.descents.buffer)
                    .set_arg(&(descents.len() as cl_uint))
                    .set_arg(&(levels as cl_uint))
                    .set_arg(&lane.begun.buffer)
                    .set_arg(&lane.states[0].buffer)
                    .set_arg(&lane.states[1].buffer)
                    .set_arg(&lane.found.buffer)
                    .set_arg(&lane.frozen.buffer)
                    .set_arg(&cl_uint::from(is_begun))
                    .set_arg(&lane.launch)
                    .set_arg(&lane.progress.buffer)
                    .set_arg(&passes)
                    .set_arg(&some)
                    .set_arg(&most)
                    .set_arg_local_buffer(needed)
                    .set_global_work_size(groups * self.shape.group)
                    .set_local_work_size(self.shape.group)
                    .enqueue_nd_range(&lane.queue.commands)
            };
            session.launched(&lane.queue, launched)?;
            session.settle(&lane.queue)?;
            session.read(&lane.queue, &lane.found.buffer, &mut found)?;
            // The buffer may still have the result of an earlier launch.
            let finished = 2 * cl_ulong::from(lane.launch);
            if let Some(strange) = found.iter().find(|[.., told]| ![finished, finished + 1].contains(told)) {
                return Err(session.cannot_be(format!("found in launch {}: {strange:?}", lane.launch)));
            }
            let busy = found.iter().filter(|[.., told]| *told != finished).count();
            if busy == 0 {
                break;
            }
            lane.passes = next_passes(each, begun.elapsed(), busy, groups).max(self.fewest_passes);
            is_begun = true;
        }
        session.sum(found.iter().map(|&[completions, nodes, _]| [completions, nodes])).map(Some)
    }
}

impl Launcher for SearchLauncher {
    fn source(&self) -> KernelSource<'static> {
        KernelSource { text: SEARCH, macros: self.shape.macros() }
    }

    fn count(&self, session: &Session, position: &Position, stop: &Stop) -> Result<Option<Count>, GpuError> {
        let Some((mut count, large)) = descents(position, stop) else { return Ok(None) };
        for batch in large.chunks(self.together()) {
            let wished = self.wished.min(STATES_OF_HOST).div_ceil(batch.len());
            let mut fronts = Vec::new();
            for descent in batch {
                let Some((passed, front)) = expand(descent, wished, stop) else { return Ok(None) };
                count = count.plus(passed);
                fronts.extend((!front.states.is_empty()).then_some(front));
            }
            if fronts.is_empty() {
                continue;
            }
            let count_on_device = |lane: &mut SearchLane| self.count_on_device(session, lane, &fronts, stop);
            match self.lanes.with(|| SearchLane::new(session, self.fewest_passes), count_on_device)? {
                Some(found) => count = count.plus(found),
                None => return Ok(None),
            }
        }
        Ok(Some(count))
    }
}
