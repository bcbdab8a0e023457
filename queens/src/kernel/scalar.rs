//! The plain row-by-row search on 32-bit words. It is simple enough to be trusted, and the kernels are tested
//! against it.
//!
//! ```text
//! search(i, cols, d1, d2):                # the i-th row without a placed queen
//!     for each free square of row i:      # free = not (cols | d1 | d2 | K[i])
//!         place a queen there; if i was the last row, count 1
//!         else search(i + 1) with the diagonals moved on by the distance of the two rows
//! ```
//!
//! Everything that the placed queens forbid in row i is one constant `K[i]`, and rows that they occupy are left out.

use crate::kernel::contract::{Count, Stop};
use crate::position::Position;
use crate::rows::{FreeRow, free_rows};

/// Nodes between two looks at the stop flag: well under a millisecond.
const POLL: u64 = 1 << 16;

/// The completions of the position, or nothing if it was stopped. Kernels are tested against it; it has node counts
/// of its own.
pub fn count(position: &Position, stop: &Stop) -> Option<Count> {
    sum(free_rows(position).map(|rows| count_rows(&rows, stop)))
}

/// The ways to fill these rows, or nothing if it was stopped.
pub(super) fn count_rows(rows: &[FreeRow], stop: &Stop) -> Option<Count> {
    let mut search = Recursion { rows, stop, completions: 0, nodes: 0, next_poll: POLL };
    if rows.is_empty() {
        search.completions = 1;
    } else {
        search.descend(0, 0, 0, 0)?;
    }
    Some(Count { completions: search.completions, nodes: search.nodes })
}

/// Adds up what was found around each pair of boundary queens; nothing if one of them was stopped.
pub(super) fn sum(mut counts: impl Iterator<Item = Option<Count>>) -> Option<Count> {
    counts.try_fold(Count::default(), |total, count| Some(total.plus(count?)))
}

struct Recursion<'a> {
    rows: &'a [FreeRow],
    stop: &'a Stop,
    completions: u64,
    nodes: u64,
    next_poll: u64,
}

impl Recursion<'_> {
    /// Counts the ways to fill the rows from `i` on; `cols`, `d1`, `d2` are the squares of row `i` that queens in
    /// searched rows attack along columns, falling and rising diagonals. `None` if stopped.
    fn descend(&mut self, i: usize, cols: u32, d1: u32, d2: u32) -> Option<()> {
        self.nodes += 1;
        if self.nodes == self.next_poll {
            self.next_poll += POLL;
            if self.stop.is_stopped() {
                return None;
            }
        }
        let FreeRow { row, blocked } = self.rows[i];
        let mut free = !(cols | d1 | d2 | blocked);
        if i + 1 == self.rows.len() {
            let found = u64::from(free.count_ones());
            self.completions = self.completions.checked_add(found).expect("a unit's count fits 64 bits");
            return Some(());
        }
        let step = self.rows[i + 1].row - row;
        while free != 0 {
            let queen = free & free.wrapping_neg();
            free ^= queen;
            self.descend(i + 1, cols | queen, shl(d1 | queen, step), shr(d2 | queen, step))?;
        }
        Some(())
    }
}

/// `word << by`, nothing left of it from 32 on.
fn shl(word: u32, by: u8) -> u32 {
    word.checked_shl(u32::from(by)).unwrap_or(0)
}

/// `word >> by`, nothing left of it from 32 on.
fn shr(word: u32, by: u8) -> u32 {
    word.checked_shr(u32::from(by)).unwrap_or(0)
}
