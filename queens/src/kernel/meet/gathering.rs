//! How the complete halves of one row set are gathered from lists with one to three columns missing.
//!
//! ```text
//! gather: for each way to place the last queen, or the last two or three, in rows of the set S:
//!             append the states of list(S - these rows) that leave the queens' diagonals free, with them set
//! ```

use crate::kernel::meet::cut::Cut;
use crate::kernel::meet::half::{Half, QueenBits};
use crate::kernel::meet::lanes::Lanes64;
use crate::kernel::meet::lists::{Lists, Place};
use crate::kernel::meet::row_sets::RowSets;
use crate::kernel::meet::scan::scan;

/// A list to scan and the queens to add to each state of it.
#[derive(Clone, Copy, Debug)]
pub struct Source {
    /// Which of the lists of a [`Gathering`].
    lists: u32,
    place: Place,
    queens: QueenBits,
}

/// Where the complete halves of one side come from.
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
    /// The bits that complete halves keep.
    keep: u64,
}

impl<'a> Gathering<'a> {
    /// From a half's lists with one, two and three columns missing; for the first two so many rows were fixed.
    pub fn new(cut: &'a Cut, side: usize, lists: [&'a Lists; 3], fixed: [u32; 2]) -> Self {
        let sets = &cut.sets;
        let [fixed, fixed_before] = fixed.map(|fixed| sets.full() & u32::MAX << (sets.rows() - fixed));
        Self { sets, half: &cut.halves[side], lists, fixed, fixed_before, keep: cut.keep }
    }

    /// Makes in `out` the complete halves of a set.
    #[inline(always)]
    pub fn gather<L: Lanes64>(&self, isa: L, set: u32, sources: &mut Vec<Source>, out: &mut Vec<u64>) {
        self.collect(set, sources);
        out.clear();
        let list = |source: &Source| self.lists[source.lists as usize].with_margin(source.place);
        let mut lists = sources.iter().map(list);
        let Some(mut here) = lists.next() else { return };
        for source in &*sources {
            let next = lists.next().unwrap_or_default();
            scan(isa, here, source.queens, self.keep, next.as_ptr(), out);
            here = next;
        }
    }

    /// Lists the sources from which the complete halves of a set come.
    #[inline(always)]
    fn collect(&self, set: u32, sources: &mut Vec<Source>) {
        let Self { sets, half, fixed, fixed_before, .. } = *self;
        let last = half.columns() - 1;
        sources.clear();
        let mut add = |lists: u32, set: u32, queens| {
            let place = self.lists[lists as usize].place(sets, set);
            if place.len() > 0 {
                sources.push(Source { lists, place, queens });
            }
        };
        for z in ones(set & half.open[last] & !fixed) {
            add(0, set & !(1 << z), half.queens[last][z]);
        }
        for z in ones(set & half.open[last] & fixed) {
            for y in ones(set & half.pairs[z]) {
                let pair = half.queens[last][z].and(half.queens[last - 1][y]);
                let rest = set & !(1 << z | 1 << y);
                if (1 << z | 1 << y) & !fixed_before != 0 {
                    add(1, rest, pair);
                    continue;
                }
                for x in ones(set & half.triples[z][y]) {
                    add(2, rest & !(1 << x), pair.and(half.queens[last - 2][x]));
                }
            }
        }
    }
}

/// The places of the ones.
#[inline(always)]
fn ones(mut bits: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let place = (bits != 0).then(|| bits.trailing_zeros() as usize);
        bits &= bits.wrapping_sub(1);
        place
    })
}
