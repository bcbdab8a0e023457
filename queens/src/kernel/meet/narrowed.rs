//! Positions whose diagonals need more bits than a word has, in pieces that need fewer.
//!
//! ```text
//! narrowed(position):
//!     choose the row, open on both sides of the cut, whose queen's side leaves the fewest diagonals to tell apart
//!     the position with that queen left of the cut, and with it right of the cut
//! ```
//!
//! Passes fix the sides of rows themselves, so the pieces together take about as long as the whole. A further
//! queen would make the halves again for each of its squares. Positions are narrowed if a few rows suffice.

use crate::kernel::meet::boundary::restrict;
use crate::kernel::meet::diagonals::diagonal_bits;
use crate::position::Position;
use crate::squares::Squares;

/// The bits of a word: those of the diagonals that matter, and of the boundary.
pub const WORD: u32 = u64::BITS;

/// If more rows would be needed by what the first of them saves, a queen is placed instead.
const MOST_ROWS: u32 = 2;

/// The bits that the diagonals and the boundary of a position need; `0` if it has no completions.
fn bits(position: &Position) -> u32 {
    restrict(position).map_or(0, |restriction| {
        let squares = &restriction.squares;
        diagonal_bits(squares, &squares.halves()) + restriction.forbidden.len() as u32
    })
}

/// The position with the queen of one row left of the cut, and with it right of the cut. `None` if that would
/// help too little.
pub fn narrowed(position: &Position) -> Option<[Position; 2]> {
    let squares = Squares::of(position);
    let sides = squares.halves().map(|columns| columns.iter().fold(0, |side, col| side | 1 << col));
    let is_on_both = |row: &u8| sides.iter().all(|side| squares.open_columns(*row) & side != 0);
    let pieces = |row| sides.map(|side| position.clone().with_row_within(row, side));
    // The sum of both pieces.
    let needed = |row| pieces(row).iter().map(bits).sum::<u32>();
    let (after, row) = squares.rows().filter(is_on_both).map(|row| (needed(row), row)).min()?;
    let now = bits(position);
    let saved = (2 * now).saturating_sub(after);
    (now > WORD && saved * MOST_ROWS >= 2 * (now - WORD)).then(|| pieces(row))
}
