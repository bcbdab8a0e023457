//! Lists of states in the device's memory.

use std::iter::{self, successors};

use opencl3::memory::Buffer;
use opencl3::types::{cl_uint, cl_ulong};

use crate::error::GpuError;
use crate::session::{Queue, Session};

/// The place of the states of a set; the same layout as in `meet.cl`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct List {
    pub begin: cl_uint,
    pub length: cl_uint,
}

/// Room for states.
pub struct StateBuffer {
    /// The states.
    pub buffer: Buffer<cl_ulong>,
    /// How many may be there.
    pub room: usize,
}

impl StateBuffer {
    /// Room for `room` states.
    pub fn new(session: &Session, room: usize) -> Result<Self, GpuError> {
        // The last word is only written as the end of a list.
        Ok(Self { buffer: session.room(room + 1)?, room })
    }

    /// Enlarges the room to `room` states and returns whether it is larger than before. The device must be
    /// idle. The old content is lost: it is released first, because the device may lack room for both. If the
    /// device has less memory, the old size is kept, or halved until it fits if another program has taken
    /// memory meanwhile.
    pub fn enlarge(&mut self, session: &Session, queue: &Queue, room: usize) -> Result<bool, GpuError> {
        let before = self.room;
        *self = Self::new(session, 0)?;
        let halves = successors(Some(before), |room| Some(room / 2).filter(|room| *room > 0));
        for room in iter::once(room).chain(halves) {
            if let Some(buffer) = session.room_now(queue, room + 1)? {
                *self = Self { buffer, room };
                break;
            }
        }
        Ok(self.room > before)
    }
}

/// How many kinds of lists there are.
pub const LIST_KINDS: usize = 6;

/// Which lists: those of a half with all columns but one, those with fewer while they are needed, complete halves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListKind {
    /// The empty half.
    Nothing,
    /// Of both halves, in turn.
    Passing,
    /// Of that half, with one column missing.
    Last(usize),
    /// Of that half, complete.
    Complete(usize),
}

impl ListKind {
    /// Its number, below [`LIST_KINDS`].
    pub fn index(self) -> usize {
        match self {
            Self::Nothing => 0,
            Self::Passing => 1,
            Self::Last(side) => 2 + side,
            Self::Complete(side) => 4 + side,
        }
    }
}

/// A column to add to the lists of some sets.
#[derive(Clone, Copy, Debug)]
pub struct NewColumn {
    pub side: usize,
    pub number: usize,
    /// The mask that complements the sets.
    pub flip: u32,
    /// The rows whose side is fixed, those of them on this side, and how many of these may be lacking.
    pub fixed: u32,
    pub here: u32,
    pub lacking: u32,
    /// The bits of a state that are kept.
    pub keep: u64,
    pub from: ListKind,
    pub to: ListKind,
}
