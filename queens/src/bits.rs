//! The set bits of a word: rows, columns, or whatever else a word has bits for; and a word as a place.

/// The places of the bits that are set, ascending, 0 for the lowest.
pub(crate) fn set_bits(word: impl Into<u64>) -> impl Iterator<Item = u8> + Clone {
    let mut left = word.into();
    std::iter::from_fn(move || {
        let lowest = (left != 0).then(|| left.trailing_zeros() as u8);
        left &= left.wrapping_sub(1);
        lowest
    })
}

/// Scales `place`, a uniform random word, to a number below `count`.
pub(crate) fn scaled(place: u64, count: u64) -> u64 {
    ((u128::from(place) * u128::from(count)) >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn set_bits_come_in_ascending_order() {
        assert_eq!(set_bits(0u32).count(), 0);
        assert_eq!(set_bits(0b1010_0001u32).collect::<Vec<_>>(), [0, 5, 7]);
        assert_eq!(set_bits(u64::MAX).collect::<Vec<_>>(), (0..64).collect::<Vec<_>>());
    }
}
