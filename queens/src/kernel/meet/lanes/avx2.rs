//! AVX2: four words, 256 bits. Words are compressed by a permutation from a table.

#[allow(clippy::wildcard_imports)] // Not in tests, so not to be expected.
use std::arch::x86_64::*;

use crate::kernel::meet::join::{self, Matcher};
use crate::kernel::meet::lanes::{Lanes, Planes};
use crate::kernel::meet::lists::{self, Grown, Growth, Lists};
use crate::kernel::meet::passes::Passes;

/// AVX2.
#[derive(Debug)]
pub struct Avx2;

/// For each choice of four words, the 32-bit places that bring the chosen words to the front.
const FRONT: [[u32; 8]; 16] = {
    let mut table = [[0; 8]; 16];
    let mut chosen = 0;
    while chosen < 16 {
        let mut to = 0;
        let mut word = 0;
        while word < 4 {
            if chosen >> word & 1 == 1 {
                table[chosen][to] = 2 * word;
                table[chosen][to + 1] = 2 * word + 1;
                to += 2;
            }
            word += 1;
        }
        chosen += 1;
    }
    table
};

// SAFETY of all methods: they are called only on machines that have the features (the promise of `Lanes`), and
// pointers are valid as the trait asks.
impl Lanes for Avx2 {
    type Word = __m256i;
    const WORDS: usize = 4;
    type Bits = __m256i;
    const BLOCKS: usize = 4;

    #[inline(always)]
    unsafe fn splat(word: u64) -> __m256i {
        // SAFETY: as above.
        unsafe { _mm256_set1_epi64x(word as i64) }
    }

    #[inline(always)]
    unsafe fn load(from: *const u64) -> __m256i {
        // SAFETY: as above.
        unsafe { _mm256_loadu_si256(from.cast()) }
    }

    #[inline(always)]
    unsafe fn clear_of(words: __m256i, test: __m256i) -> u32 {
        // SAFETY: as above.
        unsafe {
            let clear = _mm256_cmpeq_epi64(_mm256_and_si256(words, test), _mm256_setzero_si256());
            _mm256_movemask_pd(_mm256_castsi256_pd(clear)) as u32
        }
    }

    #[inline(always)]
    unsafe fn merge(words: __m256i, set: __m256i, keep: __m256i) -> __m256i {
        // SAFETY: as above.
        unsafe { _mm256_and_si256(_mm256_or_si256(words, set), keep) }
    }

    #[inline(always)]
    unsafe fn store_chosen(to: *mut u64, chosen: u32, words: __m256i) {
        // SAFETY: as above; `chosen` has four bits.
        unsafe {
            let front = _mm256_loadu_si256(FRONT[(chosen & 15) as usize].as_ptr().cast());
            _mm256_storeu_si256(to.cast(), _mm256_permutevar8x32_epi32(words, front));
        }
    }

    #[inline(always)]
    unsafe fn prefetch(address: *const u64) {
        // SAFETY: a prefetch may name any address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) }
    }

    #[inline(always)]
    unsafe fn fill(block: u64) -> __m256i {
        // SAFETY: as above.
        unsafe { _mm256_set1_epi64x(block as i64) }
    }

    #[inline(always)]
    unsafe fn load_bits(from: *const u64) -> __m256i {
        // SAFETY: as above.
        unsafe { _mm256_load_si256(from.cast()) }
    }

    #[inline(always)]
    unsafe fn store_bits(to: *mut u64, bits: __m256i) {
        // SAFETY: as above.
        unsafe { _mm256_store_si256(to.cast(), bits) }
    }

    #[inline(always)]
    unsafe fn and(a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: as above.
        unsafe { _mm256_and_si256(a, b) }
    }

    #[inline(always)]
    unsafe fn and3(a: __m256i, b: __m256i, c: __m256i) -> __m256i {
        // SAFETY: as above.
        unsafe { _mm256_and_si256(_mm256_and_si256(a, b), c) }
    }

