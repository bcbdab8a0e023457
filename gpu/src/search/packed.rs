//! Descents in the format of the device, and its reports about them.

use opencl3::types::cl_uint;
use queens::kernel::search::{Descent, RowStep};

use super::expand::Front;

/// Rows of a descent on the device at most; the same as in `search.cl`.
pub const ROWS: usize = 32;

/// Vectors of a row; the same as in `search.cl`.
pub const VECTORS: usize = 5;

/// Four words, as the device reads them at once.
pub type Vector = [cl_uint; 4];

/// The step from a row to the next one, packed as in `search.cl`.
pub type Row = [Vector; VECTORS];

/// The state of a descent, shared by the host and the kernels: the same as in `search.cl`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OnDevice {
    /// Its first row among those of all descents.
    pub table: cl_uint,
    /// The row that its states are before, by its number among the free ones.
    pub place: cl_uint,
    /// The most rows that the launches which widen it may do from there on.
    pub rows: cl_uint,
    /// How many states there are, where they are (among the host's, or in the first or second room), and from which one on.
    pub states: cl_uint,
    pub room: cl_uint,
    pub first: cl_uint,
    /// The number of these states that have been taken, or a little more.
    pub taken: cl_uint,
    /// The finished groups of all launches that widen it.
    pub ended: cl_uint,
    /// For each row how many states there are before it: 0 behind one where they were not moved on.
    pub made: [cl_uint; ROWS],
}

/// The fewest steps of a state that is moved on breadth first. A group would spend more time waiting for
/// states with fewer steps than counting them.
const FEWEST_STEPS: usize = 9;

impl OnDevice {
    /// A descent as the host hands it over, with its rows from that one on, and its states from that one.
    pub fn begun(front: &Front<'_>, table: usize, first: usize) -> Self {
        let rows = (front.descent.steps.len() + 1).saturating_sub(FEWEST_STEPS + front.level);
        let states = front.states.len() as cl_uint;
        let mut made = [0; ROWS];
        made[front.level] = states;
        Self {
            table: table as cl_uint,
            place: front.level as cl_uint,
            rows: rows as cl_uint,
            states,
            room: 0,
            first: first as cl_uint,
            taken: 0,
            ended: 0,
            made,
        }
    }

    /// The descent after the device reported, in `made`, the number of states before each row. The descent
    /// continues at the last row to which all states were moved on and whose states fit in `room`. Returns
    /// the nodes on the way too; `None` if the numbers are impossible.
    pub fn widened(
        mut self,
        made: &[cl_uint; ROWS],
        descent: &Descent,
        index: usize,
        room: usize,
    ) -> Option<(u64, Self)> {
        let (mut place, mut nodes) = (self.place as usize, 0);
        let moved_on = place + 1..=place + self.rows as usize;
        // A state has at most one child in each column.
        let can_be = |row: usize| match row {
            row if moved_on.contains(&row) => {
                u64::from(made[row]) <= u64::from(made[row - 1]) << u32::BITS.ilog2()
            }
            row => made[row] == self.made[row],
        };
        if !(0..ROWS).all(can_be) {
            return None;
        }
        self.made = *made;
        // Where there is none behind they were not moved on, or nothing becomes of them: then that is found once more.
        while place + 1 < ROWS && (1..=room as cl_uint).contains(&self.made[place + 1]) {
            place += 1;
            self.states = self.made[place];
            self.room = 1 + self.room % 2;
            self.first = (index * room) as cl_uint;
            nodes += u64::from(self.states);
        }
        self.place = place as cl_uint;
        self.rows = rows_of_device(descent, place) as cl_uint;
        Some((nodes, self))
    }
}

/// How many rows the device does one by one from that one on: it does the last two at once with the row before them.
pub fn rows_of_device(descent: &Descent, place: usize) -> usize {
    descent.steps.len() - 1 - place
}

/// A row of a descent with these columns.
fn packed(step: &RowStep, columns: u32) -> Row {
    let mut row = step.looks.map(|look| [1 << look.distance, look.distance, look.open, columns]);
    row[0] = [1 << step.distance, step.distance, step.looks[0].open, step.left as u32];
    row
}

/// The rows of a descent.
pub fn packed_rows(descent: &Descent) -> impl Iterator<Item = Row> {
    descent.steps.iter().map(|step| packed(step, descent.columns))
}
