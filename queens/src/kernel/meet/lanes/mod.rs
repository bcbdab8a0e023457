//! What the kernel asks of an instruction set.
//!
//! The bodies of the kernel are generic over [`Lanes`] and inlined into one function per instruction set that has
//! its target features (`grow`, `gather` and `join`).

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod portable;

#[cfg(target_arch = "x86_64")]
pub use avx2::Avx2;
#[cfg(target_arch = "x86_64")]
pub use avx512::Avx512;
pub use portable::Portable;

use crate::kernel::meet::join::Matcher;
use crate::kernel::meet::lists::{Grown, Growth, Lists};
use crate::kernel::meet::passes::Passes;

/// The planes of 64 words: for each byte of a word and each of its bits 3 to 7, the words (one bit each, in the order
/// of [`Lanes::lane`]) that have this bit *clear*.
pub type Planes = [[u64; 5]; 8];

/// Vectors of one instruction set: of signature words, and of bits that stand for half boards.
///
/// # Safety
/// All methods but `lane` may be called only on a machine that has the instruction set. Pointers must be valid for
/// the words named; pointers to `Bits` must be aligned to 64 bytes.
pub trait Lanes: Sized + 'static {
    /// A vector of `WORDS` signature words.
    type Word: Copy;
    /// The words in a vector.
    const WORDS: usize;
    /// A vector of 64 * `BLOCKS` bits.
    type Bits: Copy;
    /// The 64-bit blocks in a vector of bits.
    const BLOCKS: usize;

    /// The word in every place.
    unsafe fn splat(word: u64) -> Self::Word;
    /// `WORDS` words, not aligned.
    unsafe fn load(from: *const u64) -> Self::Word;
    /// The places whose words share no bit with `test`.
    unsafe fn clear_of(words: Self::Word, test: Self::Word) -> u32;
    /// `(words | set) & keep`.
    unsafe fn merge(words: Self::Word, set: Self::Word, keep: Self::Word) -> Self::Word;
    /// Writes the words in the chosen places one after the other; may write `WORDS` words in all.
    unsafe fn store_chosen(to: *mut u64, chosen: u32, words: Self::Word);
    /// Asks for the cache line at any address.
    unsafe fn prefetch(address: *const u64);

    /// The same block everywhere.
    unsafe fn fill(block: u64) -> Self::Bits;
    /// `BLOCKS` blocks.
    unsafe fn load_bits(from: *const u64) -> Self::Bits;
    /// Writes `BLOCKS` blocks.
    unsafe fn store_bits(to: *mut u64, bits: Self::Bits);
    /// `a & b`.
    unsafe fn and(a: Self::Bits, b: Self::Bits) -> Self::Bits;
    /// `a & b & c`.
    unsafe fn and3(a: Self::Bits, b: Self::Bits, c: Self::Bits) -> Self::Bits;
    /// The sum of three bits in each place: (sum, carry).
    unsafe fn add(a: Self::Bits, b: Self::Bits, c: Self::Bits) -> (Self::Bits, Self::Bits);
    /// Adds to each block, as a number, how many bits are set there in `bits`.
    unsafe fn add_ones(sums: Self::Bits, bits: Self::Bits) -> Self::Bits;
    /// The blocks.
    unsafe fn blocks(bits: Self::Bits) -> [u64; 8];
    /// The planes of 64 words, at least for the first `bytes` bytes.
    unsafe fn planes(words: *const u64, bytes: usize, planes: &mut Planes);
    /// Which bit of a plane stands for word `i` of the 64.
    fn lane(i: usize) -> usize;

    /// [`crate::kernel::meet::lists::grow`] with the target features.
    unsafe fn grow(growth: &Growth<'_>, from: &Lists, to: &mut Lists) -> Grown;
    /// [`Passes::gather`] with the target features.
    unsafe fn gather(passes: &mut Passes<'_, Self>, side: usize, set: u32);
    /// [`crate::kernel::meet::join::join`] with the target features.
    unsafe fn join(matcher: &mut Matcher<Self>, bytes: usize, a: &mut Vec<u64>, b: &mut Vec<u64>);
}
