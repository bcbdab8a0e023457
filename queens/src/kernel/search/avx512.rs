//! AVX-512: 16 lanes, masks in registers of their own, packing by one compressed index and a permutation a word.

use std::arch::x86_64::{
    __m512i, __mmask16, _mm512_add_epi32, _mm512_and_si512, _mm512_loadu_si512, _mm512_mask_test_epi32_mask,
    _mm512_mask_testn_epi32_mask, _mm512_maskz_compress_epi32, _mm512_or_si512, _mm512_permutexvar_epi32,
    _mm512_set1_epi32, _mm512_setr_epi32, _mm512_sllv_epi32, _mm512_srlv_epi32, _mm512_storeu_si512,
    _mm512_ternarylogic_epi32, _mm512_test_epi32_mask, _mm512_xor_si512,
};

use super::body::{self, Descent};
use super::lanes::Lanes;
use super::levels::Levels;
use crate::kernel::{Count, Stop};

/// The search body compiled for AVX-512.
#[target_feature(enable = "avx512f,popcnt")]
pub(super) fn search(descent: &Descent, levels: &mut Levels, stop: &Stop) -> Option<Count> {
    // SAFETY: this function is compiled for, and so only called on machines with, what Avx512 uses.
    unsafe { body::search::<Avx512>(descent, levels, stop) }
}

/// `vpternlogd` reads its three inputs as the bits 2, 1, 0 of an index into these eight bits.
const NEITHER: i32 = 0b0000_0001;
const OR_AND: i32 = 0b1111_1000;

struct Avx512;

// SAFETY (all methods): the caller is compiled for AVX-512F and POPCNT and runs on a machine that has them, and
// vouches for the memory behind pointers, as `Lanes` demands; loads and stores are the unaligned ones.
impl Lanes for Avx512 {
    const WIDTH: usize = 16;
    type Word = __m512i;
    type Mask = __mmask16;

    #[inline(always)]
    unsafe fn splat(word: u32) -> __m512i {
        // SAFETY: as above.
        unsafe { _mm512_set1_epi32(word.cast_signed()) }
    }

    #[inline(always)]
    unsafe fn load(from: *const u32) -> __m512i {
        // SAFETY: as above.
        unsafe { _mm512_loadu_si512(from.cast()) }
    }

    #[inline(always)]
    unsafe fn or(a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: as above.
        unsafe { _mm512_or_si512(a, b) }
    }

    #[inline(always)]
    unsafe fn and(a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: as above.
        unsafe { _mm512_and_si512(a, b) }
    }

    #[inline(always)]
    unsafe fn xor(a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: as above.
        unsafe { _mm512_xor_si512(a, b) }
    }

    #[inline(always)]
    unsafe fn or_and(a: __m512i, b: __m512i, c: __m512i) -> __m512i {
        // SAFETY: as above.
        unsafe { _mm512_ternarylogic_epi32::<OR_AND>(a, b, c) }
    }

    #[inline(always)]
    unsafe fn neither(a: __m512i, b: __m512i, c: __m512i) -> __m512i {
        // SAFETY: as above.
        unsafe { _mm512_ternarylogic_epi32::<NEITHER>(a, b, c) }
    }

    #[inline(always)]
    unsafe fn without_lowest(a: __m512i) -> __m512i {
        // SAFETY: as above.
        unsafe { _mm512_and_si512(a, _mm512_add_epi32(a, _mm512_set1_epi32(-1))) }
    }

    #[inline(always)]
    unsafe fn shl(a: __m512i, by: __m512i) -> __m512i {
        // SAFETY: as above.
        unsafe { _mm512_sllv_epi32(a, by) }
    }

    #[inline(always)]
    unsafe fn shr(a: __m512i, by: __m512i) -> __m512i {
        // SAFETY: as above.
        unsafe { _mm512_srlv_epi32(a, by) }
    }

    #[inline(always)]
    unsafe fn meet(a: __m512i, b: __m512i) -> __mmask16 {
        // SAFETY: as above.
        unsafe { _mm512_test_epi32_mask(a, b) }
    }

    #[inline(always)]
    unsafe fn meet_within(mask: __mmask16, a: __m512i, b: __m512i) -> __mmask16 {
        // SAFETY: as above.
        unsafe { _mm512_mask_test_epi32_mask(mask, a, b) }
    }

    #[inline(always)]
    unsafe fn apart_within(mask: __mmask16, a: __m512i, b: __m512i) -> __mmask16 {
        // SAFETY: as above.
        unsafe { _mm512_mask_testn_epi32_mask(mask, a, b) }
    }

    #[inline(always)]
    unsafe fn count(mask: __mmask16) -> usize {
        mask.count_ones() as usize
    }

    #[inline(always)]
    unsafe fn append(mask: __mmask16, words: [__m512i; 4], to: [*mut u32; 4]) -> usize {
        // SAFETY: as above; 16 words are writable at each place.
        unsafe {
            let lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
            let order = _mm512_maskz_compress_epi32(mask, lanes);
            for (word, to) in words.into_iter().zip(to) {
                _mm512_storeu_si512(to.cast(), _mm512_permutexvar_epi32(order, word));
            }
            Self::count(mask)
        }
    }
}
