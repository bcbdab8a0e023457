//! The join: how many pairs of a left and a right half have disjoint signatures.
//!
//! ```text
//! order one list by a few bits that both lists have often
//! for each group of 512 words of that list:           # one bit lane each
//!     for each byte of the signature (five bits of it used):
//!         table[pattern] = the lanes that leave clear all bits of the pattern      # 32 patterns
//!     for each word of the other list that has no bit that all lanes have:
//!         count += ones(table0[byte 0] & table1[byte 1] & ...)
//! ```
//!
//! A byte of a signature holds its five bits times eight, so it is an offset into its table but for a shift that
//! the address computation does for free. The ones are not counted word by word: carry-save adders gather eight
//! results into one that is counted (Harley and Seal, in Warren, *Hacker's Delight*, 5-1), and they keep their state
//! from bucket to bucket. Lists too short for tables are compared directly.
//!
//! Most pairs are hopeless. In the ordered list the lanes of a group share some bits, and a word that has one of them
//! is dropped for a tenth of the time that the tables would take.

use crate::kernel::meet::lanes::Lanes;

/// Bytes of a signature word, and patterns of a byte.
const BYTES: usize = 8;
const PATTERNS: usize = 32;

/// What the tables of one group cost and what one more word of the other list costs, in cycles: measured, and they
/// only decide which way a bucket is counted.
const SETUP: usize = 750;
const LOOKUP: usize = 6;
const COMPARISON: usize = 2;

/// Tables for 512 lanes at most: 16 KiB in all, half of a first-level cache.
#[repr(C, align(64))]
struct Tables([u64; BYTES * PATTERNS * 8]);

/// Counts pairs, and keeps the sum between joins.
pub struct Matcher<L: Lanes> {
    tables: Box<Tables>,
    ones: L::Bits,
    twos: L::Bits,
    fours: L::Bits,
    /// Eights, one number per block.
    eights: L::Bits,
    direct: u64,
    /// The lanes while they are put in order, and the words that a group of them leaves.
    scratch: Vec<u64>,
    left: Vec<u64>,
}

impl<L: Lanes> Matcher<L> {
    /// Counts from zero.
    ///
    /// # Safety
    /// The machine must have the instruction set.
    pub unsafe fn new() -> Self {
        // SAFETY: the promise of the caller.
        let zero = unsafe { L::fill(0) };
        let tables = Box::new(Tables([0; BYTES * PATTERNS * 8]));
        let (scratch, left) = (Vec::new(), Vec::new());
        Self { tables, ones: zero, twos: zero, fours: zero, eights: zero, direct: 0, scratch, left }
    }

    /// The pairs counted. Panics if they do not fit 64 bits.
    pub fn pairs(&self) -> u64 {
        // SAFETY: a matcher exists only where the instruction set does.
        let blocks = |bits| unsafe { L::blocks(bits) };
        let ones = |bits| blocks(bits).into_iter().map(|block| u64::from(block.count_ones())).sum::<u64>();
        let small = ones(self.ones) + 2 * ones(self.twos) + 4 * ones(self.fours);
        let eights = blocks(self.eights).into_iter().try_fold(0u64, u64::checked_add);
        let eights = eights.and_then(|eights| eights.checked_mul(8));
        let sum = eights.and_then(|eights| eights.checked_add(small)?.checked_add(self.direct));
        sum.expect("a unit's count fits 64 bits")
    }
}

/// Counts the pairs of a word of `a` and a word of `b` that share no bit. The words may use the upper five bits of
/// the first `bytes` bytes. Both lists may be padded behind.
///
/// # Safety
/// The machine must have the instruction set of `L`.
#[inline(always)]
pub unsafe fn join<L: Lanes>(matcher: &mut Matcher<L>, bytes: usize, a: &mut Vec<u64>, b: &mut Vec<u64>) {
    let by_tables = |lanes: usize, words: usize| lanes.div_ceil(64 * L::BLOCKS) * (SETUP + LOOKUP * words);
    let (a_lanes, b_lanes) = (by_tables(a.len(), b.len()), by_tables(b.len(), a.len()));
    let directly = a.len().max(b.len()).div_ceil(L::WORDS) * a.len().min(b.len()) * COMPARISON;
    if a.is_empty() || b.is_empty() {
        return;
    }
    // SAFETY: the promise of the caller.
    unsafe {
        if directly < a_lanes.min(b_lanes) {
            let (few, many) = if a.len() < b.len() { (a, b) } else { (b, a) };
            matcher.direct = matcher.direct.checked_add(compare::<L>(few, many)).expect("64 bits");
        } else {
            let (lanes, words) = if a_lanes <= b_lanes { (a, b) } else { (b, a) };
            match bytes {
                0 | 1 => sliced::<L, 1>(matcher, lanes, words),
                2 => sliced::<L, 2>(matcher, lanes, words),
                3 => sliced::<L, 3>(matcher, lanes, words),
                4 => sliced::<L, 4>(matcher, lanes, words),
                5 => sliced::<L, 5>(matcher, lanes, words),
                6 => sliced::<L, 6>(matcher, lanes, words),
                7 => sliced::<L, 7>(matcher, lanes, words),
                _ => sliced::<L, 8>(matcher, lanes, words),
            }
        }
    }
}

