//! The free rows of a position, or its columns, prepared for the search: from row to row, what a pass needs to know.

use crate::rows::FreeRow;

/// The most rows that a child is looked at.
pub const MOST_LOOKS: usize = 5;

/// The fewest free rows that the search can begin with.
pub(super) const FEWEST_ROWS: usize = 3;

/// One row that a child is looked at.
#[derive(Clone, Copy, Debug, Default)]
pub struct Look {
    /// How far below the child's next row, at most 31.
    pub distance: u32,
    /// The squares that the placed queens leave open.
    pub open: u32,
}

/// The step of states from one level to the next.
#[derive(Clone, Copy, Debug)]
pub struct RowStep {
    /// How far the next free row is, at most 31.
    pub distance: u32,
    /// The next free rows.
    pub looks: [Look; MOST_LOOKS],
    /// The number of free rows that the children have left.
    pub left: usize,
}

impl RowStep {
    /// The look-ahead of a child: the number of next rows that must each have a free square, and whether each
    /// column without a queen must have one, too. The latter applies if these rows are the last ones. A child with
    /// two rows left is counted at once instead.
    pub fn looked_at(&self) -> (usize, bool) {
        match self.left {
            3..=5 => (self.left, true),
            6 => (3, false),
            _ => (2, false),
        }
    }
}

/// The free rows of a position.
#[derive(Clone, Debug)]
pub struct Descent {
    /// For each free row but the last, the way to the next one.
    pub steps: Vec<RowStep>,
    /// The open squares of the first free row.
    pub first: u32,
    /// The columns that need a queen.
    pub columns: u32,
}

impl Descent {
    /// Prepares at least [`FEWEST_ROWS`] free rows; `None` if there is a column that no queen can ever take.
    pub fn new(rows: &[FreeRow]) -> Option<Self> {
        debug_assert!(rows.len() >= FEWEST_ROWS);
        let columns = rows.iter().fold(0, |columns, row| columns | !row.blocked);
        // As many columns as rows are without a placed queen, and only those can have an open square.
        if (columns.count_ones() as usize) < rows.len() {
            return None;
        }
        let steps = rows.windows(2).enumerate().map(|(i, pair)| RowStep {
            distance: u32::from(pair[1].row - pair[0].row),
            looks: std::array::from_fn(|ahead| match rows.get(i + 1 + ahead) {
                Some(row) => Look { distance: u32::from(row.row - pair[1].row), open: !row.blocked },
                None => Look::default(),
            }),
            left: rows.len() - 1 - i,
        });
        Some(Self { steps: steps.collect(), first: !rows[0].blocked, columns })
    }
}
