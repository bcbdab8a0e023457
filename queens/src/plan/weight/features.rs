//! The features of a position that predict the time of the method meet.
//!
//! ```text
//! features(position):
//!     place the queens of the central columns that the kernel places, a few for each, each standing for as many
//!     of every position to be cut add up: how many half boards the mean-field estimate expects,
//!                                         how many completions row by row, and column by column,
//!                                         by how many bits its diagonals are too many for a word
//! ```
//!
//! The first three, the number of cuts and that of the boundary pairs are taken as logarithms. If a word
//! lacks two or more bits for the diagonals, the sides of a few rows do not always suffice. Then the kernel
//! places another queen, which takes longer.

use crate::bits::set_bits;
use crate::board::Square;
use crate::estimate::Estimate;
use crate::kernel::meet::{WORD, boundary_bits, diagonal_bits, free_rows_at_best, keep_allowed};
use crate::plan::geometry::{empty_columns, empty_rows};
use crate::position::Position;
use crate::squares::Squares;

/// How many they are.
pub const FEATURES: usize = 6;

/// By so many bits too many, diagonals are hardly a burden.
const HARMLESS: u32 = 1;

/// If the boundary needs more bits, the kernel counts some of the pairs at a time.
const MOST_BOUNDARY_BITS: u32 = 8;

/// The maximum numbers of squares of a column and of cuts that are evaluated.
const FEW: usize = 4;
const MOST_CUTS: usize = 16;

/// The features of a position. `None` if it has no completions.
pub fn features(estimate: &Estimate, position: &Position) -> Option<[f64; FEATURES]> {
    let boundary = boundary_bits(position)?.min(MOST_BOUNDARY_BITS);
    let mut cuts = Cuts { estimate, boundary, sums: [0.0; 5] };
    cuts.add(position, 1.0, MOST_CUTS);
    let pairs = position.boundary().map_or(1, |pairs| pairs.iter().count());
    let [half_boards, by_rows, by_columns, number, too_many] = cuts.sums;
    let all = [half_boards, by_rows, by_columns, number, pairs as f64];
    if all.contains(&0.0) {
        return None;
    }
    let [half_boards, by_rows, by_columns, cuts, pairs] = all.map(f64::ln);
    Some([half_boards, by_rows, by_columns, cuts, pairs, too_many / number])
}

/// The properties of a position's cuts.
struct Cuts<'a> {
    estimate: &'a Estimate,
    boundary: u32,
    /// The half boards, the completions by rows and by columns, the number of cuts, and the bits that these have too many.
    sums: [f64; 5],
}

impl Cuts<'_> {
    /// Adds what a position comes to that stands for as many, as told by so many of its cuts at most.
    fn add(&mut self, position: &Position, alike: f64, most: usize) {
        let mut squares = Squares::of(position);
        if keep_allowed(position, &mut squares).is_err() {
            return;
        }
        let (board, queens) = (position.board(), position.queens());
        let (halves, rows) = (squares.halves(), squares.rows().count());
        if rows > usize::from(free_rows_at_best(board.n())) {
            let col = squares.next_central_column();
            let open: Vec<u8> = set_bits(squares.open_rows(col)).collect();
            let few = open.len().min(FEW).min(most);
            for i in 0..few {
                let row = open[(2 * i + 1) * open.len() / (2 * few)];
                let of_each = alike * open.len() as f64 / few as f64;
                self.add(&position.clone().with_queen(Square::new(row, col)), of_each, most / few);
            }
            return;
        }
        let half_boards =
            halves.iter().map(|columns| self.estimate.half_boards(&squares, columns, rows)).sum();
        let [by_rows, by_columns] = [empty_rows(board, queens), empty_columns(board, queens)]
            .map(|lines| self.estimate.completions(&lines));
        let bits = diagonal_bits(&squares, &halves) + self.boundary;
        let too_many = f64::from(bits.saturating_sub(WORD + HARMLESS));
        for (sum, value) in self.sums.iter_mut().zip([half_boards, by_rows, by_columns, 1.0, too_many]) {
            *sum += alike * value;
        }
    }
}