/// The pairs, compared one by one.
#[inline(always)]
unsafe fn compare<L: Lanes>(few: &[u64], many: &mut Vec<u64>) -> u64 {
    let len = many.len();
    many.resize(len.next_multiple_of(L::WORDS), u64::MAX);
    let mut pairs = 0;
    for &word in few {
        let mut i = 0;
        while i < many.len() {
            // SAFETY: the promise of the caller; `many` was padded to whole vectors.
            let clear = unsafe { L::clear_of(L::load(many.as_ptr().add(i)), L::splat(word)) };
            pairs += u64::from(clear.count_ones());
            i += L::WORDS;
        }
        if word == 0 {
            // Only the empty signature goes with the padding.
            pairs -= (many.len() - len) as u64;
        }
    }
    many.truncate(len);
    pairs
}

/// The pairs by tables of `C` bytes.
#[inline(always)]
unsafe fn sliced<L: Lanes, const C: usize>(matcher: &mut Matcher<L>, lanes: &mut Vec<u64>, words: &[u64]) {
    let len = lanes.len();
    let is_ordered = len >= GROUPS_TO_ORDER * 64 * L::BLOCKS;
    if is_ordered {
        // SAFETY: the promise of the caller.
        unsafe { order::<L, C>(lanes, words, &mut matcher.scratch) };
    }
    lanes.resize(len.next_multiple_of(64), 0);
    let mut left = std::mem::take(&mut matcher.left);
    let mut begin = 0;
    while begin < len {
        let group = (len - begin).min(64 * L::BLOCKS);
        let common = lanes[begin..begin + group].iter().fold(u64::MAX, |common, lane| common & lane);
        // SAFETY: the promise of the caller; the lanes were padded to whole blocks of 64.
        unsafe {
            tabulate::<L, C>(&mut matcher.tables, lanes.as_ptr().add(begin), group);
            if is_ordered && common != 0 {
                left.clear();
                choose::<L>(words, common, true, &mut left);
                count::<L, C>(matcher, &left);
            } else {
                count::<L, C>(matcher, words);
            }
        }
        begin += group;
    }
    matcher.left = left;
    lanes.truncate(len);
}

/// Fewer groups of lanes are not worth an order.
const GROUPS_TO_ORDER: usize = 2;

/// Lists are ordered by this many bits at most.
const MOST_BITS: u32 = 5;

/// Orders the lanes by the bits that are likeliest to be set in both lists: as many as make their groups alike.
#[inline(always)]
unsafe fn order<L: Lanes, const C: usize>(lanes: &mut Vec<u64>, words: &[u64], scratch: &mut Vec<u64>) {
    // SAFETY: the promise of the caller.
    let [in_lanes, in_words] = unsafe { [sampled::<L, C>(lanes), sampled::<L, C>(words)] };
    let chance = |bit: usize| in_lanes[bit] * in_words[bit];
    let mut bits: Vec<usize> = (0..64).filter(|bit| chance(*bit) > 0).collect();
    bits.sort_by_key(|bit| chance(*bit));
    let wanted = (lanes.len() / (64 * L::BLOCKS)).ilog2() + 1;
    let first = bits.len().saturating_sub(wanted.min(MOST_BITS) as usize);
    // The last bit to be ordered by is the likeliest: it parts the whole list.
    for bit in &bits[first..] {
        scratch.clear();
        // SAFETY: the promise of the caller.
        unsafe {
            choose::<L>(lanes, 1 << bit, true, scratch);
            choose::<L>(lanes, 1 << bit, false, scratch);
        }
        std::mem::swap(lanes, scratch);
    }
}

