//! How the complete halves of one row set are gathered from lists with one to three columns missing.
//!
//! ```text
//! collect and gather:
//!         for each way to place the last queen, or the last two or three, in rows of the set S:
//!             append the states of list(S - these rows) that leave the queens' diagonals free, with them set
//! ```

use crate::bits::set_bits;
use crate::kernel::meet::by_last_row::ByLastRow;
use crate::kernel::meet::cut::Cut;
use crate::kernel::meet::half::{Half, QueenBits};
use crate::kernel::meet::lanes::Lanes64;
use crate::kernel::meet::lists::Lists;
use crate::kernel::meet::row_sets::RowSets;
use crate::kernel::meet::scan::MARGIN;
use crate::kernel::meet::signatures::Signatures;

/// A list to scan and the queens to add to each state of it.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    list_and_margin: &'a [u64],
    queens: QueenBits,
    /// The row of the last queen.
    last_row: usize,
}

/// The source of the complete halves of one side.
#[derive(Clone, Copy, Debug)]
pub struct Gathering<'a> {
    sets: &'a RowSets,
    half: &'a Half,
    /// The lists with one, two and three columns missing.
    lists: [&'a Lists; 3],
    /// The rows fixed for the lists with one column missing: these hold no set that still lacks one of them.
    fixed: u32,
    /// The rows fixed for the lists with two columns missing: these hold no set that still lacks two of them.
    fixed_before: u32,
    /// The bits of signatures.
    keep: u64,
}

impl<'a> Gathering<'a> {
    /// From a half's lists with one, two and three columns missing; for the first two so many rows were fixed.
    pub fn new(cut: &'a Cut, side: usize, lists: [&'a Lists; 3], fixed: [u32; 2]) -> Self {
        let sets = &cut.sets;
        let [fixed, fixed_before] = fixed.map(|fixed| sets.full() & u32::MAX << (sets.rows() - fixed));
        Self { sets, half: &cut.halves[side], lists, fixed, fixed_before, keep: cut.shared.keep }
    }

    /// Makes in `out` the signatures of the complete halves that come from the sources.
    #[inline(always)]
    pub fn gather<L: Lanes64>(&self, isa: L, sources: &[Source<'a>], out: &mut Signatures) {
        out.clear();
        for pair in sources.windows(2) {
            let Source { list_and_margin, queens, .. } = pair[0];
            let next = pair[1].list_and_margin.as_ptr();
            out.scan(isa, list_and_margin, queens, self.keep, next);
        }
    }

    /// Makes in `out` the complete halves that come from the sources, apart by the row of their last queen.
    #[inline(always)]
    pub fn gather_apart<L: Lanes64>(isa: L, sources: &[Source<'a>], out: &mut ByLastRow) {
        out.clear();
        for pair in sources.windows(2) {
            let Source { list_and_margin, queens, last_row } = pair[0];
            let next = pair[1].list_and_margin.as_ptr();
            out.scan(isa, list_and_margin, queens, last_row, next);
        }
    }

    /// Lists the sources from which the complete halves of a set come, and one behind them that has no list. Returns how
    /// many states they have.
    #[inline(always)]
    pub fn collect(&self, set: u32, sources: &mut Vec<Source<'a>>) -> usize {
        let Self { half, fixed, fixed_before, .. } = *self;
        let last = half.columns() - 1;
        sources.clear();
        let mut states = 0;
        for z in set_bits(set & half.open[last] & !fixed).map(usize::from) {
            states += self.push(1, set & !(1 << z), half.queens[last][z], z, sources);
        }
        for z in set_bits(set & half.open[last] & fixed).map(usize::from) {
            for y in set_bits(set & half.pairs[z]).map(usize::from) {
                let pair = half.queens[last][z].and(half.queens[last - 1][y]);
                let rest = set & !(1 << z | 1 << y);
                if (1 << z | 1 << y) & !fixed_before != 0 {
                    states += self.push(2, rest, pair, z, sources);
                    continue;
                }
                for x in set_bits(set & half.triples[z][y]).map(usize::from) {
                    states += self.push(3, rest & !(1 << x), pair.and(half.queens[last - 2][x]), z, sources);
                }
            }
        }
        sources.push(Source { list_and_margin: &[], queens: QueenBits::default(), last_row: 0 });
        states
    }

    /// Adds the list of a set to the sources, unless it is empty. Returns how many states it has.
    #[inline(always)]
    fn push(
        &self,
        missing: usize,
        set: u32,
        queens: QueenBits,
        last_row: usize,
        sources: &mut Vec<Source<'a>>,
    ) -> usize {
        let list_and_margin = self.lists[missing - 1].of(self.sets, set);
        if list_and_margin.len() > MARGIN {
            sources.push(Source { list_and_margin, queens, last_row });
        }
        list_and_margin.len() - MARGIN
    }
}
