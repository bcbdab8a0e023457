//! The complete halves of one row set, apart by the row of their last queen, the one beside the cut.

use arrayvec::ArrayVec;

use crate::kernel::meet::half::QueenBits;
use crate::kernel::meet::lanes::Lanes64;
use crate::kernel::meet::scan::{choose, scan};

/// Complete halves with all their bits, those of each row of the last queen together.
#[derive(Debug, Default)]
pub struct ByLastRow {
    words: Vec<u64>,
    /// The rows that may have halves, in the order in which they came, and where the halves of each begin.
    rows: ArrayVec<(usize, usize), 32>,
    /// The halves while they are put in order.
    scratch: Vec<u64>,
}

impl ByLastRow {
    /// Forgets all.
    pub fn clear(&mut self) {
        self.words.clear();
        self.rows.clear();
    }

    /// The number of halves.
    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// The rows and the halves whose last queen stands there.
    pub fn iter(&self) -> impl Iterator<Item = (usize, &[u64])> {
        let ends = self.rows.iter().skip(1).map(|(_, begin)| *begin).chain([self.words.len()]);
        self.rows.iter().zip(ends).map(|(&(row, begin), end)| (row, &self.words[begin..end]))
    }

    /// Puts the halves of each row in order: those without the last of the bits first, and so on to the first bit.
    #[inline(always)]
    pub fn order<L: Lanes64>(&mut self, isa: L, bits: &[usize]) {
        for bit in bits {
            self.scratch.clear();
            for i in 0..self.rows.len() {
                let end = self.rows.get(i + 1).map_or(self.words.len(), |(_, begin)| *begin);
                let halves = &self.words[self.rows[i].1..end];
                choose(isa, halves, 1 << bit, true, u64::MAX, &mut self.scratch);
                choose(isa, halves, 1 << bit, false, u64::MAX, &mut self.scratch);
            }
            std::mem::swap(&mut self.words, &mut self.scratch);
        }
    }

    /// All halves.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// Appends what [`scan`] finds to the halves whose last queen stands in that row, which is the row of the call before or
    /// one that has none yet.
    #[inline(always)]
    pub fn scan<L: Lanes64>(
        &mut self,
        isa: L,
        list_and_margin: &[u64],
        queens: QueenBits,
        last_row: usize,
        next: *const u64,
    ) {
        if self.rows.last().is_none_or(|(row, _)| *row != last_row) {
            self.rows.push((last_row, self.words.len()));
        }
        while !scan(isa, list_and_margin, queens, u64::MAX, next, &mut self.words) {
            self.words.reserve(list_and_margin.len());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::isa::{Isa, on_detected};
    use crate::kernel::meet::scan::MARGIN;

    fn ordered<L: Lanes64>(isa: L) -> Vec<(usize, Vec<u64>)> {
        let list: Vec<u64> = (0..100).map(|i| i * 37 % 128).chain([0; MARGIN]).collect();
        let mut halves = ByLastRow::default();
        for last_row in [3, 5] {
            let queens = QueenBits { test: 1 << last_row, set: 1 << last_row };
            halves.scan(isa, &list, queens, last_row, list.as_ptr());
        }
        halves.order(isa, &[0, 6]);
        halves.iter().map(|(row, words)| (row, words.to_vec())).collect()
    }

    #[test]
    fn order_is_by_the_bits_within_each_row() {
        for isa in Isa::available().into_iter().filter_map(Isa::detect) {
            for (row, words) in on_detected!(isa, isa => ordered(isa)) {
                let mut expected: Vec<u64> = (0..100)
                    .map(|i| i * 37 % 128)
                    .filter(|word| word >> row & 1 == 0)
                    .map(|word| word | 1 << row)
                    .collect();
                expected.sort_by_key(|word| (word >> 6 & 1, word & 1));
                assert_eq!(words, expected, "{isa:?}, row {row}");
            }
        }
    }
}
