//! The rows of a descent as the device reads them.

use opencl3::types::cl_uint;
use queens::kernel::search::{Descent, RowStep};

/// Rows of a descent on the device, and so children of a state at most; half of a group, which adds up in their room. The same as
/// in `search.cl`.
pub const ROWS: usize = 32;

/// Four words, as the device reads them at once.
pub type Vector = [cl_uint; 4];

/// What happens between a row and the next one, packed as `search.cl` says.
pub type Row = [Vector; 2];

/// A row of a descent with these columns.
fn packed(step: &RowStep, columns: u32) -> Row {
    let (looks, by_columns) = step.looked_at();
    let [first, second, third, fourth, fifth] = step.looks;
    let how = [step.distance, step.left as u32, looks as u32, by_columns.into()];
    let ahead = [second, third, fourth, fifth].map(|look| look.distance);
    [[bytes(how), bytes(ahead), first.open, second.open], [third.open, fourth.open, fifth.open, columns]]
}

/// Four small numbers in a word.
fn bytes(numbers: [u32; 4]) -> cl_uint {
    numbers.iter().rev().fold(0, |word, number| word << 8 | number)
}

/// The rows of a descent.
pub fn packed_rows(descent: &Descent) -> [Row; ROWS] {
    let mut rows = [Row::default(); ROWS];
    for (row, step) in rows.iter_mut().zip(&descent.steps) {
        *row = packed(step, descent.columns);
    }
    rows
}
