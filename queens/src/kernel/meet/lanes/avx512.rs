//! AVX-512 with F, BW, DQ and VL: eight words, 512 bits.

#[allow(clippy::wildcard_imports)] // Not in tests, so not to be expected.
use std::arch::x86_64::*;

use crate::kernel::meet::join::{self, Matcher};
use crate::kernel::meet::lanes::{Lanes, Planes};
use crate::kernel::meet::lists::{self, Grown, Growth, Lists};
use crate::kernel::meet::passes::Passes;

/// AVX-512.
#[derive(Debug)]
pub struct Avx512;

// SAFETY of all methods: they are called only on machines that have the features (the promise of `Lanes`), and
// pointers are valid as the trait asks.
impl Lanes for Avx512 {
    type Word = __m512i;
    const WORDS: usize = 8;
    type Bits = __m512i;
    const BLOCKS: usize = 8;

    #[inline(always)]
    unsafe fn splat(word: u64) -> __m512i {
        // SAFETY: as above.
        unsafe { _mm512_set1_epi64(word as i64) }
    }

    #[inline(always)]
    unsafe fn load(from: *const u64) -> __m512i {
        // SAFETY: as above.
        unsafe { _mm512_loadu_si512(from.cast()) }
    }

    #[inline(always)]
    unsafe fn clear_of(words: __m512i, test: __m512i) -> u32 {
        // SAFETY: as above.
        unsafe { u32::from(_mm512_testn_epi64_mask(words, test)) }
    }

    #[inline(always)]
    unsafe fn merge(words: __m512i, set: __m512i, keep: __m512i) -> __m512i {
        // SAFETY: as above. 0xA8 is (a | b) & c.
        unsafe { _mm512_ternarylogic_epi64::<0xA8>(words, set, keep) }
    }

    #[inline(always)]
    unsafe fn store_chosen(to: *mut u64, chosen: u32, words: __m512i) {
        // Compressing in a register and storing all of it is faster than a compressing store on every machine known.
        // SAFETY: as above.
        unsafe { _mm512_storeu_si512(to.cast(), _mm512_maskz_compress_epi64(chosen as u8, words)) }
    }

    #[inline(always)]
    unsafe fn prefetch(address: *const u64) {
        // SAFETY: a prefetch may name any address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) }
    }

    #[inline(always)]
    unsafe fn fill(block: u64) -> __m512i {
        // SAFETY: as above.
        unsafe { _mm512_set1_epi64(block as i64) }
    }

    #[inline(always)]
    unsafe fn load_bits(from: *const u64) -> __m512i {
        // SAFETY: as above.
        unsafe { _mm512_load_si512(from.cast()) }
    }

    #[inline(always)]
    unsafe fn store_bits(to: *mut u64, bits: __m512i) {
        // SAFETY: as above.
        unsafe { _mm512_store_si512(to.cast(), bits) }
    }

    #[inline(always)]
    unsafe fn and(a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: as above.
        unsafe { _mm512_and_si512(a, b) }
    }

    #[inline(always)]
    unsafe fn and3(a: __m512i, b: __m512i, c: __m512i) -> __m512i {
        // SAFETY: as above. 0x80 is a & b & c.
        unsafe { _mm512_ternarylogic_epi64::<0x80>(a, b, c) }
    }

    #[inline(always)]
    unsafe fn add(a: __m512i, b: __m512i, c: __m512i) -> (__m512i, __m512i) {
        // SAFETY: as above. 0x96 is the parity, 0xE8 the majority.
        unsafe { (_mm512_ternarylogic_epi64::<0x96>(a, b, c), _mm512_ternarylogic_epi64::<0xE8>(a, b, c)) }
    }

    #[inline(always)]
    unsafe fn add_ones(sums: __m512i, bits: __m512i) -> __m512i {
        // SAFETY: as above. The ones of each nibble by a shuffle, summed over eight bytes each.
        unsafe {
            let ones = _mm512_broadcast_i32x4(_mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4));
            let nibble = _mm512_set1_epi8(15);
            let low = _mm512_shuffle_epi8(ones, _mm512_and_si512(bits, nibble));
            let high = _mm512_shuffle_epi8(ones, _mm512_and_si512(_mm512_srli_epi16::<4>(bits), nibble));
            _mm512_add_epi64(sums, _mm512_sad_epu8(_mm512_add_epi8(low, high), _mm512_setzero_si512()))
        }
    }

    #[inline(always)]
    unsafe fn blocks(bits: __m512i) -> [u64; 8] {
        let mut blocks = [0; 8];
        // SAFETY: as above; eight blocks of room.
        unsafe { _mm512_storeu_si512(blocks.as_mut_ptr().cast(), bits) }
        blocks
    }

    #[inline(always)]
    unsafe fn planes(words: *const u64, bytes: usize, planes: &mut Planes) {
        // SAFETY: as above; 64 words are read.
        unsafe {
            let pairs =
                _mm512_broadcast_i32x4(_mm_setr_epi8(0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15));
            let mut a = [_mm512_setzero_si512(); 8];
            let mut b = a;
            for (i, a) in a.iter_mut().enumerate() {
                *a = _mm512_shuffle_epi8(_mm512_loadu_si512(words.add(8 * i).cast()), pairs);
            }
            for i in 0..4 {
                b[i] = _mm512_unpacklo_epi16(a[2 * i], a[2 * i + 1]);
                b[4 + i] = _mm512_unpackhi_epi16(a[2 * i], a[2 * i + 1]);
            }
            for half in [0, 4] {
                for i in [0, 1] {
                    a[half + i] = _mm512_unpacklo_epi32(b[half + 2 * i], b[half + 2 * i + 1]);
                    a[half + 2 + i] = _mm512_unpackhi_epi32(b[half + 2 * i], b[half + 2 * i + 1]);
                }
            }
            for i in 0..4 {
                b[2 * i] = _mm512_unpacklo_epi64(a[2 * i], a[2 * i + 1]);
                b[2 * i + 1] = _mm512_unpackhi_epi64(a[2 * i], a[2 * i + 1]);
            }
            for (byte, planes) in planes.iter_mut().enumerate().take(bytes) {
                let mut clear = _mm512_xor_si512(b[byte], _mm512_set1_epi8(-1));
                for plane in planes.iter_mut().rev() {
                    *plane = _mm512_movepi8_mask(clear);
                    clear = _mm512_add_epi8(clear, clear);
                }
            }
        }
    }

    #[inline(always)]
    fn lane(i: usize) -> usize {
        i % 8 / 2 * 16 + i / 8 * 2 + i % 2
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,popcnt")]
    unsafe fn grow(growth: &Growth<'_>, from: &Lists, to: &mut Lists) -> Grown {
        // SAFETY: as above.
        unsafe { lists::grow::<Self>(growth, from, to) }
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,popcnt")]
    unsafe fn gather(passes: &mut Passes<'_, Self>, side: usize, set: u32) {
        // SAFETY: as above.
        unsafe { passes.gather(side, set) }
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,popcnt")]
    unsafe fn join(matcher: &mut Matcher<Self>, bytes: usize, a: &mut Vec<u64>, b: &mut Vec<u64>) {
        // SAFETY: as above.
        unsafe { join::join::<Self>(matcher, bytes, a, b) }
    }
}
