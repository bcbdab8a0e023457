//! One bit for each unit of a plan.

use std::ops::Range;

use fixedbitset::FixedBitSet;

/// The bytes of a block, as the checkpoint keeps it.
pub const BLOCK_BYTES: usize = 1 << 10;

const BLOCK_BITS: usize = 8 * BLOCK_BYTES;

/// A set of numbers below a bound, which knows its size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bitmap {
    bits: FixedBitSet,
    ones: u64,
}

impl Bitmap {
    /// The empty set of numbers below `bound`.
    pub fn new(bound: u64) -> Self {
        Self { bits: FixedBitSet::with_capacity(bound as usize), ones: 0 }
    }

    /// The number that all elements are below.
    pub fn bound(&self) -> u64 {
        self.bits.len() as u64
    }

    /// The number of elements.
    pub fn len(&self) -> u64 {
        self.ones
    }

    /// The number of elements within a range below the bound.
    pub fn len_within(&self, numbers: Range<u64>) -> u64 {
        self.bits.count_ones(numbers.start as usize..numbers.end as usize) as u64
    }

    /// True if the number is in the set.
    pub fn contains(&self, number: u64) -> bool {
        self.bits[number as usize]
    }

    /// Adds the number; true if it is new.
    pub fn insert(&mut self, number: u64) -> bool {
        let is_new = !self.bits.put(number as usize);
        self.ones += u64::from(is_new);
        is_new
    }

    /// Removes the number; true if it was in the set.
    pub fn remove(&mut self, number: u64) -> bool {
        let was_in = self.contains(number);
        self.bits.remove(number as usize);
        self.ones -= u64::from(was_in);
        was_in
    }

    /// The elements, ascending.
    pub fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        self.bits.ones().map(|number| number as u64)
    }

    /// The blocks that have an element, by number: the bits in ascending order, without the zero bytes at the end.
    pub fn blocks(&self) -> impl Iterator<Item = (usize, Vec<u8>)> + '_ {
        let words = self.bits.as_slice().chunks(BLOCK_BITS / usize::BITS as usize);
        words.enumerate().filter(|(_, words)| words.iter().any(|word| *word != 0)).map(|(block, words)| {
            let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            bytes.truncate(bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1));
            (block, bytes)
        })
    }

    /// Adds the elements of a block; none if it has a number that is not below the bound.
    pub fn add_block(&mut self, block: usize, bytes: &[u8]) -> Option<()> {
        let first = block.checked_mul(BLOCK_BITS)?;
        if bytes.len() > BLOCK_BYTES {
            return None;
        }
        for (index, byte) in bytes.iter().enumerate() {
            for bit in (0..8).filter(|bit| byte >> bit & 1 == 1) {
                let number = first + 8 * index + bit;
                if number >= self.bits.len() {
                    return None;
                }
                self.insert(number as u64);
            }
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn len_within_counts_the_elements_of_the_range(
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
        fn blocks_give_the_same_set_again(
            bound in 1u64..30_000,
            numbers in proptest::collection::vec(any::<u64>(), 0..50),
        ) {
            let mut bitmap = Bitmap::new(bound);
            numbers.iter().for_each(|number| _ = bitmap.insert(number % bound));
            let mut again = Bitmap::new(bound);
            for (block, bytes) in bitmap.blocks() {
                prop_assert!(!bytes.is_empty() && bytes.len() <= BLOCK_BYTES);
                again.add_block(block, &bytes).unwrap();
            }
            prop_assert_eq!(&again, &bitmap);
            prop_assert_eq!(again.len(), bitmap.iter().count() as u64);
        }
    }

    #[test]
    fn a_block_beyond_the_bound_is_refused() {
        let mut bitmap = Bitmap::new(9_000);
        assert_eq!(bitmap.add_block(1, &[0, 1]), Some(()));
        assert_eq!(bitmap.iter().collect::<Vec<_>>(), [8_200]);
        assert_eq!(bitmap.add_block(2, &[1]), None);
        assert_eq!(bitmap.add_block(usize::MAX, &[1]), None);
        assert_eq!(bitmap.add_block(0, &[0; BLOCK_BYTES + 1]), None);
    }
}
