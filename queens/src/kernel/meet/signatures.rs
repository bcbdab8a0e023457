//! Signatures of complete halves: words that use only the upper five bits of each byte.
//!
//! The [tables](super::tables) look a byte up without asking whether it has lower bits. So that none ever has, these
//! words are made here only: from lists, as far as they are in [`SHARED`].

use std::ops::Deref;

use crate::kernel::meet::half::QueenBits;
use crate::kernel::meet::lanes::Lanes64;
use crate::kernel::meet::scan::{choose, scan};

/// The bits of a word that a signature may have: the upper five of each byte.
pub const SHARED: u64 = 0xf8f8_f8f8_f8f8_f8f8;

/// One signature.
#[derive(Clone, Copy, Debug)]
pub struct Signature<'a>(&'a u64);

impl Signature<'_> {
    /// The first `BYTES` bytes of it, each eight times a number below 32. The rest of the array is undefined.
    #[inline(always)]
    pub fn bytes<L: Lanes64, const BYTES: usize>(self, isa: L) -> [usize; 8] {
        isa.bytes::<BYTES>(self.0)
    }
}

/// A list of signatures, which reads as a slice of words.
#[derive(Debug, Default)]
pub struct Signatures(Vec<u64>);

impl Signatures {
    /// Forgets all.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Appends what [`scan`] finds, as far as it is in `keep` and [`SHARED`].
    #[inline(always)]
    pub fn scan<L: Lanes64>(
        &mut self,
        isa: L,
        list_and_margin: &[u64],
        queens: QueenBits,
        keep: u64,
        next: *const u64,
    ) {
        while !scan(isa, list_and_margin, queens, keep & SHARED, next, &mut self.0) {
            self.0.reserve(list_and_margin.len());
        }
    }

    /// Appends those of other signatures that have no bit of `test` (`clear`), or those that have one.
    #[inline(always)]
    pub fn choose<L: Lanes64>(&mut self, isa: L, from: &Self, test: u64, clear: bool) {
        choose(isa, &from.0, test, clear, u64::MAX, &mut self.0);
    }

    /// Makes this those words that have no bit of `test`, as far as they are in `keep` and [`SHARED`].
    #[inline(always)]
    pub fn sieve<L: Lanes64>(&mut self, isa: L, words: &[u64], test: u64, keep: u64) {
        self.0.clear();
        choose(isa, words, test, true, keep & SHARED, &mut self.0);
    }

    /// Appends signatures with these bits of [`SHARED`] until there are a multiple of so many.
    #[inline(always)]
    pub fn pad(&mut self, multiple: usize, bits: u64) {
        self.0.resize(self.0.len().next_multiple_of(multiple), bits & SHARED);
    }

    /// Forgets all but the first.
    pub fn truncate(&mut self, len: usize) {
        self.0.truncate(len);
    }

    /// The signatures, eight at a time, and those left over.
    #[inline(always)]
    pub fn eights(&self) -> (impl Iterator<Item = [Signature<'_>; 8]>, impl Iterator<Item = Signature<'_>>) {
        let (eights, rest) = self.0.as_chunks::<8>();
        (eights.iter().map(|words| words.each_ref().map(Signature)), rest.iter().map(Signature))
    }
}

impl Deref for Signatures {
    type Target = [u64];

    #[inline(always)]
    fn deref(&self) -> &[u64] {
        &self.0
    }
}

#[cfg(test)]
impl FromIterator<u64> for Signatures {
    fn from_iter<T: IntoIterator<Item = u64>>(words: T) -> Self {
        Self(words.into_iter().map(|word| word & SHARED).collect())
    }
}
