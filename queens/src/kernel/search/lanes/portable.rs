//! Plain Rust: one lane, a state in four registers. Packing writes every state and moves on by a truth value, so that
//! no branch depends on data; that is what makes it faster than the scalar recursion.
//!
//! Arrays of 2, 4 or 8 words, vectorised by the compiler, were no faster on x86-64. The gain from SSE2 is
//! lost in packing, which takes lanes out one by one.

use super::Lanes32;
use crate::kernel::isa::Portable;

#[expect(clippy::needless_bitwise_bool, reason = "a lazy operator is a branch")]
// SAFETY: `append` writes one word at each place and returns 0 or 1, and WIDTH is 1.
unsafe impl Lanes32 for Portable {
    const WIDTH: usize = 1;
    type U32s = u32;
    type Mask = bool;

    #[inline(always)]
    fn splat(self, word: u32) -> u32 {
        word
    }

    #[inline(always)]
    unsafe fn load(self, from: *const u32) -> u32 {
        // SAFETY: the caller has promised a readable, initialised and aligned word.
        unsafe { from.read() }
    }

    #[inline(always)]
    fn or(self, a: u32, b: u32) -> u32 {
        a | b
    }

    #[inline(always)]
    fn and(self, a: u32, b: u32) -> u32 {
        a & b
    }

    #[inline(always)]
    fn xor(self, a: u32, b: u32) -> u32 {
        a ^ b
    }

    #[inline(always)]
    fn or_and(self, a: u32, b: u32, c: u32) -> u32 {
        a | (b & c)
    }

    #[inline(always)]
    fn neither(self, a: u32, b: u32, c: u32) -> u32 {
        !(a | b | c)
    }

    #[inline(always)]
    fn without_lowest(self, a: u32) -> u32 {
        a & a.wrapping_sub(1)
    }

    #[inline(always)]
    fn shl(self, a: u32, by: u32) -> u32 {
        a << (by & 31)
    }

    #[inline(always)]
    fn shr(self, a: u32, by: u32) -> u32 {
        a >> (by & 31)
    }

    #[inline(always)]
    fn meet(self, a: u32, b: u32) -> bool {
        a & b != 0
    }

    #[inline(always)]
    fn meet_within(self, mask: bool, a: u32, b: u32) -> bool {
        mask & (a & b != 0)
    }

    #[inline(always)]
    fn apart_within(self, mask: bool, a: u32, b: u32) -> bool {
        mask & (a & b == 0)
    }

    #[inline(always)]
    fn count(self, mask: bool) -> usize {
        usize::from(mask)
    }

    #[inline(always)]
    unsafe fn append(self, mask: bool, words: [u32; 4], to: [*mut u32; 4]) -> usize {
        for (word, to) in words.into_iter().zip(to) {
            // SAFETY: the caller has promised a writable and aligned word at each place.
            unsafe { to.write(word) };
        }
        usize::from(mask)
    }
}
