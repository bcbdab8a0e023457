//! A cut in the format of the device: the tested and set bits of the queens of each column. The bits by which
//! halves are joined first come first.

use opencl3::types::{cl_uint, cl_ulong};
use queens::kernel::meet::Cut;

/// The bits that a queen on a square tests, and the bits that it sets; the same layout as in `meet.cl`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Queen {
    test: cl_ulong,
    set: cl_ulong,
}

/// The most rows of a board, and the queens of each column on the device.
pub const ROWS: usize = 32;

/// Columns of a half at most.
pub const COLUMNS: usize = 16;

/// The bits covered by a table.
const BITS_OF_TABLE: u32 = 5;

/// The first of the bits for the row of a complete half's last queen.
const MARK: u32 = 59;

/// A cut as the device has it.
#[derive(Debug)]
pub struct Geometry {
    /// The free rows.
    pub rows: u32,
    /// For each half and column, the rows where a queen may stand.
    pub open: [Vec<cl_uint>; 2],
    /// For each half, each of [`COLUMNS`] columns and each of [`ROWS`] rows, the queen there; those of a last column set only
    /// what a complete half keeps.
    pub queens: Vec<Queen>,
    /// The bits that halves meet by, which are the first ones.
    pub meeting: cl_ulong,
    /// Whether complete halves have the row of their last queen in their highest bits.
    pub is_marked: bool,
    /// How many tables hold the bits that halves meet by.
    pub tables: cl_uint,
}

impl Geometry {
    /// The geometry of a cut.
    pub fn of(cut: &Cut) -> Self {
        let places = places(cut.meeting);
        let moved = |bits: u64| {
            (0..64).filter(|bit| bits >> bit & 1 == 1).fold(0, |moved, bit| moved | 1 << places[bit])
        };
        let (meeting, tables) = (moved(cut.meeting), cut.meeting.count_ones().div_ceil(BITS_OF_TABLE).max(1));
        let is_marked = tables * BITS_OF_TABLE <= MARK;
        let mut queens = vec![Queen::default(); 2 * COLUMNS * ROWS];
        for (half, queens) in cut.halves.iter().zip(queens.chunks_mut(COLUMNS * ROWS)) {
            for (there, here) in half.queens.iter().flatten().zip(&mut *queens) {
                *here = Queen { test: moved(there.test), set: moved(there.set) };
            }
            let last = ROWS * (half.columns() - 1);
            for (row, queen) in (0..).zip(&mut queens[last..last + ROWS]) {
                queen.set = queen.set & meeting | if is_marked { row << MARK } else { 0 };
            }
        }
        Self {
            rows: cut.rows(),
            open: [0, 1].map(|side: usize| cut.halves[side].open.clone()),
            queens,
            meeting,
            is_marked,
            tables,
        }
    }

    /// The columns of a half.
    pub fn columns(&self, side: usize) -> usize {
        self.open[side].len()
    }
}

/// For each bit of a word its new place, so that the bits of `first` come first.
fn places(first: u64) -> [u32; 64] {
    let mut bits: Vec<usize> = (0..64).collect();
    bits.sort_unstable_by_key(|bit| (first >> bit & 1 == 0, *bit));
    let mut places = [0; 64];
    bits.into_iter().zip(0..).for_each(|(bit, place)| places[bit] = place);
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chosen_bits_come_first_and_places_are_unique() {
        let places = places(0x8000_0000_0000_f10a);
        assert_eq!([1, 3, 8, 12, 63].map(|bit: usize| places[bit]), [0, 1, 2, 3, 7]);
        let mut all = places;
        all.sort_unstable();
        assert!(all.into_iter().eq(0..64));
    }
}
