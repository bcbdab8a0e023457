//! The bits that a queen on each square of a half tests and sets.
//!
//! A half board is built column by column from its outer edge to the cut. The rest of the board depends only
//! on the rows and diagonals that it uses. Its *signature word* holds one bit for each diagonal that matters:
//!
//! - The *shared* diagonals have open squares in both halves. They are the upper five bits of each byte, the
//!   same bits in both halves. A left and a right half fit if their words have no bit in common.
//! - The remaining bits belong to diagonals that have open squares in several columns of one half only. They
//!   are dropped when that half is complete.
//! - If there are too many shared diagonals, some of them are left to the [sieve](super::sieve). They use
//!   other bits, also the same in both halves.
//! - The [boundary bits](super::boundary) are shared bits without a diagonal, set by the outermost queen.

use crate::kernel::meet::diagonals::diagonal;
use crate::squares::Squares;

/// The bits that a queen on one square tests and sets in the words of its half.
#[derive(Clone, Copy, Debug, Default)]
pub struct QueenBits {
    /// The bits that must be clear.
    pub test: u64,
    /// The bits that are then set.
    pub set: u64,
}

impl QueenBits {
    /// Both queens at once.
    #[must_use]
    #[inline(always)]
    pub fn and(self, other: Self) -> Self {
        Self { test: self.test | other.test, set: self.set | other.set }
    }
}

/// One half, its columns counted from the outer edge to the cut. Rows are numbered by their place in the cut's order.
#[derive(Debug)]
pub struct Half {
    /// For each column, the rows whose squares are open.
    pub open: Vec<u32>,
    /// For each column and row, what a queen there does.
    pub queens: Vec<[QueenBits; 32]>,
    /// For each column, and after the last, the rows with an open square there or in a later column.
    pub later: Vec<u32>,
    /// For each row of the other half's last column, the bits of the diagonals through that square.
    pub attacked: [u64; 32],
    /// For each row of the last column, the compatible rows of the last column but one.
    pub pairs: [u32; 32],
    /// For each row of the last column and each row of the last but one, the rows of the column before that are
    /// compatible with both.
    pub triples: Box<[[u32; 32]; 32]>,
}

impl Half {
    /// The half with these columns (three at least), which looks at that column across the cut.
    pub fn new(squares: &Squares, order: &[u8], columns: &[u8], across: u8, bits: &[[u64; 64]; 2]) -> Self {
        let both_bits =
            |row, col| (0..2).fold(0, |both, kind| both | bits[kind][diagonal(squares.n(), kind, row, col)]);
        let mut open = Vec::new();
        let mut queens = Vec::new();
        for &col in columns {
            let mut of_column = [QueenBits::default(); 32];
            let mut rows = 0;
            for (i, &row) in order.iter().enumerate().filter(|(_, row)| squares.is_open(**row, col)) {
                let both = both_bits(row, col);
                of_column[i] = QueenBits { test: both, set: both };
                rows |= 1 << i;
            }
            open.push(rows);
            queens.push(of_column);
        }
        let mut attacked = [0; 32];
        order.iter().zip(&mut attacked).for_each(|(row, bits)| *bits = both_bits(*row, across));
        let mut later = vec![0; columns.len() + 1];
        for column in (0..columns.len()).rev() {
            later[column] = later[column + 1] | open[column];
        }
        let [first, second, third] = columns[columns.len() - 3..] else { unreachable!("three columns") };
        let apart = |a: usize, b: usize, distance: u8| a != b && order[a].abs_diff(order[b]) != distance;
        let rows_apart = |from: usize, distance: u8, among: u32| {
            (0..order.len())
                .filter(|row| among >> row & 1 == 1 && apart(*row, from, distance))
                .fold(0, |a, r| a | 1 << r)
        };
        let mut pairs = [0; 32];
        let mut triples = Box::new([[0; 32]; 32]);
        for z in (0..order.len()).filter(|z| open[columns.len() - 1] >> z & 1 == 1) {
            pairs[z] = rows_apart(z, second.abs_diff(third), open[columns.len() - 2]);
            for y in (0..order.len()).filter(|y| pairs[z] >> y & 1 == 1) {
                let beside_z = rows_apart(z, first.abs_diff(third), open[columns.len() - 3]);
                triples[z][y] = rows_apart(y, first.abs_diff(second), beside_z);
            }
        }
        Self { open, queens, later, attacked, pairs, triples }
    }

    /// Lets the outermost queen set a bit if it stands in one of these rows of the board.
    pub fn mark_outermost(&mut self, order: &[u8], rows: u32, bit: u64) {
        for (queen, _) in self.queens[0].iter_mut().zip(order).filter(|(_, row)| rows >> **row & 1 == 1) {
            queen.set |= bit;
        }
    }

    /// The number of columns.
    pub fn columns(&self) -> usize {
        self.open.len()
    }
}
