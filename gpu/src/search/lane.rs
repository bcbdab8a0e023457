//! The device state of one concurrent count, and its share of the device's memory.

use std::time::{Duration, Instant};

use opencl3::kernel::Kernel as DeviceKernel;
use opencl3::types::{cl_uint, cl_ulong};

use super::STATES_OF_HOST;
use super::packed::{OnDevice, Row, Vector};
use crate::error::GpuError;
use crate::room::DeviceBuffer;
use crate::session::{Queue, Session};

/// The room of a level, as a multiple of the wished states. If states have more children, as on large boards,
/// the last level may be made in vain. Then the level before it is searched, which has fewer states than
/// wished.
pub(super) const ROOM: usize = 4;

/// The least room of a descent: all children of the states that the host makes of a descent that is searched
/// alone. So a level with fewer states is always moved on, and the remaining levels of large boards fit in
/// local memory.
pub(super) const LEAST_ROOM: usize = STATES_OF_HOST << 5;

/// The memory that a search would use, if the device has it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wishes {
    /// Descents that are searched together.
    pub(super) descents: usize,
    /// States of a level of all of them.
    pub(super) states: usize,
    /// Groups of a launch, and the vectors of each that are kept from launch to launch.
    pub(super) groups: usize,
    pub(super) vectors: usize,
}

/// The results of a group: completions, nodes, and twice the number of the last launch, plus 1 if the group
/// has not finished.
pub(super) type Found = [cl_ulong; 3];

/// A queue of the device, its kernels, and the memory that these work in.
pub(super) struct SearchLane {
    pub(super) queue: Queue,
    pub(super) widen: DeviceKernel,
    pub(super) search: DeviceKernel,
    pub(super) rows: DeviceBuffer<Row>,
    pub(super) descents: DeviceBuffer<OnDevice>,
    /// The host's states, and a level's and the next level's in turn.
    pub(super) begun: DeviceBuffer<Vector>,
    pub(super) states: [DeviceBuffer<Vector>; 2],
    pub(super) progress: DeviceBuffer<cl_uint>,
    pub(super) found: DeviceBuffer<Found>,
    pub(super) frozen: DeviceBuffer<Vector>,
    /// Its share of the wished memory: all, a half and so on, as the device allowed.
    pub(super) share: MemoryShare,
    /// The passes of each group that took [`LAUNCH`](crate::session::LAUNCH) in the last launches.
    pub(super) passes: cl_uint,
    /// The number of the last launch that searched.
    pub(super) launch: cl_uint,
}

impl SearchLane {
    pub(super) fn new(session: &Session, passes: cl_uint) -> Result<Self, GpuError> {
        Ok(Self {
            queue: session.queue()?,
            widen: session.kernel("widen")?,
            search: session.kernel("search")?,
            rows: DeviceBuffer::new(session)?,
            descents: DeviceBuffer::new(session)?,
            begun: DeviceBuffer::new(session)?,
            states: [DeviceBuffer::new(session)?, DeviceBuffer::new(session)?],
            progress: DeviceBuffer::new(session)?,
            found: DeviceBuffer::new(session)?,
            frozen: DeviceBuffer::new(session)?,
            share: MemoryShare::default(),
            passes,
            launch: 0,
        })
    }

    /// Reserves room for a level of the wished states, for the next level, and for the vectors of the groups.
    /// The device must be idle. If the device has less memory, the wishes are halved until they fit. Returns
    /// the part of each descent; `None` if there is no room for so many descents.
    pub(super) fn reserve(
        &mut self,
        session: &Session,
        wishes: Wishes,
    ) -> Result<Option<DescentRoom>, GpuError> {
        self.share.try_more();
        loop {
            let Self { queue, states: [one, other], found, frozen, .. } = self;
            let part = DescentRoom::of(self.share.of(wishes.states), wishes.descents);
            let groups = self.share.of(wishes.groups);
            if one.reserve(session, queue, part.room * wishes.descents)?
                && other.reserve(session, queue, part.room * wishes.descents)?
                && found.reserve(session, queue, groups)?
                && frozen.reserve(session, queue, groups * wishes.vectors)?
            {
                return Ok(Some(part));
            }
            // An earlier buffer may have left too little memory.
            one.release(session)?;
            other.release(session)?;
            frozen.release(session)?;
            if part.room == LEAST_ROOM && wishes.descents > 1 {
                return Ok(None);
            }
            if !self.share.halve(wishes.states) {
                return Err(session.no_room());
            }
        }
    }
}

/// A descent's part of the states wished for all descents.
#[derive(Clone, Copy, Debug)]
pub(super) struct DescentRoom {
    /// The wished number of its states.
    pub(super) wished: usize,
    /// The states that it has room for.
    pub(super) room: usize,
}

impl DescentRoom {
    pub(super) fn of(states: usize, descents: usize) -> Self {
        let wished = (states / descents).max(states.min(STATES_OF_HOST));
        Self { wished, room: (wished * ROOM).max(LEAST_ROOM) }
    }
}

/// After this time a reduced share of memory is raised to all again.
pub(super) const RAISE_SHARE_AFTER: Duration = Duration::from_mins(5);

/// A share of the wished memory: all, a half, a quarter and so on.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MemoryShare {
    pub(super) halvings: u32,
    /// When it became less.
    pub(super) since: Option<Instant>,
}

impl MemoryShare {
    /// The share of `wished`, at least one.
    pub(super) fn of(self, wished: usize) -> usize {
        (wished >> self.halvings).max(1)
    }

    /// Halves the share, unless only one is left; returns whether it is smaller now.
    pub(super) fn halve(&mut self, wished: usize) -> bool {
        let is_less = self.of(wished) > 1;
        if is_less {
            *self = Self { halvings: self.halvings + 1, since: Some(Instant::now()) };
        }
        is_less
    }

    /// Raises the share to all, if it has been reduced for a while.
    pub(super) fn try_more(&mut self) {
        if self.since.is_some_and(|since| since.elapsed() > RAISE_SHARE_AFTER) {
            *self = Self::default();
        }
    }
}
