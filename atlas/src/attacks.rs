//! The rows that a piece attacks in every column, looked up instead of worked out.

use crate::setting::Setting;

/// A row set for each column of the largest board.
pub(crate) type RowsByColumn = [u32; COLUMNS];
/// The columns of the largest board, whose rows fit one word.
pub(crate) const COLUMNS: usize = u32::BITS as usize;

/// The rows attacked by a piece in each row: `[row][COLUMNS + d]` are those d columns further right, `[row][COLUMNS - d]`
/// those further left. A slice of it lies over all columns of the board.
#[derive(Clone, Debug)]
pub(crate) struct AttackTable(Vec<[u32; 2 * COLUMNS]>);

impl AttackTable {
    /// The attacks between squares in that setting.
    pub(crate) fn of(setting: Setting) -> Self {
        let n = setting.board.n();
        let mut attacks = vec![[0; 2 * COLUMNS]; usize::from(n)];
        for (row, distance) in (0..n).flat_map(|row| (1..n).map(move |distance| (row, distance))) {
            let attacked = setting.attacked_rows(row, distance);
            attacks[usize::from(row)][COLUMNS + usize::from(distance)] = attacked;
            // Attacks are mutual.
            bits(attacked)
                .for_each(|other| attacks[other as usize][COLUMNS - usize::from(distance)] |= 1 << row);
        }
        Self(attacks)
    }

    /// The rows attacked in each column by a piece in `row` of `column`.
    pub(crate) fn over_columns(&self, row: u8, column: usize) -> &[u32] {
        &self.0[usize::from(row)][COLUMNS - column..2 * COLUMNS - column]
    }

    /// Whether no piece attacks another, given the rows by column.
    pub(crate) fn is_solution(&self, rows: &[u8]) -> bool {
        rows.iter().enumerate().all(|(column, row)| {
            let attacked = self.over_columns(*row, column);
            rows.iter().zip(attacked).skip(column + 1).all(|(row, attacked)| attacked >> row & 1 == 0)
        })
    }
}

/// The numbers of the bits that are set, ascending.
pub(crate) fn bits(mut set: u32) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let bit = (set != 0).then(|| set.trailing_zeros());
        set &= set.wrapping_sub(1);
        bit
    })
}
