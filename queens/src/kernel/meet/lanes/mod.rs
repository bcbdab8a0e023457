//! The operations of the method meet on an instruction set: signature words side by side, and bits that stand
//! for half boards.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "aarch64")]
mod neon;
mod portable;

/// One bit for each of 512 lanes, in blocks of 64.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub struct Blocks(pub [u64; 8]);

/// The planes of 512 words. For each byte of a word and each of its bits 3 to 7, a plane marks the words with
/// this bit *clear*. A word is one bit of the plane; each 64 words are in the order of [`Lanes64::lane`].
pub type Planes = [[Blocks; 5]; 8];

/// Planes without words.
pub const NO_PLANES: Planes = [[Blocks([0; 8]); 5]; 8];

/// Vectors of 64-bit words of an instruction set. The implementing types are tokens: one that exists proves that the
/// machine has the instruction set. Methods are inlined only where the caller is compiled for it.
///
/// # Safety
/// Pointers are advanced by what the methods return: [`clear_of`](Self::clear_of) must set no bit from `WORDS` on, and
/// [`store_chosen`](Self::store_chosen) must write as many words as `chosen` has ones.
pub unsafe trait Lanes64: Copy {
    /// A vector of `WORDS` words.
    type U64s: Copy;
    /// The words in a vector.
    const WORDS: usize;
    /// A vector of 64 * `BLOCKS` bits.
    type Bits: Copy;
    /// The blocks of 64 bits in a vector of bits.
    const BLOCKS: usize;

    /// The word in every place.
    fn splat(self, word: u64) -> Self::U64s;
    /// The `WORDS` words from `from` on, aligned as words are.
    ///
    /// # Safety
    /// They must be readable and initialised.
    unsafe fn load_at(self, from: *const u64) -> Self::U64s;
    /// The first `WORDS` words.
    ///
    /// # Panics
    /// If there are fewer.
    #[inline(always)]
    fn load(self, words: &[u64]) -> Self::U64s {
        assert!(words.len() >= Self::WORDS, "a whole vector");
        // SAFETY: so many words are behind the reference.
        unsafe { self.load_at(words.as_ptr()) }
    }
    /// The places whose words share no bit with `test`, one bit each.
    fn clear_of(self, words: Self::U64s, test: Self::U64s) -> u32;
    /// `(words | set) & keep`.
    fn merge(self, words: Self::U64s, set: Self::U64s, keep: Self::U64s) -> Self::U64s;
    /// Writes the words in the chosen places one after the other; those after them, `WORDS` in all, hold anything
    /// afterwards.
    ///
    /// # Safety
    /// `WORDS` words must be writable, aligned as words are.
    unsafe fn store_chosen(self, to: *mut u64, chosen: u32, words: Self::U64s);
    /// Asks for the cache line at any address.
    fn prefetch(self, address: *const u64);

    /// The first `BYTES` bytes of a word, from the lowest on. The rest of the array is undefined.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "a byte may be loaded by its address")]
    #[inline(always)]
    fn bytes<const BYTES: usize>(self, word: &u64) -> [usize; 8] {
        word.to_le_bytes().map(usize::from)
    }

    /// The same block everywhere.
    fn fill(self, block: u64) -> Self::Bits;
    /// The first `BLOCKS` blocks.
    fn load_bits(self, from: &Blocks) -> Self::Bits;
    /// `a & b`.
    fn and(self, a: Self::Bits, b: Self::Bits) -> Self::Bits;
    /// `a & b & c`.
    fn and3(self, a: Self::Bits, b: Self::Bits, c: Self::Bits) -> Self::Bits;
    /// The sum of three bits in each place: (sum, carry).
    fn add(self, a: Self::Bits, b: Self::Bits, c: Self::Bits) -> (Self::Bits, Self::Bits);
    /// Adds to each block, as a number, how many bits are set there in `bits`.
    fn add_ones(self, sums: Self::Bits, bits: Self::Bits) -> Self::Bits;
    /// The blocks, zeros behind them.
    fn blocks(self, bits: Self::Bits) -> [u64; 8];
    /// Writes into one block of the planes of the first `BYTES` bytes what 64 words have clear.
    fn planes<const BYTES: usize>(self, words: &[u64; 64], block: usize, planes: &mut Planes);
    /// Which bit of a block stands for word `i` of the 64.
    fn lane(self, i: usize) -> usize;
}
