//! The join: how many pairs of a left and a right half have disjoint signatures.
//!
//! ```text
//! order one list by a few bits that both lists have often     # lists from the sieve: in order already, or not at all
//! for each group of 512 words of that list:                   # one bit lane each
//!     tabulate the group: which lanes leave clear which patterns of bits
//!     for each word of the other list that has no bit that all lanes have:
//!         count += ones(the lanes that share no bit with the word)
//! ```
//!
//! Lists too short for [tables](super::tables) are compared directly.
//!
//! Most pairs cannot fit. In the ordered list the lanes of a group share some bits. A word that has one of
//! these bits is dropped in a tenth of the time that the tables would take. After the [sieve](super::sieve)
//! ordering does not pay: lists have fewer bits in common. So only long lists are in order, from before the sieve.

use crate::kernel::meet::lanes::Lanes64;
use crate::kernel::meet::matcher::Matcher;
use crate::kernel::meet::order::put_in_order;
#[cfg(test)]
use crate::kernel::meet::reached::Reached;
use crate::kernel::meet::signatures::Signatures;

/// The cost of the tables of one group and the cost of a word of the other list, in cycles. They are
/// measured, and only decide how a bucket is counted.
const SETUP: usize = 750;
const LOOKUP: usize = 6;
const COMPARISON: usize = 2;

/// Fewer groups of lanes are not worth an order.
const GROUPS_TO_ORDER: usize = 2;

/// The order of the words of lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Any, and none is worth its time.
    Unordered,
    /// Any. A long list may be put in an order that makes the lanes of a group alike.
    Free,
    /// Such an order already.
    Ordered,
}

/// Counts with the matcher the pairs of a word of `a` and a word of `b` that share no bit. It reads only the upper
/// five bits of the first `bytes` bytes of a word. With [`Order::Free`] it may reorder a long list.
#[inline(always)]
pub fn join<L: Lanes64>(
    isa: L,
    matcher: &mut Matcher<L>,
    bytes: usize,
    a: &mut Signatures,
    b: &mut Signatures,
    order: Order,
) {
    let by_tables = |lanes: usize, words: usize| lanes.div_ceil(64 * L::BLOCKS) * (SETUP + LOOKUP * words);
    let (a_lanes, b_lanes) = (by_tables(a.len(), b.len()), by_tables(b.len(), a.len()));
    let directly = a.len().max(b.len()).div_ceil(L::WORDS) * a.len().min(b.len()) * COMPARISON;
    if a.is_empty() || b.is_empty() {
        return;
    }
    if directly < a_lanes.min(b_lanes) {
        let (few, many) = if a.len() < b.len() { (a, b) } else { (b, a) };
        matcher.add(compare(isa, few, many));
        return;
    }
    let (lanes, words) = if a_lanes <= b_lanes { (a, b) } else { (b, a) };
    sliced(isa, matcher, bytes, lanes, words, order);
}

/// The pairs, compared one by one.
#[inline(always)]
fn compare<L: Lanes64>(isa: L, few: &Signatures, many: &mut Signatures) -> u64 {
    #[cfg(test)]
    Reached::Comparison.note();
    let len = many.len();
    many.pad(L::WORDS, u64::MAX);
    let mut pairs = 0;
    for &word in &**few {
        let tests = isa.splat(word);
        for words in many.chunks_exact(L::WORDS) {
            pairs += u64::from(isa.clear_of(isa.load(words), tests).count_ones());
        }
        if word == 0 {
            // Only the empty signature fits the padding.
            pairs -= (many.len() - len) as u64;
        }
    }
    many.truncate(len);
    pairs
}

/// The pairs by tables.
#[inline(always)]
fn sliced<L: Lanes64>(
    isa: L,
    matcher: &mut Matcher<L>,
    bytes: usize,
    lanes: &mut Signatures,
    words: &Signatures,
    order: Order,
) {
    #[cfg(test)]
    Reached::Tables.note();
    let len = lanes.len();
    let group = 64 * L::BLOCKS;
    let is_ordered = order != Order::Unordered && len >= GROUPS_TO_ORDER * group;
    if is_ordered && order == Order::Free {
        #[cfg(test)]
        Reached::Order.note();
        put_in_order(isa, bytes, lanes, words, group, &mut matcher.scratch);
    }
    lanes.pad(64, 0);
    let mut left = std::mem::take(&mut matcher.left);
    for (i, lanes) in lanes.chunks(group).enumerate() {
        let count = lanes.len().min(len - i * group);
        let common = lanes[..count].iter().fold(u64::MAX, |common, lane| common & lane);
        let is_worth_a_choice = is_ordered && common != 0;
        if is_worth_a_choice {
            #[cfg(test)]
            Reached::Choice.note();
            left.clear();
            left.choose(isa, words, common, true);
        }
        let words = if is_worth_a_choice { &left } else { words };
        match bytes {
            0 | 1 => matcher.count::<1>(isa, lanes, count, words),
            2 => matcher.count::<2>(isa, lanes, count, words),
            3 => matcher.count::<3>(isa, lanes, count, words),
            4 => matcher.count::<4>(isa, lanes, count, words),
            5 => matcher.count::<5>(isa, lanes, count, words),
            6 => matcher.count::<6>(isa, lanes, count, words),
            7 => matcher.count::<7>(isa, lanes, count, words),
            _ => matcher.count::<8>(isa, lanes, count, words),
        }
    }
    matcher.left = left;
    lanes.truncate(len);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::isa::{Isa, on_detected};
    use crate::kernel::meet::compiled::CompiledMeet;

    /// Words of a linear congruence (Knuth's constants), with about a third of the bits set.
    fn words(seed: u64, len: usize, keep: u64) -> Signatures {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state ^ state >> 29
        };
        (0..len).map(|_| next() & next() & keep).collect()
    }

    fn agrees<L: CompiledMeet>(isa: L) {
        // Several groups of ordered lanes; the lane is in the last group.
        let all = [(0, 5), (1, 1), (65, 511), (3, 700), (64, 64), (512, 513), (1300, 90), (2000, 2001)];
        let (bytes, sizes) =
            if cfg!(miri) { (7..=8, &[(0, 5), (65, 80), (600, 9)][..]) } else { (1..=8, &all[..]) };
        for bytes in bytes {
            let keep = 0xf8f8_f8f8_f8f8_f8f8 >> (64 - 8 * bytes);
            for &(x, y) in sizes {
                let with_zeros = words(1, x, keep)
                    .iter()
                    .enumerate()
                    .map(|(i, word)| if i % 7 == 0 { 0 } else { *word })
                    .collect();
                let (mut a, mut b): (Signatures, _) = (with_zeros, words(2, y, keep));
                let naive = a.iter().map(|a| b.iter().filter(|b| a & **b == 0).count() as u64).sum::<u64>();
                let mut matcher = Matcher::new(isa);
                for (order, times) in [Order::Free, Order::Ordered, Order::Unordered].into_iter().zip(1..) {
                    isa.join(&mut matcher, bytes, &mut a, &mut b, order);
                    assert_eq!(matcher.pairs(), times * naive, "{bytes} bytes, {x} and {y} words");
                }
            }
        }
    }

    #[test]
    fn every_isa_joins_like_a_double_loop() {
        for isa in Isa::available().into_iter().filter_map(Isa::detect) {
            on_detected!(isa, isa => agrees(isa));
        }
    }
}
