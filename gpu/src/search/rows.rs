//! The rows of a descent as the device reads them.

use opencl3::types::cl_uint;
use queens::kernel::search::{Descent, RowStep};

/// Rows of a descent on the device at most.
pub const ROWS: usize = 32;

/// Vectors of a row; the same as in `search.cl`.
pub const VECTORS: usize = 5;

/// Four words, as the device reads them at once.
pub type Vector = [cl_uint; 4];

/// What happens between a row and the next one, packed as `search.cl` says.
pub type Row = [Vector; VECTORS];

/// A row of a descent with these columns.
fn packed(step: &RowStep, columns: u32) -> Row {
    let mut row = step.looks.map(|look| [1 << look.distance, look.distance, look.open, columns]);
    row[0] = [1 << step.distance, step.distance, step.looks[0].open, step.left as u32];
    row
}

/// The rows of a descent.
pub fn packed_rows(descent: &Descent) -> [Row; ROWS] {
    let mut rows = [Row::default(); ROWS];
    for (row, step) in rows.iter_mut().zip(&descent.steps) {
        *row = packed(step, descent.columns);
    }
    rows
}
