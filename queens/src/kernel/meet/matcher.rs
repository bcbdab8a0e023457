//! The matcher: counts the matches of words with tabulated lanes, and keeps the sum from join to join.
//!
//! The ones of a match are not counted word by word. Carry-save adders gather eight results into one that is
//! counted (Harley and Seal, in Warren, *Hacker's Delight*, 5-1). They keep their state from bucket to
//! bucket.

use crate::kernel::meet::lanes::Lanes64;
use crate::kernel::meet::signatures::Signatures;
use crate::kernel::meet::tables::Tables;

/// Counts pairs, and keeps the sum between joins.
pub struct Matcher<L: Lanes64> {
    isa: L,
    tables: Box<Tables<L>>,
    ones: L::Bits,
    twos: L::Bits,
    fours: L::Bits,
    /// Eights, one number per block.
    eights: L::Bits,
    direct: u64,
    /// The lanes while they are put in order.
    pub scratch: Signatures,
    /// The words that a group of lanes leaves.
    pub left: Signatures,
}

impl<L: Lanes64> Matcher<L> {
    /// Counts from zero.
    pub fn new(isa: L) -> Self {
        let zero = isa.fill(0);
        let (scratch, left) = (Signatures::default(), Signatures::default());
        let tables = Box::new(Tables::new(isa));
        Self { isa, tables, ones: zero, twos: zero, fours: zero, eights: zero, direct: 0, scratch, left }
    }

    /// The pairs counted.
    ///
    /// # Panics
    /// If they do not fit 64 bits.
    pub fn pairs(&self) -> u64 {
        let blocks = |bits| self.isa.blocks(bits);
        let ones = |bits| blocks(bits).into_iter().map(|block| u64::from(block.count_ones())).sum::<u64>();
        let small = ones(self.ones) + 2 * ones(self.twos) + 4 * ones(self.fours);
        let eights = blocks(self.eights).into_iter().try_fold(0u64, u64::checked_add);
        let eights = eights.and_then(|eights| eights.checked_mul(8));
        let sum = eights.and_then(|eights| eights.checked_add(small)?.checked_add(self.direct));
        sum.expect("a unit's count fits 64 bits")
    }

    /// Takes in pairs that were counted otherwise.
    ///
    /// # Panics
    /// If the sum does not fit 64 bits.
    pub fn add(&mut self, pairs: u64) {
        self.direct = self.direct.checked_add(pairs).expect("a unit's count fits 64 bits");
    }

    /// Counts the matches of the words with the first `count` of lanes that are padded to whole blocks of 64, as far as the first
    /// `C` bytes tell.
    #[inline(always)]
    pub fn count<const C: usize>(&mut self, isa: L, lanes: &[u64], count: usize, words: &Signatures) {
        self.tables.fill::<C>(isa, lanes, count);
        let tables = &*self.tables;
        let matches = |word| tables.matches::<C>(isa, word);
        let (mut ones, mut twos, mut fours, mut eights) = (self.ones, self.twos, self.fours, self.eights);
        let (eight, rest) = words.eights();
        for [a, b, c, d, e, f, g, h] in eight {
            let (sum, twos_a) = isa.add(ones, matches(a), matches(b));
            let (sum, twos_b) = isa.add(sum, matches(c), matches(d));
            let (sum2, fours_a) = isa.add(twos, twos_a, twos_b);
            let (sum, twos_a) = isa.add(sum, matches(e), matches(f));
            let (sum, twos_b) = isa.add(sum, matches(g), matches(h));
            let (sum2, fours_b) = isa.add(sum2, twos_a, twos_b);
            let (sum4, carry) = isa.add(fours, fours_a, fours_b);
            (ones, twos, fours) = (sum, sum2, sum4);
            eights = isa.add_ones(eights, carry);
        }
        let zero = isa.fill(0);
        for word in rest {
            let (sum, carry) = isa.add(ones, matches(word), zero);
            let (sum2, carry) = isa.add(twos, carry, zero);
            let (sum4, carry) = isa.add(fours, carry, zero);
            (ones, twos, fours) = (sum, sum2, sum4);
            eights = isa.add_ones(eights, carry);
        }
        (self.ones, self.twos, self.fours, self.eights) = (ones, twos, fours, eights);
    }
}
