//! What a queen on each square of a half tests and sets.
//!
//! A half board is built column by column from its outer edge to the cut. What the rest of the board needs to know of
//! it is which rows it uses and which diagonals. Its *signature word* holds one bit for each diagonal that matters:
//!
//! - the *shared* diagonals, which have open squares in both halves, in the upper five bits of each byte: the same
//!   bits in both halves, so that a left and a right half fit when their words have no bit in common;
//! - the diagonals that have open squares in several columns of this half only, in the bits left over; they are
//!   dropped when the half is complete;
//! - the [boundary bits](super::boundary), shared bits that no diagonal has, set by the outermost queen.

use crate::kernel::meet::cut::Uncut;
use crate::squares::Squares;

/// What a queen on one square tests and sets in the words of its half.
#[derive(Clone, Copy, Debug, Default)]
pub struct Step {
    /// The bits that must be clear.
    pub test: u64,
    /// The bits that are then set.
    pub set: u64,
}

impl Step {
    /// Both queens at once.
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
    pub steps: Vec<[Step; 32]>,
    /// For each column, and after the last, the rows with an open square there or in a later column.
    pub later: Vec<u32>,
    /// For each row of the last column, the rows of the last but one that go with it.
    pub pairs: [u32; 32],
    /// For each row of the last column and each of the last but one, the rows of the column before that go with both.
    pub triples: Box<[[u32; 32]; 32]>,
}

impl Half {
    /// The half with these columns (three at least).
    pub fn new(squares: &Squares, order: &[u8], columns: &[u8], bits: &[[u64; 64]; 2]) -> Self {
        let mut open = Vec::new();
        let mut steps = Vec::new();
        for &col in columns {
            let mut of_column = [Step::default(); 32];
            let mut rows = 0;
            for (i, &row) in order.iter().enumerate().filter(|(_, row)| squares.is_open(**row, col)) {
                let both =
                    (0..2).fold(0, |both, kind| both | bits[kind][diagonal(squares.n(), kind, row, col)]);
                of_column[i] = Step { test: both, set: both };
                rows |= 1 << i;
            }
            open.push(rows);
            steps.push(of_column);
        }
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
        Self { open, steps, later, pairs, triples }
    }

    /// Lets the outermost queen set a bit if it stands in one of these rows of the board.
    pub fn mark_outermost(&mut self, order: &[u8], rows: u32, bit: u64) {
        for (step, _) in self.steps[0].iter_mut().zip(order).filter(|(_, row)| rows >> **row & 1 == 1) {
            step.set |= bit;
        }
    }

    /// The number of columns.
    pub fn columns(&self) -> usize {
        self.open.len()
    }
}

/// The number of the diagonal of one kind (0 falling, 1 rising) through a square.
fn diagonal(n: u8, kind: usize, row: u8, col: u8) -> usize {
    usize::from(if kind == 0 { row + n - 1 - col } else { row + col })
}

/// The bits of the diagonals that matter.
#[derive(Debug)]
pub struct Diagonals {
    /// For each half, kind and diagonal, its bit; 0 where it does not matter.
    bits: [[[u64; 64]; 2]; 2],
    shared: usize,
    boundary: usize,
}

/// Shared bits in a word: five in each byte.
const SHARED: usize = 40;

/// Boundary bits that are always asked for in vain before a row more is placed.
const BOUNDARY: usize = 8;

fn shared_bit(i: usize) -> u64 {
    1 << (8 * (i / 5) + 3 + i % 5)
}

impl Diagonals {
    /// Numbers the diagonals that matter and as many boundary bits.
    pub fn number(
        squares: &Squares,
        order: &[u8],
        halves: &[Vec<u8>; 2],
        boundary: usize,
    ) -> Result<Self, Uncut> {
        // For each half, kind and diagonal, the number of its open squares.
        let mut squares_on = [[[0; 64]; 2]; 2];
        for (side, columns) in halves.iter().enumerate() {
            for (&col, &row) in columns.iter().flat_map(|col| order.iter().map(move |row| (col, row))) {
                if squares.is_open(row, col) {
                    (0..2)
                        .for_each(|kind| squares_on[side][kind][diagonal(squares.n(), kind, row, col)] += 1);
                }
            }
        }
        let all = || (0..2).flat_map(|kind| (0..64).map(move |d| (kind, d)));
        let mut bits = [[[0; 64]; 2]; 2];
        let mut shared = 0;
        for (kind, d) in
            all().filter(|(kind, d)| squares_on[0][*kind][*d] > 0 && squares_on[1][*kind][*d] > 0)
        {
            if shared == SHARED {
                return Err(Uncut::TooWide);
            }
            bits[0][kind][d] = shared_bit(shared);
            bits[1][kind][d] = shared_bit(shared);
            shared += 1;
        }
        if shared + boundary > SHARED {
            return Err(if shared > SHARED - BOUNDARY { Uncut::TooWide } else { Uncut::TooManyPairs });
        }
        let numbered = Self { bits, shared: shared + boundary, boundary };
        let used = numbered.shared_bits();
        for (bits, squares_on) in bits.iter_mut().zip(squares_on) {
            let mut unused = (0..64).map(|i| 1 << i).filter(|bit| used & bit == 0);
            for (kind, d) in all().filter(|(kind, d)| squares_on[*kind][*d] > 1) {
                if bits[kind][d] == 0 {
                    bits[kind][d] = unused.next().ok_or(Uncut::TooWide)?;
                }
            }
        }
        Ok(Self { bits, ..numbered })
    }

    /// For each kind and diagonal its bit in the words of one half.
    pub fn of_half(&self, side: usize) -> &[[u64; 64]; 2] {
        &self.bits[side]
    }

    /// The bit for boundary restriction `i`.
    pub fn boundary_bit(&self, i: usize) -> u64 {
        shared_bit(self.shared - self.boundary + i)
    }

    /// All shared bits.
    pub fn shared_bits(&self) -> u64 {
        (0..self.shared).fold(0, |bits, i| bits | shared_bit(i))
    }

    /// The bytes of a word that hold shared bits.
    pub fn bytes(&self) -> usize {
        self.shared.div_ceil(5)
    }
}
