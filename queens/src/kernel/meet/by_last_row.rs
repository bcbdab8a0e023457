//! The complete halves of one row set, apart by the row of their last queen, the one beside the cut.

use arrayvec::ArrayVec;

use crate::kernel::meet::half::QueenBits;
use crate::kernel::meet::lanes::Lanes64;
use crate::kernel::meet::scan::scan;

/// Complete halves with all their bits, those of each row of the last queen together.
#[derive(Debug, Default)]
pub struct ByLastRow {
    words: Vec<u64>,
    /// The rows that may have halves, in the order in which they came, and where the halves of each begin.
    rows: ArrayVec<(usize, usize), 32>,
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
