//! Plain Rust: 8 lanes in arrays, which compilers turn into the vectors that a machine has (SSE2, NEON). Packing
//! writes every lane and moves on by its truth value, so that no branch depends on data.

use std::array::from_fn;

use super::body::{self, Descent};
use super::lanes::Lanes;
use super::levels::Levels;
use crate::kernel::{Count, Stop};

/// The search body compiled for every machine.
pub(super) fn search(descent: &Descent, levels: &mut Levels, stop: &Stop) -> Option<Count> {
    // SAFETY: Portable uses nothing that not every machine has.
    unsafe { body::search::<Portable>(descent, levels, stop) }
}

const WIDTH: usize = 8;

struct Portable;

/// A mask has 1 in each lane that belongs to it, 0 in the others.
impl Lanes for Portable {
    const WIDTH: usize = WIDTH;
    type Word = [u32; WIDTH];
    type Mask = [u32; WIDTH];

    #[inline(always)]
    unsafe fn splat(word: u32) -> Self::Word {
        [word; WIDTH]
    }

    #[inline(always)]
    unsafe fn load(from: *const u32) -> Self::Word {
        // SAFETY: the caller vouches for `WIDTH` readable words; the read is an unaligned one.
        unsafe { from.cast::<Self::Word>().read_unaligned() }
    }

    #[inline(always)]
    unsafe fn or(a: Self::Word, b: Self::Word) -> Self::Word {
        from_fn(|i| a[i] | b[i])
    }

    #[inline(always)]
    unsafe fn and(a: Self::Word, b: Self::Word) -> Self::Word {
        from_fn(|i| a[i] & b[i])
    }

    #[inline(always)]
    unsafe fn xor(a: Self::Word, b: Self::Word) -> Self::Word {
        from_fn(|i| a[i] ^ b[i])
    }

    #[inline(always)]
    unsafe fn or_and(a: Self::Word, b: Self::Word, c: Self::Word) -> Self::Word {
        from_fn(|i| a[i] | (b[i] & c[i]))
    }

    #[inline(always)]
    unsafe fn neither(a: Self::Word, b: Self::Word, c: Self::Word) -> Self::Word {
        from_fn(|i| !(a[i] | b[i] | c[i]))
    }

    #[inline(always)]
    unsafe fn without_lowest(a: Self::Word) -> Self::Word {
        from_fn(|i| a[i] & a[i].wrapping_sub(1))
    }

    /// All lanes shift alike, which SSE2 can do and a shift by lane cannot.
    #[inline(always)]
    unsafe fn shl(a: Self::Word, by: Self::Word) -> Self::Word {
        from_fn(|i| a[i] << (by[0] & 31))
    }

    #[inline(always)]
    unsafe fn shr(a: Self::Word, by: Self::Word) -> Self::Word {
        from_fn(|i| a[i] >> (by[0] & 31))
    }

    #[inline(always)]
    unsafe fn meet(a: Self::Word, b: Self::Word) -> Self::Mask {
        from_fn(|i| u32::from(a[i] & b[i] != 0))
    }

    #[inline(always)]
    unsafe fn meet_within(mask: Self::Mask, a: Self::Word, b: Self::Word) -> Self::Mask {
        from_fn(|i| mask[i] & u32::from(a[i] & b[i] != 0))
    }

    #[inline(always)]
    unsafe fn apart_within(mask: Self::Mask, a: Self::Word, b: Self::Word) -> Self::Mask {
        from_fn(|i| mask[i] & u32::from(a[i] & b[i] == 0))
    }

    #[inline(always)]
    unsafe fn count(mask: Self::Mask) -> usize {
        mask.iter().sum::<u32>() as usize
    }

    #[inline(always)]
    unsafe fn append(mask: Self::Mask, words: [Self::Word; 4], to: [*mut u32; 4]) -> usize {
        let mut packed = 0;
        for lane in 0..WIDTH {
            for (word, to) in words.iter().zip(to) {
                // SAFETY: packed <= lane < WIDTH, and the caller vouches for `WIDTH` writable words.
                unsafe { to.add(packed).write(word[lane]) };
            }
            packed += mask[lane] as usize;
        }
        packed
    }
}
