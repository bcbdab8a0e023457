//! AVX2: 8 lanes, masks as words of all ones or zeros, packing by a permutation looked up in a table.

use std::arch::x86_64::{
    __m256i, _mm_cvtsi64_si128, _mm256_add_epi32, _mm256_and_si256, _mm256_andnot_si256, _mm256_castsi256_ps,
    _mm256_cmpeq_epi32, _mm256_cvtepu8_epi32, _mm256_loadu_si256, _mm256_movemask_ps, _mm256_or_si256,
    _mm256_permutevar8x32_epi32, _mm256_set1_epi32, _mm256_setzero_si256, _mm256_sllv_epi32,
    _mm256_srlv_epi32, _mm256_storeu_si256, _mm256_xor_si256,
};

use super::Lanes32;
use crate::kernel::isa::{Avx2, avx2};

/// For each set of lanes, their indices in ascending order, one a byte, the first in the lowest byte: 2 KiB, which
/// stays in the first-level cache.
static ORDERS: [i64; 256] = orders();

const fn orders() -> [i64; 256] {
    let mut orders = [0; 256];
    let mut set = 0;
    while set < 256 {
        let (mut lane, mut packed) = (0, 0);
        while lane < 8 {
            if set >> lane & 1 == 1 {
                orders[set] |= lane << (8 * packed);
                packed += 1;
            }
            lane += 1;
        }
        set += 1;
    }
    orders
}

/// One bit for each lane of a mask: all eight fit a byte.
#[inline]
#[target_feature(enable = "avx2")]
fn bits(mask: __m256i) -> u8 {
    _mm256_movemask_ps(_mm256_castsi256_ps(mask)) as u8
}

/// All ones in the lanes where `a & b` is zero.
#[inline]
#[target_feature(enable = "avx2")]
fn apart(a: __m256i, b: __m256i) -> __m256i {
    _mm256_cmpeq_epi32(_mm256_and_si256(a, b), _mm256_setzero_si256())
}

// SAFETY: `append` writes 8 words at each place and returns the ones of 8 bits, and WIDTH is 8.
unsafe impl Lanes32 for Avx2 {
    const WIDTH: usize = 8;
    type U32s = __m256i;
    type Mask = __m256i;

    avx2! {
        fn splat(_isa, word: u32) -> __m256i {
            _mm256_set1_epi32(word.cast_signed())
        }

        unsafe fn load(_isa, from: *const u32) -> __m256i {
            // SAFETY: the caller has promised 8 readable words; this load needs no alignment.
            unsafe { _mm256_loadu_si256(from.cast()) }
        }

        fn or(_isa, a: __m256i, b: __m256i) -> __m256i {
            _mm256_or_si256(a, b)
        }

        fn and(_isa, a: __m256i, b: __m256i) -> __m256i {
            _mm256_and_si256(a, b)
        }

        fn xor(_isa, a: __m256i, b: __m256i) -> __m256i {
            _mm256_xor_si256(a, b)
        }

        fn or_and(_isa, a: __m256i, b: __m256i, c: __m256i) -> __m256i {
            _mm256_or_si256(a, _mm256_and_si256(b, c))
        }

        fn neither(_isa, a: __m256i, b: __m256i, c: __m256i) -> __m256i {
            _mm256_xor_si256(_mm256_or_si256(_mm256_or_si256(a, b), c), _mm256_set1_epi32(-1))
        }

        fn without_lowest(_isa, a: __m256i) -> __m256i {
            _mm256_and_si256(a, _mm256_add_epi32(a, _mm256_set1_epi32(-1)))
        }

        fn shl(_isa, a: __m256i, by: __m256i) -> __m256i {
            _mm256_sllv_epi32(a, by)
        }

        fn shr(_isa, a: __m256i, by: __m256i) -> __m256i {
            _mm256_srlv_epi32(a, by)
        }

        fn meet(_isa, a: __m256i, b: __m256i) -> __m256i {
            _mm256_xor_si256(apart(a, b), _mm256_set1_epi32(-1))
        }

        fn meet_within(_isa, mask: __m256i, a: __m256i, b: __m256i) -> __m256i {
            _mm256_andnot_si256(apart(a, b), mask)
        }

        fn apart_within(_isa, mask: __m256i, a: __m256i, b: __m256i) -> __m256i {
            _mm256_and_si256(apart(a, b), mask)
        }

        fn count(_isa, mask: __m256i) -> usize {
            bits(mask).count_ones() as usize
        }

        unsafe fn append(_isa, mask: __m256i, words: [__m256i; 4], to: [*mut u32; 4]) -> usize {
            let bits = bits(mask);
            let order = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(ORDERS[usize::from(bits)]));
            for (word, to) in words.into_iter().zip(to) {
                let packed = _mm256_permutevar8x32_epi32(word, order);
                // SAFETY: the caller has promised 8 writable words at each place; this store needs no alignment.
                unsafe { _mm256_storeu_si256(to.cast(), packed) };
            }
            bits.count_ones() as usize
        }
    }
}
