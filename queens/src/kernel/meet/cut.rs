//! A position cut in two halves, with its rows in order and its diagonals numbered.

use std::cmp::Reverse;

use crate::kernel::meet::boundary;
use crate::kernel::meet::diagonals::{Diagonals, SignatureBits};
use crate::kernel::meet::half::Half;
use crate::kernel::meet::row_sets::RowSets;
use crate::kernel::meet::uncut::Uncut;
use crate::position::Position;
use crate::squares::Squares;

/// A position, cut and numbered.
#[derive(Debug)]
pub struct Cut {
    /// The numbering of the sets of free rows.
    pub sets: RowSets,
    /// The left and the right half.
    pub halves: [Half; 2],
    /// The bits of signatures that decide whether halves fit, unless the cut is wide.
    pub(super) shared: SignatureBits,
    /// The bits of signatures that decide whether halves fit after the sieve.
    pub(super) joint: SignatureBits,
    /// Whether halves must go through the sieve.
    pub(super) is_wide: bool,
    /// All bits that decide whether halves fit, in signatures or not.
    pub meeting: u64,
    /// How many of the last rows (the highest bits of a set) fit into one half only.
    pub forced: u32,
    /// The forced rows that fit into the left half, bit 0 for the first forced row.
    pub forced_left: u32,
}

/// The fewest rows without a queen that a position to cut must have: three columns in each half.
pub const FEWEST_ROWS: usize = 6;

/// Rows in the tail of a set: the lists of one head and one size lie together, 35 at most.
const TAIL: u32 = 7;

/// Rows treated as forced at most, so that heads stay few.
const MOST_FORCED: usize = 12;

impl Cut {
    /// Cuts the position. It must have [`FEWEST_ROWS`] rows without a queen, and queens that do not attack each other.
    ///
    /// # Errors
    /// If it has no completions, or if it must be divided first.
    pub fn new(position: &Position) -> Result<Self, Uncut> {
        let restriction = boundary::restrict(position)?;
        let squares = &restriction.squares;
        let columns = squares.halves();
        let (order, forced) = order_rows(squares, &columns)?;
        let first_forced = order.len() - forced;
        let fits_left = |row: u8| columns[0].iter().any(|col| squares.is_open(row, *col));
        let forced_left =
            (0..forced).filter(|i| fits_left(order[first_forced + i])).fold(0, |mask, i| mask | 1 << i);
        let diagonals = Diagonals::number(squares, &order, &columns, restriction.forbidden.len())?;
        let halves = [0, 1].map(|side| {
            let across = columns[1 - side].last().expect("a half has three columns");
            let mut half = Half::new(squares, &order, &columns[side], *across, diagonals.of_half(side));
            for (i, forbidden) in restriction.forbidden.iter().enumerate() {
                half.mark_outermost(&order, [forbidden.0, forbidden.1][side], diagonals.boundary_bit(i));
            }
            half
        });
        let rows = order.len() as u32;
        Ok(Self {
            sets: RowSets::new(rows, TAIL.min(rows - forced as u32)),
            halves,
            shared: diagonals.shared(),
            joint: diagonals.joint(),
            is_wide: diagonals.is_wide(),
            meeting: diagonals.meeting(),
            forced: forced as u32,
            forced_left,
        })
    }

    /// The number of free rows, and of the bits in a set of them.
    pub fn rows(&self) -> u32 {
        self.sets.rows()
    }
}

/// The free rows, lowest bit of a set first, and how many of the last ones are forced.
///
/// Rows that fit into one half only come last. Before them come the outer rows. Passes fix on which side the
/// last rows fall. Outer rows were as good to fix as rows with few open squares near the cut, and better at n
/// = 18.
fn order_rows(squares: &Squares, columns: &[Vec<u8>; 2]) -> Result<(Vec<u8>, usize), Uncut> {
    let sides =
        |row: u8| columns.iter().filter(|half| half.iter().any(|col| squares.is_open(row, *col))).count();
    let mut order: Vec<u8> = squares.rows().collect();
    if order.iter().any(|row| sides(*row) == 0) {
        return Err(Uncut::Impossible);
    }
    let from_border = |row: u8| row.min(squares.n() - 1 - row);
    order.sort_unstable_by_key(|row| (sides(*row) == 1, Reverse(from_border(*row)), *row));
    let forced = order.iter().filter(|row| sides(**row) == 1).count();
    Ok((order, forced.min(MOST_FORCED)))
}
