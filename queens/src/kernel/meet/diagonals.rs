//! Which diagonals matter, and which bit of a word stands for each.

use crate::kernel::meet::uncut::Uncut;
use crate::squares::Squares;

/// The number of the diagonal of one kind (0 falling, 1 rising) through a square.
#[inline]
pub fn diagonal(n: u8, kind: usize, row: u8, col: u8) -> usize {
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
    ///
    /// # Errors
    /// If they are more than a word has bits for.
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
