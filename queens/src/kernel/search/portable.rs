//! Plain Rust: one lane, a state in four registers. Packing writes every state and moves on by a truth value, so that
//! no branch depends on data; that is what makes it faster than the scalar recursion.
//!
//! Arrays of 2, 4 or 8 words, left to the compiler to vectorise, were no faster on x86-64: what SSE2 saves is lost in
//! packing, which takes lanes out one by one.

use super::body::{self, Descent};
use super::lanes::Lanes;
use super::levels::Levels;
use crate::kernel::{Count, Stop};

/// The search body compiled for every machine.
pub(super) fn search(descent: &Descent, levels: &mut Levels, stop: &Stop) -> Option<Count> {
    // SAFETY: Portable uses nothing that not every machine has.
    unsafe { body::search::<Portable>(descent, levels, stop) }
}

struct Portable;

#[expect(clippy::needless_bitwise_bool, reason = "a lazy operator is a branch")]
impl Lanes for Portable {
    const WIDTH: usize = 1;
    type Word = u32;
    type Mask = bool;

    #[inline(always)]
    unsafe fn splat(word: u32) -> u32 {
        word
    }

    #[inline(always)]
    unsafe fn load(from: *const u32) -> u32 {
        // SAFETY: the caller vouches for one readable word; all words are aligned.
        unsafe { from.read() }
    }

    #[inline(always)]
    unsafe fn or(a: u32, b: u32) -> u32 {
        a | b
    }

    #[inline(always)]
    unsafe fn and(a: u32, b: u32) -> u32 {
        a & b
    }

    #[inline(always)]
    unsafe fn xor(a: u32, b: u32) -> u32 {
        a ^ b
    }

    #[inline(always)]
    unsafe fn or_and(a: u32, b: u32, c: u32) -> u32 {
        a | (b & c)
    }

    #[inline(always)]
    unsafe fn neither(a: u32, b: u32, c: u32) -> u32 {
        !(a | b | c)
    }

    #[inline(always)]
    unsafe fn without_lowest(a: u32) -> u32 {
        a & a.wrapping_sub(1)
    }

    #[inline(always)]
    unsafe fn shl(a: u32, by: u32) -> u32 {
        a << (by & 31)
    }

    #[inline(always)]
    unsafe fn shr(a: u32, by: u32) -> u32 {
        a >> (by & 31)
    }

    #[inline(always)]
    unsafe fn meet(a: u32, b: u32) -> bool {
        a & b != 0
    }

    #[inline(always)]
    unsafe fn meet_within(mask: bool, a: u32, b: u32) -> bool {
        mask & (a & b != 0)
    }

    #[inline(always)]
    unsafe fn apart_within(mask: bool, a: u32, b: u32) -> bool {
        mask & (a & b == 0)
    }

    #[inline(always)]
    unsafe fn count(mask: bool) -> usize {
        usize::from(mask)
    }

    #[inline(always)]
    unsafe fn append(mask: bool, words: [u32; 4], to: [*mut u32; 4]) -> usize {
        for (word, to) in words.into_iter().zip(to) {
            // SAFETY: the caller vouches for one writable word at each place; all words are aligned.
            unsafe { to.write(word) };
        }
        usize::from(mask)
    }
}
