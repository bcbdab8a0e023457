//! The complete halves of one row set, apart by the row of their last queen, the one beside the cut.

use crate::bits::set_bits;
use crate::kernel::meet::half::QueenBits;
use crate::kernel::meet::lanes::Lanes64;
use crate::kernel::meet::scan::scan;

/// Complete halves with all their bits, one list for each row of the last queen.
#[derive(Debug, Default)]
pub struct ByLastRow {
    lists: [Vec<u64>; 32],
    /// The rows whose lists may hold something.
    rows: u32,
}

impl ByLastRow {
    /// Forgets all.
    pub fn clear(&mut self) {
        set_bits(self.rows).for_each(|row| self.lists[usize::from(row)].clear());
        self.rows = 0;
    }

    /// The number of halves.
    pub fn len(&self) -> usize {
        self.iter().map(|(_, list)| list.len()).sum()
    }

    /// The rows and the halves whose last queen stands there, ascending.
    pub fn iter(&self) -> impl Iterator<Item = (usize, &[u64])> {
        set_bits(self.rows).map(|row| (usize::from(row), &*self.lists[usize::from(row)]))
    }

    /// Appends what [`scan`] finds to the halves whose last queen stands in that row.
    #[inline(always)]
    pub fn scan<L: Lanes64>(
        &mut self,
        isa: L,
        list_and_margin: &[u64],
        queens: QueenBits,
        last_row: usize,
        next: *const u64,
    ) {
        self.rows |= 1 << last_row;
        let out = &mut self.lists[last_row];
        while !scan(isa, list_and_margin, queens, u64::MAX, next, out) {
            out.reserve(list_and_margin.len());
        }
    }
}
