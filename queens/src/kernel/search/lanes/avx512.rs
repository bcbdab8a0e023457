//! AVX-512: 16 lanes, masks in registers of their own, packing by one compressed index and a permutation a word.

use std::arch::x86_64::{
    __m512i, __mmask16, _mm512_add_epi32, _mm512_and_si512, _mm512_loadu_si512, _mm512_mask_test_epi32_mask,
    _mm512_mask_testn_epi32_mask, _mm512_maskz_compress_epi32, _mm512_or_si512, _mm512_permutexvar_epi32,
    _mm512_set1_epi32, _mm512_setr_epi32, _mm512_sllv_epi32, _mm512_srlv_epi32, _mm512_storeu_si512,
    _mm512_ternarylogic_epi32, _mm512_test_epi32_mask, _mm512_xor_si512,
};

use super::Lanes32;
use crate::kernel::isa::{Avx512, avx512};

/// `vpternlogd` reads its three inputs as the bits 2, 1, 0 of an index into these eight bits.
const NEITHER: i32 = 0b0000_0001;
const OR_AND: i32 = 0b1111_1000;

// SAFETY: `append` writes 16 words at each place and returns the ones of 16 bits, and WIDTH is 16.
unsafe impl Lanes32 for Avx512 {
    const WIDTH: usize = 16;
    type U32s = __m512i;
    type Mask = __mmask16;

    avx512! {
        fn splat(_isa, word: u32) -> __m512i {
            _mm512_set1_epi32(word.cast_signed())
        }

        unsafe fn load(_isa, from: *const u32) -> __m512i {
            // SAFETY: the caller has promised 16 readable words; this load needs no alignment.
            unsafe { _mm512_loadu_si512(from.cast()) }
        }

        fn or(_isa, a: __m512i, b: __m512i) -> __m512i {
            _mm512_or_si512(a, b)
        }

        fn and(_isa, a: __m512i, b: __m512i) -> __m512i {
            _mm512_and_si512(a, b)
        }

        fn xor(_isa, a: __m512i, b: __m512i) -> __m512i {
            _mm512_xor_si512(a, b)
        }

        fn or_and(_isa, a: __m512i, b: __m512i, c: __m512i) -> __m512i {
            _mm512_ternarylogic_epi32::<OR_AND>(a, b, c)
        }

        fn neither(_isa, a: __m512i, b: __m512i, c: __m512i) -> __m512i {
            _mm512_ternarylogic_epi32::<NEITHER>(a, b, c)
        }

        fn without_lowest(_isa, a: __m512i) -> __m512i {
            _mm512_and_si512(a, _mm512_add_epi32(a, _mm512_set1_epi32(-1)))
        }

        fn shl(_isa, a: __m512i, by: __m512i) -> __m512i {
            _mm512_sllv_epi32(a, by)
        }

        fn shr(_isa, a: __m512i, by: __m512i) -> __m512i {
            _mm512_srlv_epi32(a, by)
        }

        fn meet(_isa, a: __m512i, b: __m512i) -> __mmask16 {
            _mm512_test_epi32_mask(a, b)
        }

        fn meet_within(_isa, mask: __mmask16, a: __m512i, b: __m512i) -> __mmask16 {
            _mm512_mask_test_epi32_mask(mask, a, b)
        }

        fn apart_within(_isa, mask: __mmask16, a: __m512i, b: __m512i) -> __mmask16 {
            _mm512_mask_testn_epi32_mask(mask, a, b)
        }

        fn count(_isa, mask: __mmask16) -> usize {
            mask.count_ones() as usize
        }

        unsafe fn append(_isa, mask: __mmask16, words: [__m512i; 4], to: [*mut u32; 4]) -> usize {
            let lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
            let order = _mm512_maskz_compress_epi32(mask, lanes);
            for (word, to) in words.into_iter().zip(to) {
                let packed = _mm512_permutexvar_epi32(order, word);
                // SAFETY: the caller has promised 16 writable words at each place; this store needs no alignment.
                unsafe { _mm512_storeu_si512(to.cast(), packed) };
            }
            mask.count_ones() as usize
        }
    }
}
