//! The device state of one concurrent count: memory for lists, and the launches of both kernels.

use std::collections::BTreeMap;

use opencl3::kernel::{ExecuteKernel, Kernel as DeviceKernel};
use opencl3::memory::Buffer;
use opencl3::types::{cl_uint, cl_ulong};

use super::geometry::{COLUMNS, Geometry, Queen, ROWS};
use super::lists::{LIST_KINDS, List, ListKind, NewColumn, StateBuffer};
use super::row_sets::SetsBySize;
use super::shape::MeetShape;
use crate::error::GpuError;
use crate::session::{Queue, Session};

/// Sets of rows on the device.
struct SetsThere {
    here: SetsBySize,
    there: Buffer<cl_uint>,
}

/// The device state of one concurrent count.
pub struct MeetLane {
    pub queue: Queue,
    pub grow: DeviceKernel,
    pub join: DeviceKernel,
    sets: BTreeMap<u32, SetsThere>,
    /// For each half and set of rows.
    lists: [Buffer<List>; 2],
    rows: u32,
    states: [StateBuffer; LIST_KINDS],
    queens: Buffer<Queen>,
    cursors: Buffer<cl_uint>,
    /// How many groups have ended, in the first half of the first word; then what each group has found.
    found: Buffer<cl_ulong>,
    /// The number of groups launched for this cut.
    groups: cl_uint,
    pub batches: Batches,
}

/// The numbers of sets that took a launch's time in the last launches, for making lists and for joining them.
pub struct Batches {
    pub grow: usize,
    pub join: usize,
}

/// The first batch of joined sets is smaller than the number of groups by this factor; several groups join a
/// set.
const FIRST_OF_JOINED: usize = 16;

/// The local memory of a group that grows lists, in bytes: of each row a queen, a list and two words; and two words.
const GROW_SCRATCH: usize = ROWS * (size_of::<Queen>() + size_of::<List>() + 8) + 8;

/// Cursors: one for each half and number of columns.
const CURSORS: usize = 2 * COLUMNS;

fn cursor(side: usize, column: usize) -> usize {
    2 * column + side
}

impl MeetLane {
    /// With the least memory.
    pub fn new(session: &Session, shape: &MeetShape) -> Result<Self, GpuError> {
        let queue = session.queue()?;
        let least = |()| StateBuffer::new(session, shape.room);
        let [a, b, c, d, e] = [(); 5].map(least);
        let nothing = StateBuffer { buffer: session.buffer(&queue, &[0])?, room: 1 };
        Ok(Self {
            grow: session.kernel("grow")?,
            join: session.kernel("join")?,
            sets: BTreeMap::new(),
            lists: [session.room(1)?, session.room(1)?],
            rows: 0,
            states: [nothing, a?, b?, c?, d?, e?],
            queens: session.room(2 * COLUMNS * ROWS)?,
            cursors: session.room(CURSORS)?,
            found: session.room(1 + 2 * shape.groups)?,
            groups: 0,
            // The times of the sets are unknown yet: some may take a group as long as a whole launch should take.
            batches: Batches { grow: shape.groups, join: shape.groups.div_ceil(FIRST_OF_JOINED) },
            queue,
        })
    }

    /// Uploads a cut and resets the counts.
    pub fn begin(
        &mut self,
        session: &Session,
        shape: &MeetShape,
        geometry: &Geometry,
    ) -> Result<(), GpuError> {
        // A stopped count may have left launches running.
        session.settle(&self.queue)?;
        let rows = geometry.rows;
        if !self.sets.contains_key(&rows) {
            let here = SetsBySize::new(rows);
            let there = session.buffer(&self.queue, here.masks())?;
            self.sets.insert(rows, SetsThere { here, there });
        }
        if self.rows < rows {
            self.rows = rows;
            for lists in &mut self.lists {
                *lists = session.room(1 << rows)?;
                // The empty half, which stays.
                session.write(&self.queue, lists, &[List { begin: 0, length: 1 }])?;
            }
        }
        session.write(&self.queue, &mut self.queens, &geometry.queens)?;
        self.groups = 0;
        session.write(&self.queue, &mut self.found, &vec![0; 1 + 2 * shape.groups])
    }

    /// The sets of that many rows.
    pub fn sets(&self, rows: u32) -> &SetsBySize {
        &self.sets[&rows].here
    }

    /// How many states may be there.
    pub fn room(&self, list: ListKind) -> usize {
        self.states[list.index()].room
    }

    /// Enlarges a list to at most `most` states and returns whether it has grown. The device must be idle;
    /// the content of the list is lost. A driver that grants no room may have failed: the next call returns
    /// that error.
    pub fn enlarge(&mut self, session: &Session, list: ListKind, most: usize) -> Result<bool, GpuError> {
        let states = &mut self.states[list.index()];
        let room = (4 * states.room).min(most);
        Ok(room > states.room && states.enlarge(session, &self.queue, room)?)
    }

    /// Waits for the device, then resets the numbers of states.
    pub fn reset_cursors(&mut self, session: &Session) -> Result<(), GpuError> {
        session.settle(&self.queue)?;
        session.write(&self.queue, &mut self.cursors, &[0; CURSORS])
    }

    /// The number of states made of each of these halves. A half is given by its side, its last column and
    /// the most states possible. The device must be idle. If the states did not fit, the number is larger
    /// than the room. A number above the possible states plus a word for each of `sets` lists is an error.
    pub fn made<const HALVES: usize>(
        &self,
        session: &Session,
        halves: [[usize; 3]; HALVES],
        sets: usize,
    ) -> Result<[usize; HALVES], GpuError> {
        let mut cursors = [0; CURSORS];
        session.read(&self.queue, &self.cursors, &mut cursors)?;
        let made = halves.map(|[side, column, _]| cursors[cursor(side, column)] as usize);
        match made.iter().zip(halves).find(|(made, [.., most])| **made > most + sets) {
            Some((made, [.., most])) => {
                Err(session.cannot_be(format!("made states: {made} where {most} can be")))
            }
            None => Ok(made),
        }
    }

