//! Which diagonals matter, and which bit of a word stands for each.
//!
//! A diagonal is *shared* if it has open squares in both halves. It is *joint* if that is still so without the last
//! column of each half, the one beside the cut: the [sieve](super::sieve) deals with the other shared diagonals. If all
//! of them fit a signature, they have bits there, so that halves may be joined with or without the sieve. Otherwise
//! they have bits outside of the signature. In any case a shared diagonal has the same bit in both halves.

use crate::bits::set_bits;
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
    /// For each half, kind and diagonal, its bit; 0 if it does not matter.
    bits: [[[u64; 64]; 2]; 2],
    /// The bits of all shared diagonals and of the boundary, the same in both halves.
    meeting: u64,
    /// How many of the first bits of a signature decide whether halves fit.
    shared: usize,
    /// How many of them decide it after the sieve. The last of these bits are the boundary bits.
    joint: usize,
    boundary: usize,
    is_wide: bool,
}

/// Some of the first bits of signatures.
#[derive(Clone, Copy, Debug)]
pub struct SignatureBits {
    /// The bits.
    pub keep: u64,
    /// The bytes that hold them.
    pub bytes: usize,
}

/// Bits of a signature: five in each byte of a word.
const SIGNATURE: usize = 40;

/// Boundary bits that are always asked for in vain before a queen more is placed.
const BOUNDARY: usize = 8;

fn signature_bit(i: usize) -> u64 {
    1 << (8 * (i / 5) + 3 + i % 5)
}

impl SignatureBits {
    fn first(count: usize) -> Self {
        Self { keep: (0..count).fold(0, |bits, i| bits | signature_bit(i)), bytes: count.div_ceil(5) }
    }
}

/// For each half, kind and diagonal, a number of squares.
type SquaresOn = [[[usize; 64]; 2]; 2];

fn in_both(squares_on: &SquaresOn, kind: usize, d: usize) -> bool {
    squares_on.iter().all(|half| half[kind][d] > 0)
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
        let squares_on = open_squares(squares, order, [&halves[0], &halves[1]]);
        let without_last = halves.each_ref().map(|columns| &columns[..columns.len() - 1]);
        let beside_last = open_squares(squares, order, without_last);
        let all = || (0..2).flat_map(|kind| (0..64).map(move |d| (kind, d)));
        let is_joint = |kind: usize, d: usize| in_both(&beside_last, kind, d);
        let shared = || all().filter(|(kind, d)| in_both(&squares_on, *kind, *d));
        let joint = shared().filter(|(kind, d)| is_joint(*kind, *d)).count();
        if joint + boundary > SIGNATURE {
            return Err(if joint > SIGNATURE - BOUNDARY { Uncut::TooWide } else { Uncut::TooManyPairs });
        }
        let is_wide = shared().count() + boundary > SIGNATURE;
        let mut bits = [[[0; 64]; 2]; 2];
        let first = shared().filter(|(kind, d)| is_joint(*kind, *d)).zip(0..);
        let others = shared().filter(|(kind, d)| !is_joint(*kind, *d));
        let signature = if is_wide { joint + boundary } else { shared().count() + boundary };
        let used = SignatureBits::first(signature).keep;
        let mut outside = (0..64).map(|i| 1u64 << i).filter(|bit| used & bit == 0);
        let mut meeting = used;
        for ((kind, d), i) in first {
            bits.iter_mut().for_each(|half| half[kind][d] = signature_bit(i));
        }
        for ((kind, d), i) in others.zip(joint + boundary..) {
            let bit = if is_wide { outside.next().ok_or(Uncut::TooWide)? } else { signature_bit(i) };
            bits.iter_mut().for_each(|half| half[kind][d] = bit);
            meeting |= bit;
        }
        for (side, bits) in bits.iter_mut().enumerate() {
            let mut unused = (0..64).map(|i| 1 << i).filter(|bit| meeting & bit == 0);
            let matters =
                |kind: usize, d: usize| squares_on[side][kind][d] > 1 || in_both(&squares_on, kind, d);
            for (kind, d) in all().filter(|(kind, d)| matters(*kind, *d)) {
                if bits[kind][d] == 0 {
                    bits[kind][d] = unused.next().ok_or(Uncut::TooWide)?;
                }
            }
        }
        Ok(Self { bits, meeting, shared: signature, joint: joint + boundary, boundary, is_wide })
    }

    /// The bits of all shared diagonals and of the boundary.
    pub fn meeting(&self) -> u64 {
        self.meeting
    }

    /// For each kind and diagonal its bit in the words of one half.
    pub fn of_half(&self, side: usize) -> &[[u64; 64]; 2] {
        &self.bits[side]
    }

    /// The bit for boundary restriction `i`.
    pub fn boundary_bit(&self, i: usize) -> u64 {
        signature_bit(self.joint - self.boundary + i)
    }

    /// The bits that decide whether halves fit, unless they are wide.
    pub fn shared(&self) -> SignatureBits {
        SignatureBits::first(self.shared)
    }

    /// The bits that decide whether halves fit after the sieve.
    pub fn joint(&self) -> SignatureBits {
        SignatureBits::first(self.joint)
    }

    /// Whether some shared diagonals have no bit of the signature.
    pub fn is_wide(&self) -> bool {
        self.is_wide
    }
}

/// The diagonals in a word, for the half that needs more of them: those with open squares in both halves, and
/// those with several open squares in this half.
pub fn diagonal_bits(squares: &Squares, halves: &[Vec<u8>; 2]) -> u32 {
    // For each half and kind, the diagonals with an open square, and those with several.
    let mut open = [[[0u64; 2]; 2]; 2];
    for (columns, open) in halves.iter().zip(&mut open) {
        for &col in columns {
            for row in set_bits(squares.open_rows(col)) {
                for (kind, [one, several]) in open.iter_mut().enumerate() {
                    let square = 1 << diagonal(squares.n(), kind, row, col);
                    *several |= *one & square;
                    *one |= square;
                }
            }
        }
    }
    let [left, right] = open;
    let of_half = |half: [[u64; 2]; 2]| -> u32 {
        (0..2).map(|kind| (left[kind][0] & right[kind][0] | half[kind][1]).count_ones()).sum()
    };
    of_half(left).max(of_half(right))
}

/// The number of open squares on each diagonal in these columns of each half.
fn open_squares(squares: &Squares, order: &[u8], halves: [&[u8]; 2]) -> SquaresOn {
    let mut squares_on = [[[0; 64]; 2]; 2];
    for (columns, squares_on) in halves.iter().zip(&mut squares_on) {
        for (&col, &row) in columns.iter().flat_map(|col| order.iter().map(move |row| (col, row))) {
            if squares.is_open(row, col) {
                (0..2).for_each(|kind| squares_on[kind][diagonal(squares.n(), kind, row, col)] += 1);
            }
        }
    }
    squares_on
}