/// How many of 64 words, taken evenly from the list, have each bit set.
#[inline(always)]
unsafe fn sampled<L: Lanes, const C: usize>(words: &[u64]) -> [u32; 64] {
    let sample: [u64; 64] = std::array::from_fn(|i| words[i * words.len() / 64]);
    let mut planes = [[0; 5]; BYTES];
    // SAFETY: the promise of the caller.
    unsafe { L::planes(sample.as_ptr(), C, &mut planes) };
    let mut set = [0; 64];
    for (byte, planes) in planes.iter().enumerate().take(C) {
        for (bit, clear) in planes.iter().enumerate() {
            set[8 * byte + 3 + bit] = clear.count_zeros();
        }
    }
    set
}

/// Appends to `out` the words that have no bit of `test` (`clear`), or those that have one.
#[inline(always)]
unsafe fn choose<L: Lanes>(words: &[u64], test: u64, clear: bool, out: &mut Vec<u64>) {
    out.reserve(words.len() + L::WORDS);
    let whole = words.len() / L::WORDS * L::WORDS;
    let flip = if clear { 0 } else { (1 << L::WORDS) - 1 };
    // SAFETY: every store begins at most `words.len()` words behind the old end and is WORDS long, within the room
    // reserved; as many words were written as the new length says.
    unsafe {
        let begin = out.as_mut_ptr();
        let mut end = begin.add(out.len());
        let (test, nothing, all) = (L::splat(test), L::splat(0), L::splat(u64::MAX));
        for i in (0..whole).step_by(L::WORDS) {
            let here = L::load(words.as_ptr().add(i));
            let chosen = L::clear_of(here, test) ^ flip;
            L::store_chosen(end, chosen, L::merge(here, nothing, all));
            end = end.add(chosen.count_ones() as usize);
        }
        out.set_len(end.offset_from_unsigned(begin));
    }
    out.extend(words[whole..].iter().filter(|word| (**word & test == 0) == clear));
}

/// One bit for each of 512 lanes.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Blocks([u64; 8]);

/// Fills the tables for the first `count` of the lanes.
#[inline(always)]
unsafe fn tabulate<L: Lanes, const C: usize>(tables: &mut Tables, lanes: *const u64, count: usize) {
    let mut planes = [[Blocks([0; 8]); 5]; BYTES];
    let mut valid = Blocks([0; 8]);
    for (block, valid) in valid.0.iter_mut().enumerate().take(count.div_ceil(64)) {
        let mut of_block = [[0; 5]; BYTES];
        // SAFETY: the promise of the caller.
        unsafe { L::planes(lanes.add(64 * block), C, &mut of_block) };
        for (planes, of_block) in planes.iter_mut().zip(of_block).take(C) {
            for (plane, of_block) in planes.iter_mut().zip(of_block) {
                plane.0[block] = of_block;
            }
        }
        let here = (count - 64 * block).min(64);
        *valid = if here == 64 { u64::MAX } else { (0..here).fold(0, |all, i| all | 1 << L::lane(i)) };
    }
    for (byte, planes) in planes.iter().enumerate().take(C) {
        // SAFETY: aligned blocks, and a table has PATTERNS entries of BLOCKS blocks.
        unsafe {
            let plane = |bit: usize| L::load_bits(planes[bit].0.as_ptr());
            let all = if byte == 0 { L::load_bits(valid.0.as_ptr()) } else { L::fill(u64::MAX) };
            let mut entries = [all; PATTERNS / 2];
            for bit in 0..4 {
                for pattern in 0..1 << bit {
                    entries[(1 << bit) + pattern] = L::and(entries[pattern], plane(bit));
                }
            }
            let table = tables.0.as_mut_ptr().add(byte * PATTERNS * L::BLOCKS);
            for (pattern, entry) in entries.into_iter().enumerate() {
                L::store_bits(table.add(pattern * L::BLOCKS), entry);
                L::store_bits(table.add((PATTERNS / 2 + pattern) * L::BLOCKS), L::and(entry, plane(4)));
            }
        }
    }
}