    /// Pairs and halves that each group has found, when all before is done, by all groups that were launched.
    pub fn found(&self, session: &Session, shape: &MeetShape) -> Result<Vec<cl_ulong>, GpuError> {
        session.settle(&self.queue)?;
        let mut found = vec![0; 1 + 2 * shape.groups];
        session.read(&self.queue, &self.found, &mut found)?;
        session.have_ended(found.remove(0) as cl_uint, self.groups)?;
        Ok(found)
    }

    /// Launches `grow` for the sets with these indices.
    pub fn grow(
        &mut self,
        session: &Session,
        shape: &MeetShape,
        geometry: &Geometry,
        sets: std::ops::Range<usize>,
        column: &NewColumn,
    ) -> Result<(), GpuError> {
        let NewColumn { side, number, flip, fixed, here, lacking, keep, from, to } = *column;
        let (from, to) = (&self.states[from.index()], &self.states[to.index()]);
        let groups = shape.grow_groups.min(sets.len()).max(1);
        self.groups = self.groups.wrapping_add(groups as cl_uint);
        // SAFETY: the arguments have the kernel's types, in its order. The kernel reads `sets` between the indices, which
        // are those of sets of `rows` rows; `queens` of one column and half; the lists of these sets without a row, which an
        // earlier launch of the queue has made in `from`. It writes the lists of the sets, as many as there are for that many
        // rows, one cursor, the first word of `found`, and to `to` up to its room and a word behind it. A group's scratch has a source for
        // each of 32 rows and two words.
        let launched = unsafe {
            ExecuteKernel::new(&self.grow)
                .set_arg(&self.sets[&geometry.rows].there)
                .set_arg(&(sets.start as cl_uint))
                .set_arg(&(sets.end as cl_uint))
                .set_arg(&flip)
                .set_arg(&self.queens)
                .set_arg(&((side * COLUMNS + number) as cl_uint))
                .set_arg(&geometry.open[side][number])
                .set_arg(&fixed)
                .set_arg(&here)
                .set_arg(&lacking)
                .set_arg(&keep)
                .set_arg(&from.buffer)
                .set_arg(&to.buffer)
                .set_arg(&(to.room as cl_uint))
                .set_arg(&self.cursors)
                .set_arg(&(cursor(side, number) as cl_uint))
                .set_arg(&self.lists[side])
                .set_arg(&self.found)
                .set_arg_local_buffer(GROW_SCRATCH)
                .set_global_work_size(shape.grow_group * groups)
                .set_local_work_size(shape.grow_group)
                .enqueue_nd_range(&self.queue.commands)
        };
        session.launched(&self.queue, launched)
    }

    /// Launches `join` for the complete halves of the sets with these indices.
    pub fn join(
        &mut self,
        session: &Session,
        shape: &MeetShape,
        geometry: &Geometry,
        sets: std::ops::Range<usize>,
    ) -> Result<(), GpuError> {
        let complete = [0, 1].map(|side| &self.states[ListKind::Complete(side).index()]);
        let last = [0, 1].map(|side| cursor(side, geometry.columns(side) - 1) as cl_uint);
        let queens = [0, 1].map(|side| (ROWS * (side * COLUMNS + geometry.columns(side) - 1)) as cl_uint);
        let (width, parts) = (shape.width(geometry.tables), shape.parts(sets.len()));
        let groups = shape.groups.min(parts * sets.len()).max(1);
        self.groups = self.groups.wrapping_add(groups as cl_uint);
        // SAFETY: the arguments have the kernel's types, in its order. The kernel reads `sets` between the indices, and the
        // lists of these sets and of the others' rows, which earlier launches of the queue have made in the complete halves'
        // room, unless a cursor says that they did not fit, and queens of the last columns. It writes the first word of `found` and its group's two, of which it has as many
        // groups as are launched at most. The scratch holds `tables` tables of 32 entries of `width` vectors, and a word of 64
        // bits for each item.
        let launched = unsafe {
            ExecuteKernel::new(&self.join)
                .set_arg(&self.sets[&geometry.rows].there)
                .set_arg(&(sets.start as cl_uint))
                .set_arg(&(sets.end as cl_uint))
                .set_arg(&(parts as cl_uint))
                .set_arg(&((1u32 << geometry.rows) - 1))
                .set_arg(&self.lists[0])
                .set_arg(&self.lists[1])
                .set_arg(&complete[0].buffer)
                .set_arg(&complete[1].buffer)
                .set_arg(&self.cursors)
                .set_arg(&last[0])
                .set_arg(&last[1])
                .set_arg(&(complete[0].room as cl_uint))
                .set_arg(&(complete[1].room as cl_uint))
                .set_arg(&self.queens)
                .set_arg(&queens[0])
                .set_arg(&queens[1])
                .set_arg(&geometry.meeting)
                .set_arg(&cl_uint::from(geometry.is_marked))
                .set_arg(&geometry.tables)
                .set_arg(&(width as cl_uint))
                .set_arg(&self.found)
                .set_arg_local_buffer(shape.scratch(geometry.tables))
                .set_global_work_size(shape.group * groups)
                .set_local_work_size(shape.group)
                .enqueue_nd_range(&self.queue.commands)
        };
        session.launched(&self.queue, launched)
    }
}
