//! AVX2: four words, 256 bits. Words are compressed by a permutation from a table.

#![expect(clippy::cast_possible_wrap, reason = "words are bit patterns, not numbers")]

#[allow(clippy::wildcard_imports)] // Not in tests, so not to be expected.
use std::arch::x86_64::*;

use crate::kernel::isa::{Avx2, avx2};
use crate::kernel::meet::lanes::{Blocks, Lanes64, Planes};

/// For each choice of four words, the 32-bit places that bring the chosen words to the front, a byte each.
const FRONT: [[u8; 8]; 16] = {
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

// SAFETY: WORDS is 4, `clear_of` returns the four bits of `movmskpd`, and `store_chosen` writes four words in any case.
unsafe impl Lanes64 for Avx2 {
    type U64s = __m256i;
    const WORDS: usize = 4;
    type Bits = __m256i;
    const BLOCKS: usize = 4;

    avx2! {
        fn splat(_isa, word: u64) -> __m256i {
            _mm256_set1_epi64x(word as i64)
        }

        unsafe fn load_at(_isa, from: *const u64) -> __m256i {
            // SAFETY: the caller has promised 4 readable words; this load needs no alignment.
            unsafe { _mm256_loadu_si256(from.cast()) }
        }

        fn clear_of(_isa, words: __m256i, test: __m256i) -> u32 {
            let clear = _mm256_cmpeq_epi64(_mm256_and_si256(words, test), _mm256_setzero_si256());
            _mm256_movemask_pd(_mm256_castsi256_pd(clear)) as u32
        }

        fn merge(_isa, words: __m256i, set: __m256i, keep: __m256i) -> __m256i {
            _mm256_and_si256(_mm256_or_si256(words, set), keep)
        }

        unsafe fn store_chosen(_isa, to: *mut u64, chosen: u32, words: __m256i) {
            let places = &FRONT[(chosen & 15) as usize];
            // SAFETY: a reference to 8 bytes; this load needs no alignment.
            let front = unsafe { _mm256_cvtepu8_epi32(_mm_loadl_epi64(places.as_ptr().cast())) };
            let packed = _mm256_permutevar8x32_epi32(words, front);
            // SAFETY: the caller has promised 4 writable words; this store needs no alignment.
            unsafe { _mm256_storeu_si256(to.cast(), packed) }
        }

        fn prefetch(_isa, address: *const u64) {
            _mm_prefetch::<_MM_HINT_T0>(address.cast());
        }

        // One instruction where the compiler makes a copy, a shift and a mask of it: counting the matches of words is bound by how many
        // instructions can begin in a cycle.
        fn bytes<const BYTES: usize>(_isa, word: &u64) -> [usize; 8] {
            let mut bytes = [0; 8];
            for (at, byte) in bytes.iter_mut().enumerate().take(BYTES) {
                *byte = _bextr_u64(*word, 8 * at as u32, 8) as usize;
            }
            bytes
        }

        fn fill(_isa, block: u64) -> __m256i {
            _mm256_set1_epi64x(block as i64)
        }

        fn load_bits(_isa, from: &Blocks) -> __m256i {
            // SAFETY: a reference to 8 blocks, of which 4 are read; they are aligned to 64 bytes.
            unsafe { _mm256_load_si256(from.0.as_ptr().cast()) }
        }

        fn and(_isa, a: __m256i, b: __m256i) -> __m256i {
            _mm256_and_si256(a, b)
        }

        fn and3(_isa, a: __m256i, b: __m256i, c: __m256i) -> __m256i {
            _mm256_and_si256(_mm256_and_si256(a, b), c)
        }

        fn add(_isa, a: __m256i, b: __m256i, c: __m256i) -> (__m256i, __m256i) {
            let half = _mm256_xor_si256(a, b);
            let carry = _mm256_or_si256(_mm256_and_si256(a, b), _mm256_and_si256(half, c));
            (_mm256_xor_si256(half, c), carry)
        }

        fn add_ones(_isa, sums: __m256i, bits: __m256i) -> __m256i {
            // The ones of each nibble by a shuffle, summed over eight bytes each.
            let ones =
                _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4));
            let nibble = _mm256_set1_epi8(15);
            let low = _mm256_shuffle_epi8(ones, _mm256_and_si256(bits, nibble));
            let high = _mm256_shuffle_epi8(ones, _mm256_and_si256(_mm256_srli_epi16::<4>(bits), nibble));
            _mm256_add_epi64(sums, _mm256_sad_epu8(_mm256_add_epi8(low, high), _mm256_setzero_si256()))
        }

        fn blocks(_isa, bits: __m256i) -> [u64; 8] {
            let mut blocks = [0; 8];
            // SAFETY: `blocks` has room for 256 bits and as many again; this store needs no alignment.
            unsafe { _mm256_storeu_si256(blocks.as_mut_ptr().cast(), bits) }
            blocks
        }

        fn planes<const BYTES: usize>(isa, words: &[u64; 64], block: usize, planes: &mut Planes) {
            let pairs = _mm256_broadcastsi128_si256(_mm_setr_epi8(
                0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15,
            ));
            for (part, words) in words.as_chunks::<32>().0.iter().enumerate() {
                let mut a = [_mm256_setzero_si256(); 8];
                let mut b = a;
                for (a, words) in a.iter_mut().zip(words.as_chunks::<4>().0) {
                    *a = _mm256_shuffle_epi8(isa.load(words), pairs);
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
                for (byte, planes) in planes.iter_mut().enumerate().take(BYTES) {
                    let mut clear = _mm256_xor_si256(b[byte], _mm256_set1_epi8(-1));
                    for plane in planes.iter_mut().rev() {
                        let bits = u64::from(_mm256_movemask_epi8(clear) as u32);
                        plane.0[block] = if part == 0 { bits } else { plane.0[block] | bits << 32 };
                        clear = _mm256_add_epi8(clear, clear);
                    }
                }
            }
        }

        fn lane(_isa, i: usize) -> usize {
            i / 32 * 32 + i % 4 / 2 * 16 + i % 32 / 4 * 2 + i % 2
        }
    }
}
