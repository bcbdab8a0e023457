//! Plain Rust: one word at a time, and 256 bits as an array that compilers put into whatever vectors there are.

use crate::kernel::meet::join::{self, Matcher};
use crate::kernel::meet::lanes::{Lanes, Planes};
use crate::kernel::meet::lists::{self, Grown, Growth, Lists};
use crate::kernel::meet::passes::Passes;

/// No instruction set in particular.
#[derive(Debug)]
pub struct Portable;

// SAFETY of all methods: pointers are valid as the trait asks; nothing else is needed.
impl Lanes for Portable {
    type Word = u64;
    const WORDS: usize = 1;
    type Bits = [u64; 4];
    const BLOCKS: usize = 4;

    #[inline(always)]
    unsafe fn splat(word: u64) -> u64 {
        word
    }

    #[inline(always)]
    unsafe fn load(from: *const u64) -> u64 {
        // SAFETY: as above.
        unsafe { *from }
    }

    #[inline(always)]
    unsafe fn clear_of(word: u64, test: u64) -> u32 {
        u32::from(word & test == 0)
    }

    #[inline(always)]
    unsafe fn merge(word: u64, set: u64, keep: u64) -> u64 {
        (word | set) & keep
    }

    #[inline(always)]
    unsafe fn store_chosen(to: *mut u64, _chosen: u32, word: u64) {
        // Written in any case and overwritten if not chosen: no branch to mispredict.
        // SAFETY: as above.
        unsafe { *to = word }
    }

    #[inline(always)]
    unsafe fn prefetch(_address: *const u64) {}

    #[inline(always)]
    unsafe fn fill(block: u64) -> [u64; 4] {
        [block; 4]
    }

    #[inline(always)]
    unsafe fn load_bits(from: *const u64) -> [u64; 4] {
        // SAFETY: as above.
        unsafe { *from.cast() }
    }

    #[inline(always)]
    unsafe fn store_bits(to: *mut u64, bits: [u64; 4]) {
        // SAFETY: as above.
        unsafe { *to.cast() = bits }
    }

    #[inline(always)]
    unsafe fn and(a: [u64; 4], b: [u64; 4]) -> [u64; 4] {
        std::array::from_fn(|i| a[i] & b[i])
    }

    #[inline(always)]
    unsafe fn and3(a: [u64; 4], b: [u64; 4], c: [u64; 4]) -> [u64; 4] {
        std::array::from_fn(|i| a[i] & b[i] & c[i])
    }

    #[inline(always)]
    unsafe fn add(a: [u64; 4], b: [u64; 4], c: [u64; 4]) -> ([u64; 4], [u64; 4]) {
        let half: [u64; 4] = std::array::from_fn(|i| a[i] ^ b[i]);
        let carry = std::array::from_fn(|i| a[i] & b[i] | half[i] & c[i]);
        (std::array::from_fn(|i| half[i] ^ c[i]), carry)
    }

    #[inline(always)]
    unsafe fn add_ones(sums: [u64; 4], bits: [u64; 4]) -> [u64; 4] {
        std::array::from_fn(|i| sums[i] + u64::from(bits[i].count_ones()))
    }

    #[inline(always)]
    unsafe fn blocks(bits: [u64; 4]) -> [u64; 8] {
        let [a, b, c, d] = bits;
        [a, b, c, d, 0, 0, 0, 0]
    }

    #[inline(always)]
    unsafe fn planes(words: *const u64, bytes: usize, planes: &mut Planes) {
        for (byte, planes) in planes.iter_mut().enumerate().take(bytes) {
            *planes = [0; 5];
            for group in 0..8 {
                // One byte of each of eight words, and then one bit of each of these bytes by a multiplication.
                let eight = (0..8).fold(0, |eight, i| {
                    // SAFETY: as above; 64 words are read.
                    let word = unsafe { *words.add(8 * group + i) };
                    eight | (word >> (8 * byte) & 0xff) << (8 * i)
                });
                for (bit, plane) in planes.iter_mut().enumerate() {
                    let ones = !eight >> (bit + 3) & 0x0101_0101_0101_0101;
                    *plane |= (ones.wrapping_mul(0x0102_0408_1020_4080) >> 56) << (8 * group);
                }
            }
        }
    }

    #[inline(always)]
    fn lane(i: usize) -> usize {
        i
    }

    unsafe fn grow(growth: &Growth<'_>, from: &Lists, to: &mut Lists) -> Grown {
        // SAFETY: as above.
        unsafe { lists::grow::<Self>(growth, from, to) }
    }

    unsafe fn gather(passes: &mut Passes<'_, Self>, side: usize, set: u32) {
        // SAFETY: as above.
        unsafe { passes.gather(side, set) }
    }

    unsafe fn join(matcher: &mut Matcher<Self>, bytes: usize, a: &mut Vec<u64>, b: &mut Vec<u64>) {
        // SAFETY: as above.
        unsafe { join::join::<Self>(matcher, bytes, a, b) }
    }
}
