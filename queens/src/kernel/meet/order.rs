//! The order of lanes: by a few bits that are often set, so that the lanes of a group share some.

use arrayvec::ArrayVec;

use crate::kernel::meet::lanes::{Lanes64, NO_PLANES};
use crate::kernel::meet::signatures::Signatures;

/// Lists are ordered by this many bits at most.
pub const MOST_BITS: usize = 5;

/// Orders the lanes by the bits of the first `bytes` bytes that are likeliest to be set in both lists: as many as make
/// groups of `group` lanes alike.
#[inline(always)]
pub fn put_in_order<L: Lanes64>(
    isa: L,
    bytes: usize,
    lanes: &mut Signatures,
    words: &Signatures,
    group: usize,
    scratch: &mut Signatures,
) {
    let wanted = (lanes.len() / group).ilog2() as usize + 1;
    // Order by the likeliest bit last: it divides the whole list.
    for bit in common_bits(isa, bytes, u64::MAX, lanes, words, wanted) {
        scratch.clear();
        scratch.choose(isa, lanes, 1 << bit, true);
        scratch.choose(isa, lanes, 1 << bit, false);
        std::mem::swap(lanes, scratch);
    }
}

/// At most so many bits of `keep`, in the first `bytes` bytes, that are likeliest to be set in both lists, the likeliest last.
#[inline(always)]
pub fn common_bits<L: Lanes64>(
    isa: L,
    bytes: usize,
    keep: u64,
    a: &[u64],
    b: &[u64],
    most: usize,
) -> ArrayVec<usize, MOST_BITS> {
    likeliest(sampled(isa, bytes, keep, a), sampled(isa, bytes, keep, b), most.min(MOST_BITS))
}

/// At most so many bits that are likeliest to be set in both samples, the likeliest last. The same for all instruction sets,
/// so compiled once.
fn likeliest(in_lanes: [u32; 64], in_words: [u32; 64], most: usize) -> ArrayVec<usize, MOST_BITS> {
    let mut best = ArrayVec::<_, MOST_BITS>::new();
    for bit in (0..64).filter(|bit| in_lanes[*bit] * in_words[*bit] > 0) {
        let chance = in_lanes[bit] * in_words[bit];
        let place = best.partition_point(|(less, _)| *less <= chance);
        if best.len() < most {
            best.insert(place, (chance, bit));
        } else if place > 0 {
            best[..place].rotate_left(1);
            best[place - 1] = (chance, bit);
        }
    }
    best.into_iter().map(|(_, bit)| bit).collect()
}

/// How many of 64 words, taken evenly from the list, have each bit of their first bytes set.
#[inline(always)]
fn sampled<L: Lanes64>(isa: L, bytes: usize, keep: u64, words: &[u64]) -> [u32; 64] {
    let sample: [u64; 64] = std::array::from_fn(|i| words[i * words.len() / 64] & keep);
    let mut planes = NO_PLANES;
    isa.planes::<8>(&sample, 0, &mut planes);
    let mut set = [0; 64];
    for (byte, planes) in planes.iter().enumerate().take(bytes) {
        for (bit, clear) in planes.iter().enumerate() {
            set[8 * byte + 3 + bit] = clear.0[0].count_zeros();
        }
    }
    set
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_likeliest_bits_are_the_last_of_all_in_order() {
        let sample = |factor: u32| std::array::from_fn(|bit| (bit as u32 * factor + 3) % 11);
        for (in_lanes, in_words) in [(sample(7), sample(5)), (sample(3), [0; 64]), (sample(1), sample(1))] {
            let chance = |bit: &usize| in_lanes[*bit] * in_words[*bit];
            let mut all: Vec<usize> = (0..64).filter(|bit| chance(bit) > 0).collect();
            all.sort_by_key(chance);
            for most in 1..=MOST_BITS {
                let last = &all[all.len().saturating_sub(most)..];
                assert_eq!(&*likeliest(in_lanes, in_words, most), last);
            }
        }
    }
}
