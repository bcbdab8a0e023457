//! One bit for each unit of a plan, in blocks of a fixed size, so that the checkpoint need not write them all.

use std::collections::BTreeSet;
use std::ops::Range;

/// Bytes in a block: the bits of 8,192 units.
pub const BLOCK_BYTES: usize = 1024;
const BLOCK_WORDS: usize = BLOCK_BYTES / 8;

/// A set of numbers below a bound. Remembers which blocks have changed.
#[derive(Clone, Debug)]
pub struct Bitmap {
    words: Vec<u64>,
    ones: u64,
    changed: BTreeSet<usize>,
}

impl Bitmap {
    /// The empty set of numbers below `bound`.
    pub fn new(bound: u64) -> Self {
        let blocks = bound.div_ceil(8 * BLOCK_BYTES as u64) as usize;
        Self { words: vec![0; blocks * BLOCK_WORDS], ones: 0, changed: BTreeSet::new() }
    }

    /// How many numbers are in the set.
    pub fn len(&self) -> u64 {
        self.ones
    }

    /// How many numbers of a range below the bound are in the set.
    pub fn len_within(&self, numbers: Range<u64>) -> u64 {
        if numbers.is_empty() {
            return 0;
        }
        let last = numbers.end - 1;
        let [from, to] = [u64::MAX << (numbers.start % 64), u64::MAX >> (63 - last % 64)];
        let ones = |word: u64| u64::from(word.count_ones());
        match &self.words[(numbers.start / 64) as usize..=(last / 64) as usize] {
            [] => 0,
            [word] => ones(word & from & to),
            [first, between @ .., last] => {
                ones(first & from) + between.iter().map(|word| ones(*word)).sum::<u64>() + ones(last & to)
            }
        }
    }

    /// Whether the number is in the set.
    pub fn contains(&self, number: u64) -> bool {
        self.words[(number / 64) as usize] >> (number % 64) & 1 == 1
    }

    /// Puts the number in; says whether it was not there before.
    pub fn insert(&mut self, number: u64) -> bool {
        let new = !self.contains(number);
        if new {
            self.flip(number);
            self.ones += 1;
        }
        new
    }

    /// Takes the number out; says whether it was there.
    pub fn remove(&mut self, number: u64) -> bool {
        let there = self.contains(number);
        if there {
            self.flip(number);
            self.ones -= 1;
        }
        there
    }

    /// The numbers in the set, ascending.
    pub fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        self.words.iter().zip(0u64..).flat_map(|(word, index)| {
            let rest = |bits: &u64| Some(bits & (bits - 1)).filter(|rest| *rest != 0);
            let bits = std::iter::successors(Some(*word).filter(|word| *word != 0), rest);
            bits.map(move |bits| 64 * index + u64::from(bits.trailing_zeros()))
        })
    }

    fn flip(&mut self, number: u64) {
        let word = (number / 64) as usize;
        self.words[word] ^= 1 << (number % 64);
        self.changed.insert(word / BLOCK_WORDS);
    }

    /// The number of blocks.
    pub fn blocks(&self) -> usize {
        self.words.len() / BLOCK_WORDS
    }

    /// The bytes of a block, little-endian.
    pub fn block(&self, block: usize) -> Vec<u8> {
        let words = &self.words[block * BLOCK_WORDS..][..BLOCK_WORDS];
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    /// Fills a block from its bytes; says whether there were as many as a block has.
    pub fn set_block(&mut self, block: usize, bytes: &[u8]) -> bool {
        if bytes.len() != BLOCK_BYTES {
            return false;
        }
        for (i, word) in bytes.chunks_exact(8).enumerate() {
            let word = word.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte));
            let old = std::mem::replace(&mut self.words[block * BLOCK_WORDS + i], word);
            self.ones = self.ones - u64::from(old.count_ones()) + u64::from(word.count_ones());
        }
        true
    }

    /// Has all blocks count as changed.
    pub fn change_all(&mut self) {
        self.changed = (0..self.blocks()).collect();
    }

    /// The blocks that have changed since this was last asked.
    pub fn take_changed(&mut self) -> BTreeSet<usize> {
        std::mem::take(&mut self.changed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_numbers_of_a_range_are_counted(
            numbers in proptest::collection::btree_set(0u64..20_000, 0..300),
            (start, size) in (0u64..20_000, 0u64..20_000),
        ) {
            let mut bitmap = Bitmap::new(20_000);
            numbers.iter().for_each(|number| _ = bitmap.insert(*number));
            for range in [start..(start + size).min(20_000), start..start, 0..20_000, start..start + 1, 64..128] {
                let within = numbers.iter().filter(|number| range.contains(*number)).count() as u64;
                prop_assert_eq!(bitmap.len_within(range), within);
            }
        }
    }
}
