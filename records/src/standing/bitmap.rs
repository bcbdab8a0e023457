//! One bit for each unit of a plan.

use std::ops::Range;

/// A set of numbers below a bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bitmap {
    words: Vec<u64>,
    ones: u64,
}

impl Bitmap {
    /// The empty set of numbers below `bound`.
    pub fn new(bound: u64) -> Self {
        Self { words: vec![0; words(bound)], ones: 0 }
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
        self.words[(number / 64) as usize] ^= 1 << (number % 64);
    }

    /// Writes its words, little-endian.
    pub fn write_to(&self, bytes: &mut Vec<u8>) {
        bytes.reserve(8 * self.words.len());
        self.words.iter().for_each(|word| bytes.extend_from_slice(&word.to_le_bytes()));
    }

    /// The set of numbers below `bound` whose words come first in `bytes`, which are left with what follows them; nothing
    /// where there are fewer, or a number that is not below the bound.
    pub fn read(bound: u64, bytes: &mut &[u8]) -> Option<Self> {
        let read = bytes.split_off(..8 * words(bound))?;
        let words: Vec<u64> = read.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)).collect();
        let ones = words.iter().map(|word| u64::from(word.count_ones())).sum();
        let is_below = words
            .last()
            .is_none_or(|last| 64 * words.len() as u64 - u64::from(last.leading_zeros()) <= bound);
        is_below.then_some(Self { words, ones })
    }
}

/// How many words have a bit for each number below `bound`.
fn words(bound: u64) -> usize {
    bound.div_ceil(64) as usize
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

        #[test]
        fn what_is_written_is_read_again_and_nothing_else(
            bound in 1u64..300,
            numbers in proptest::collection::vec(any::<u64>(), 0..50),
            more in any::<[u8; 3]>(),
        ) {
            let mut bitmap = Bitmap::new(bound);
            numbers.iter().for_each(|number| _ = bitmap.insert(number % bound));
            let mut bytes = Vec::new();
            bitmap.write_to(&mut bytes);
            let written = bytes.len();
            bytes.extend(more);
            let mut rest = &bytes[..];
            let read = Bitmap::read(bound, &mut rest).unwrap();
            prop_assert_eq!(rest, &more[..]);
            prop_assert_eq!(read.len(), bitmap.len());
            prop_assert!(read.iter().eq(bitmap.iter()));
            prop_assert!(Bitmap::read(bound, &mut &bytes[..written - 1]).is_none());
            let largest = bitmap.iter().last();
            prop_assert!(largest.is_none_or(|largest| largest % 64 == 0 || Bitmap::read(largest, &mut &bytes[..]).is_none()));
        }
    }
}