    #[inline(always)]
    unsafe fn add(a: __m256i, b: __m256i, c: __m256i) -> (__m256i, __m256i) {
        // SAFETY: as above.
        unsafe {
            let half = _mm256_xor_si256(a, b);
            let carry = _mm256_or_si256(_mm256_and_si256(a, b), _mm256_and_si256(half, c));
            (_mm256_xor_si256(half, c), carry)
        }
    }

    #[inline(always)]
    unsafe fn add_ones(sums: __m256i, bits: __m256i) -> __m256i {
        // SAFETY: as above. The ones of each nibble by a shuffle, summed over eight bytes each.
        unsafe {
            let ones =
                _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4));
            let nibble = _mm256_set1_epi8(15);
            let low = _mm256_shuffle_epi8(ones, _mm256_and_si256(bits, nibble));
            let high = _mm256_shuffle_epi8(ones, _mm256_and_si256(_mm256_srli_epi16::<4>(bits), nibble));
            _mm256_add_epi64(sums, _mm256_sad_epu8(_mm256_add_epi8(low, high), _mm256_setzero_si256()))
        }
    }

    #[inline(always)]
    unsafe fn blocks(bits: __m256i) -> [u64; 8] {
        let mut blocks = [0; 8];
        // SAFETY: as above; room for four blocks.
        unsafe { _mm256_storeu_si256(blocks.as_mut_ptr().cast(), bits) }
        blocks
    }

    #[inline(always)]
    unsafe fn planes(words: *const u64, bytes: usize, planes: &mut Planes) {
        // SAFETY: as above; 32 words are read twice.
        unsafe {
            let pairs = _mm256_broadcastsi128_si256(_mm_setr_epi8(
                0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15,
            ));
            for part in [0, 32] {
                let mut a = [_mm256_setzero_si256(); 8];
                let mut b = a;
                for (i, a) in a.iter_mut().enumerate() {
                    *a = _mm256_shuffle_epi8(_mm256_loadu_si256(words.add(part + 4 * i).cast()), pairs);
                }
                for i in 0..4 {
                    b[i] = _mm256_unpacklo_epi16(a[2 * i], a[2 * i + 1]);
                    b[4 + i] = _mm256_unpackhi_epi16(a[2 * i], a[2 * i + 1]);
                }
                for half in [0, 4] {
                    for i in [0, 1] {
                        a[half + i] = _mm256_unpacklo_epi32(b[half + 2 * i], b[half + 2 * i + 1]);
                        a[half + 2 + i] = _mm256_unpackhi_epi32(b[half + 2 * i], b[half + 2 * i + 1]);
                    }
                }
                for i in 0..4 {
                    b[2 * i] = _mm256_unpacklo_epi64(a[2 * i], a[2 * i + 1]);
                    b[2 * i + 1] = _mm256_unpackhi_epi64(a[2 * i], a[2 * i + 1]);
                }
                for (byte, planes) in planes.iter_mut().enumerate().take(bytes) {
                    let mut clear = _mm256_xor_si256(b[byte], _mm256_set1_epi8(-1));
                    for plane in planes.iter_mut().rev() {
                        let bits = u64::from(_mm256_movemask_epi8(clear) as u32);
                        *plane = if part == 0 { bits } else { *plane | bits << 32 };
                        clear = _mm256_add_epi8(clear, clear);
                    }
                }
            }
        }
    }

    #[inline(always)]
    fn lane(i: usize) -> usize {
        i / 32 * 32 + i % 4 / 2 * 16 + i % 32 / 4 * 2 + i % 2
    }

    #[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
    unsafe fn grow(growth: &Growth<'_>, from: &Lists, to: &mut Lists) -> Grown {
        // SAFETY: as above.
        unsafe { lists::grow::<Self>(growth, from, to) }
    }

    #[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
    unsafe fn gather(passes: &mut Passes<'_, Self>, side: usize, set: u32) {
        // SAFETY: as above.
        unsafe { passes.gather(side, set) }
    }

    #[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
    unsafe fn join(matcher: &mut Matcher<Self>, bytes: usize, a: &mut Vec<u64>, b: &mut Vec<u64>) {
        // SAFETY: as above.
        unsafe { join::join::<Self>(matcher, bytes, a, b) }
    }
}