/// Counts the matches of the words with the tables' lanes.
#[inline(always)]
unsafe fn count<L: Lanes, const C: usize>(matcher: &mut Matcher<L>, words: &[u64]) {
    let tables = matcher.tables.0.as_ptr();
    let (mut ones, mut twos, mut fours, mut eights) =
        (matcher.ones, matcher.twos, matcher.fours, matcher.eights);
    let (eight, rest) = words.as_chunks::<8>();
    // SAFETY: the promise of the caller.
    unsafe {
        for words in eight {
            let (sum, twos_a) =
                L::add(ones, matches::<L, C>(tables, words[0]), matches::<L, C>(tables, words[1]));
            let (sum, twos_b) =
                L::add(sum, matches::<L, C>(tables, words[2]), matches::<L, C>(tables, words[3]));
            let (sum2, fours_a) = L::add(twos, twos_a, twos_b);
            let (sum, twos_a) =
                L::add(sum, matches::<L, C>(tables, words[4]), matches::<L, C>(tables, words[5]));
            let (sum, twos_b) =
                L::add(sum, matches::<L, C>(tables, words[6]), matches::<L, C>(tables, words[7]));
            let (sum2, fours_b) = L::add(sum2, twos_a, twos_b);
            let (sum4, carry) = L::add(fours, fours_a, fours_b);
            (ones, twos, fours) = (sum, sum2, sum4);
            eights = L::add_ones(eights, carry);
        }
        let zero = L::fill(0);
        for &word in rest {
            let (sum, carry) = L::add(ones, matches::<L, C>(tables, word), zero);
            let (sum2, carry) = L::add(twos, carry, zero);
            let (sum4, carry) = L::add(fours, carry, zero);
            (ones, twos, fours) = (sum, sum2, sum4);
            eights = L::add_ones(eights, carry);
        }
    }
    (matcher.ones, matcher.twos, matcher.fours, matcher.eights) = (ones, twos, fours, eights);
}

/// The lanes that match one word.
#[inline(always)]
unsafe fn matches<L: Lanes, const C: usize>(tables: *const u64, word: u64) -> L::Bits {
    // SAFETY: a byte of a word is eight times a pattern, so times BLOCKS it is the offset of an entry in bytes.
    let entry = |byte: usize| unsafe {
        let offset = (word >> (8 * byte) & 0xff) as usize * L::BLOCKS;
        L::load_bits(tables.byte_add(byte * PATTERNS * L::BLOCKS * 8 + offset))
    };
    // SAFETY: the promise of the caller. Three operands at a time suit a machine with ternary logic.
    unsafe {
        match C {
            1 => entry(0),
            2 => L::and(entry(0), entry(1)),
            3 => L::and3(entry(0), entry(1), entry(2)),
            4 => L::and(L::and3(entry(0), entry(1), entry(2)), entry(3)),
            5 => L::and3(L::and3(entry(0), entry(1), entry(2)), entry(3), entry(4)),
            6 => L::and(L::and3(L::and3(entry(0), entry(1), entry(2)), entry(3), entry(4)), entry(5)),
            7 => L::and3(
                L::and3(L::and3(entry(0), entry(1), entry(2)), entry(3), entry(4)),
                entry(5),
                entry(6),
            ),
            _ => {
                let most = L::and3(L::and3(entry(0), entry(1), entry(2)), entry(3), entry(4));
                L::and(L::and3(most, entry(5), entry(6)), entry(7))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Isa;
    use crate::kernel::meet::lanes::Portable;

    /// Words of a linear congruence (Knuth's constants), with about a third of the bits set.
    fn words(seed: u64, len: usize, keep: u64) -> Vec<u64> {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state ^ state >> 29
        };
        (0..len).map(|_| next() & next() & keep).collect()
    }

    fn agrees<L: Lanes>() {
        for bytes in 1..=8 {
            let keep = 0xf8f8_f8f8_f8f8_f8f8 >> (64 - 8 * bytes);
            for (x, y) in
                [(0, 5), (1, 1), (3, 700), (64, 64), (65, 511), (512, 513), (1300, 90), (2000, 2001)]
            {
                let (mut a, mut b) = (words(1, x, keep), words(2, y, keep));
                a.iter_mut().step_by(7).for_each(|word| *word = 0);
                let naive = a.iter().map(|a| b.iter().filter(|b| a & **b == 0).count() as u64).sum::<u64>();
                // SAFETY: the callers below ask first whether the machine has the instruction set.
                let mut matcher = unsafe { Matcher::<L>::new() };
                for round in 1..=3 {
                    // SAFETY: as above.
                    unsafe { L::join(&mut matcher, bytes, &mut a, &mut b) };
                    assert_eq!(matcher.pairs(), round * naive, "{bytes} bytes, {x} and {y} words");
                }
            }
        }
    }

    #[test]
    fn every_instruction_set_counts_the_pairs_that_a_double_loop_counts() {
        agrees::<Portable>();
        #[cfg(target_arch = "x86_64")]
        {
            use crate::kernel::meet::lanes::{Avx2, Avx512};
            if Isa::Avx2.is_available() {
                agrees::<Avx2>();
            }
            if Isa::Avx512.is_available() {
                agrees::<Avx512>();
            }
        }
    }
}
