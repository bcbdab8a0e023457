//! AVX2: 8 lanes, masks as words of all ones or zeros, packing by a permutation looked up in a table.

use std::arch::x86_64::{
    __m256i, _mm_loadl_epi64, _mm256_add_epi32, _mm256_and_si256, _mm256_andnot_si256, _mm256_castsi256_ps,
    _mm256_cmpeq_epi32, _mm256_cvtepu8_epi32, _mm256_loadu_si256, _mm256_movemask_ps, _mm256_or_si256,
    _mm256_permutevar8x32_epi32, _mm256_set1_epi32, _mm256_setzero_si256, _mm256_sllv_epi32,
    _mm256_srlv_epi32, _mm256_storeu_si256, _mm256_xor_si256,
};

use super::body::{self, Descent};
use super::lanes::Lanes;
use super::levels::Levels;
use crate::kernel::{Count, Stop};

/// The search body compiled for AVX2.
#[target_feature(enable = "avx2,popcnt")]
pub(super) fn search(descent: &Descent, levels: &mut Levels, stop: &Stop) -> Option<Count> {
    // SAFETY: this function is compiled for, and so only called on machines with, what Avx2 uses.
    unsafe { body::search::<Avx2>(descent, levels, stop) }
}

/// For each set of lanes, their indices in ascending order, one a byte: 2 KiB, which stays in the first-level cache.
static ORDERS: [[u8; 8]; 256] = orders();

const fn orders() -> [[u8; 8]; 256] {
    let mut orders = [[0; 8]; 256];
    let mut set = 0;
    while set < 256 {
        let (mut lane, mut packed) = (0, 0);
        while lane < 8 {
            if set >> lane & 1 == 1 {
                orders[set][packed] = lane;
                packed += 1;
            }
            lane += 1;
        }
        set += 1;
    }
    orders
}

struct Avx2;

impl Avx2 {
    /// All ones in the lanes where `a & b` is zero.
    #[inline(always)]
    unsafe fn apart(a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: as in the implementation of `Lanes` below.
        unsafe { _mm256_cmpeq_epi32(_mm256_and_si256(a, b), _mm256_setzero_si256()) }
    }

    /// One bit for each lane.
    #[inline(always)]
    unsafe fn bits(mask: __m256i) -> usize {
        // SAFETY: as in the implementation of `Lanes` below.
        unsafe { _mm256_movemask_ps(_mm256_castsi256_ps(mask)) as usize }
    }
}

// SAFETY (all methods): the caller is compiled for AVX2 and POPCNT and runs on a machine that has them, and vouches
// for the memory behind pointers, as `Lanes` demands; loads and stores are the unaligned ones.
impl Lanes for Avx2 {
    const WIDTH: usize = 8;
    type Word = __m256i;
    type Mask = __m256i;

    #[inline(always)]
    unsafe fn splat(word: u32) -> __m256i {
        // SAFETY: as above.
        unsafe { _mm256_set1_epi32(word.cast_signed()) }
    }

    #[inline(always)]
    unsafe fn load(from: *const u32) -> __m256i {
        // SAFETY: as above.
        unsafe { _mm256_loadu_si256(from.cast()) }
    }

    #[inline(always)]
    unsafe fn or(a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: as above.
        unsafe { _mm256_or_si256(a, b) }
    }

    #[inline(always)]
    unsafe fn and(a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: as above.
        unsafe { _mm256_and_si256(a, b) }
    }

    #[inline(always)]
    unsafe fn xor(a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: as above.
        unsafe { _mm256_xor_si256(a, b) }
    }

    #[inline(always)]
    unsafe fn or_and(a: __m256i, b: __m256i, c: __m256i) -> __m256i {
        // SAFETY: as above.
        unsafe { _mm256_or_si256(a, _mm256_and_si256(b, c)) }
    }

    #[inline(always)]
    unsafe fn neither(a: __m256i, b: __m256i, c: __m256i) -> __m256i {
        // SAFETY: as above.
        unsafe { _mm256_xor_si256(_mm256_or_si256(_mm256_or_si256(a, b), c), _mm256_set1_epi32(-1)) }
    }

    #[inline(always)]
    unsafe fn without_lowest(a: __m256i) -> __m256i {
        // SAFETY: as above.
        unsafe { _mm256_and_si256(a, _mm256_add_epi32(a, _mm256_set1_epi32(-1))) }
    }

    #[inline(always)]
    unsafe fn shl(a: __m256i, by: __m256i) -> __m256i {
        // SAFETY: as above.
        unsafe { _mm256_sllv_epi32(a, by) }
    }

    #[inline(always)]
    unsafe fn shr(a: __m256i, by: __m256i) -> __m256i {
        // SAFETY: as above.
        unsafe { _mm256_srlv_epi32(a, by) }
    }

    #[inline(always)]
    unsafe fn meet(a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: as above.
        unsafe { _mm256_xor_si256(Self::apart(a, b), _mm256_set1_epi32(-1)) }
    }

    #[inline(always)]
    unsafe fn meet_within(mask: __m256i, a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: as above.
        unsafe { _mm256_andnot_si256(Self::apart(a, b), mask) }
    }

    #[inline(always)]
    unsafe fn apart_within(mask: __m256i, a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: as above.
        unsafe { _mm256_and_si256(Self::apart(a, b), mask) }
    }

    #[inline(always)]
    unsafe fn count(mask: __m256i) -> usize {
        // SAFETY: as above.
        unsafe { Self::bits(mask).count_ones() as usize }
    }

    #[inline(always)]
    unsafe fn append(mask: __m256i, words: [__m256i; 4], to: [*mut u32; 4]) -> usize {
        // SAFETY: as above; 8 words are writable at each place, and each entry of the table has 8 bytes.
        unsafe {
            let bits = Self::bits(mask);
            let order = _mm256_cvtepu8_epi32(_mm_loadl_epi64(ORDERS[bits].as_ptr().cast()));
            for (word, to) in words.into_iter().zip(to) {
                _mm256_storeu_si256(to.cast(), _mm256_permutevar8x32_epi32(word, order));
            }
            bits.count_ones() as usize
        }
    }
}
