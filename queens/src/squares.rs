//! Which squares of a position are open, and where kernels cut its columns.

use std::cmp::Ordering;

use crate::bits::set_bits;
use crate::position::Position;

/// The open squares of a position: those that are allowed and that no placed queen occupies or attacks.
#[derive(Clone, Debug)]
pub struct Squares {
    n: u8,
    /// For each row, its open columns.
    open: [u32; 32],
    free_rows: u32,
    free_columns: u32,
    /// Whether the odd column of an odd number goes to the left half.
    left_heavy: bool,
}

impl Squares {
    /// The open squares.
    pub fn of(position: &Position) -> Self {
        let board = position.board();
        let queens = position.queens();
        let free_rows = queens.iter().fold(board.full(), |free, q| free & !(1 << q.row));
        let free_columns = queens.iter().fold(board.full(), |free, q| free & !(1 << q.col));
        let mut open = [0; 32];
        for row in set_bits(free_rows) {
            let attacked = queens.iter().fold(0, |attacked, q| attacked | q.attacked_columns(row));
            open[usize::from(row)] = position.squares(row) & board.full() & !attacked;
        }
        // The mirror image is cut at the mirror image of the cut, so that both have the same halves.
        let mut columns: Vec<_> = queens.iter().map(|q| (q.row, q.col)).collect();
        let mut mirrored: Vec<_> = queens.iter().map(|q| (q.row, board.last() - q.col)).collect();
        columns.sort_unstable();
        mirrored.sort_unstable();
        Self { n: board.n(), open, free_rows, free_columns, left_heavy: columns > mirrored }
    }

    /// The size of the board.
    pub fn n(&self) -> u8 {
        self.n
    }

    /// The rows without a queen, ascending.
    pub fn rows(&self) -> impl Iterator<Item = u8> {
        set_bits(self.free_rows)
    }

    /// The columns without a queen: of the left half and of the right half, each from the outer edge to the cut.
    pub fn halves(&self) -> [Vec<u8>; 2] {
        let columns: Vec<u8> = set_bits(self.free_columns).collect();
        let odd = columns.len() % 2 == 1 && self.left_heavy;
        let left = columns.len() / 2 + usize::from(odd);
        [columns[..left].to_vec(), columns[left..].iter().rev().copied().collect()]
    }

    /// The middle column without a queen. Of two the one nearer to the middle of the board, and if they are equally near
    /// the one that is the mirror image of what the mirror image has.
    fn middle_column(&self) -> u8 {
        let columns: Vec<u8> = set_bits(self.free_columns).collect();
        let right = columns[columns.len() / 2];
        let left = columns[(columns.len() - 1) / 2];
        let from_middle = |col: u8| (2 * col).abs_diff(self.n - 1);
        match from_middle(left).cmp(&from_middle(right)) {
            Ordering::Less => left,
            Ordering::Equal if self.left_heavy => left,
            _ => right,
        }
    }

    /// The column whose queen is placed next where central ones are: the middle one, or one beside it that has fewer than half
    /// as many open squares. Units of a plan can have such a column, of whose squares others have the rest.
    pub fn next_central_column(&self) -> u8 {
        let middle = self.middle_column();
        let open = |col: u8| self.open_rows(col).count_ones();
        let left = set_bits(self.free_columns).take_while(|col| *col < middle).last();
        let right = set_bits(self.free_columns).find(|col| *col > middle);
        let narrow = left.into_iter().chain(right).filter(|col| 2 * open(*col) < open(middle));
        narrow.min_by_key(|col| (open(*col), (*col > middle) == self.left_heavy)).unwrap_or(middle)
    }

    /// Whether the square is open.
    pub fn is_open(&self, row: u8, col: u8) -> bool {
        self.open[usize::from(row)] >> col & 1 == 1
    }

    /// The open columns of a row.
    pub fn open_columns(&self, row: u8) -> u32 {
        self.open[usize::from(row)]
    }

    /// The rows of the open squares of a column.
    pub fn open_rows(&self, col: u8) -> u32 {
        self.rows().filter(|row| self.is_open(*row, col)).fold(0, |rows, row| rows | 1 << row)
    }

    /// Closes the squares of a column in all rows but these.
    pub fn keep_rows(&mut self, col: u8, rows: u32) {
        for row in set_bits(!rows) {
            self.open[usize::from(row)] &= !(1 << col);
        }
    }
}
