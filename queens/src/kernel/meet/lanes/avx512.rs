//! AVX-512 with F, BW, DQ and VL: eight words, 512 bits.

#![expect(clippy::cast_possible_wrap, reason = "words are bit patterns, not numbers")]

use std::arch::asm;
#[allow(clippy::wildcard_imports)] // Not in tests, so not to be expected.
use std::arch::x86_64::*;
use std::ptr;

use crate::kernel::isa::{Avx512, avx512};
use crate::kernel::meet::lanes::{Blocks, Lanes64, Planes};

// SAFETY: WORDS is 8, `clear_of` returns a mask of 8 bits, and `store_chosen` writes eight words in any case.
unsafe impl Lanes64 for Avx512 {
    type U64s = __m512i;
    const WORDS: usize = 8;
    type Bits = __m512i;
    const BLOCKS: usize = 8;

    avx512! {
        fn splat(_isa, word: u64) -> __m512i {
            _mm512_set1_epi64(word as i64)
        }

        unsafe fn load_at(_isa, from: *const u64) -> __m512i {
            // SAFETY: the caller has promised 8 readable words; this load needs no alignment.
            unsafe { _mm512_loadu_si512(from.cast()) }
        }

        fn clear_of(_isa, words: __m512i, test: __m512i) -> u32 {
            u32::from(_mm512_testn_epi64_mask(words, test))
        }

        fn merge(_isa, words: __m512i, set: __m512i, keep: __m512i) -> __m512i {
            // 0xA8 is (a | b) & c.
            _mm512_ternarylogic_epi64::<0xA8>(words, set, keep)
        }

        unsafe fn store_chosen(_isa, to: *mut u64, chosen: u32, words: __m512i) {
            // Compressing in a register and storing the whole register is faster than a compressing store on all
            // measured machines.
            let packed = _mm512_maskz_compress_epi64(chosen as u8, words);
            // SAFETY: the caller has promised 8 writable words; this store needs no alignment.
            unsafe { _mm512_storeu_si512(to.cast(), packed) }
        }

        fn prefetch(_isa, address: *const u64) {
            _mm_prefetch::<_MM_HINT_T0>(address.cast());
        }

        // Counting the matches of words is bound by how many instructions can begin in a cycle. The lower two bytes of some registers have
        // names of their own, and a byte in memory has an address: each takes one instruction, where the compiler makes a
        // copy, a shift and a mask of a byte of a word. Loading all of them would wait for the loads of tables.
        fn bytes<const BYTES: usize>(_isa, word: &u64) -> [usize; 8] {
            let third = if BYTES > 2 { behind(*word) } else { 0 };
            let fifth = if BYTES > 4 { behind(third) } else { 0 };
            let [a, b, c, d, e, f] = [*word, *word >> 8, third, third >> 8, fifth, fifth >> 8].map(|word| word as usize & 0xff);
            let seventh = if BYTES > 6 { in_memory(word, 6) } else { 0 };
            let eighth = if BYTES > 7 { in_memory(word, 7) } else { 0 };
            [a, b, c, d, e, f, seventh, eighth]
        }

        fn fill(_isa, block: u64) -> __m512i {
            _mm512_set1_epi64(block as i64)
        }

        fn load_bits(_isa, from: &Blocks) -> __m512i {
            // SAFETY: a reference to 8 blocks, which are aligned to 64 bytes.
            unsafe { _mm512_load_si512(from.0.as_ptr().cast()) }
        }

        fn and(_isa, a: __m512i, b: __m512i) -> __m512i {
            _mm512_and_si512(a, b)
        }

        fn and3(_isa, a: __m512i, b: __m512i, c: __m512i) -> __m512i {
            // 0x80 is a & b & c.
            _mm512_ternarylogic_epi64::<0x80>(a, b, c)
        }

        fn add(_isa, a: __m512i, b: __m512i, c: __m512i) -> (__m512i, __m512i) {
            // 0x96 is the parity, 0xE8 the majority.
            (_mm512_ternarylogic_epi64::<0x96>(a, b, c), _mm512_ternarylogic_epi64::<0xE8>(a, b, c))
        }

        fn add_ones(_isa, sums: __m512i, bits: __m512i) -> __m512i {
            // The ones of each nibble by a shuffle, summed over eight bytes each.
            let ones = _mm512_broadcast_i32x4(_mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4));
            let nibble = _mm512_set1_epi8(15);
            let low = _mm512_shuffle_epi8(ones, _mm512_and_si512(bits, nibble));
            let high = _mm512_shuffle_epi8(ones, _mm512_and_si512(_mm512_srli_epi16::<4>(bits), nibble));
            _mm512_add_epi64(sums, _mm512_sad_epu8(_mm512_add_epi8(low, high), _mm512_setzero_si512()))
        }

        fn blocks(_isa, bits: __m512i) -> [u64; 8] {
            let mut blocks = [0; 8];
            // SAFETY: `blocks` has room for 512 bits; this store needs no alignment.
            unsafe { _mm512_storeu_si512(blocks.as_mut_ptr().cast(), bits) }
            blocks
        }

        fn planes<const BYTES: usize>(isa, words: &[u64; 64], block: usize, planes: &mut Planes) {
            let pairs =
                _mm512_broadcast_i32x4(_mm_setr_epi8(0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15));
            let mut a = [_mm512_setzero_si512(); 8];
            let mut b = a;
            for (a, words) in a.iter_mut().zip(words.as_chunks::<8>().0) {
                *a = _mm512_shuffle_epi8(isa.load(words), pairs);
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
            for (byte, planes) in planes.iter_mut().enumerate().take(BYTES) {
                let mut clear = _mm512_xor_si512(b[byte], _mm512_set1_epi8(-1));
                for plane in planes.iter_mut().rev() {
                    plane.0[block] = _mm512_movepi8_mask(clear);
                    clear = _mm512_add_epi8(clear, clear);
                }
            }
        }

        fn lane(_isa, i: usize) -> usize {
            i % 8 / 2 * 16 + i / 8 * 2 + i % 2
        }
    }
}

/// A word without its lower two bytes, in a register whose lower two bytes have names.
#[inline(always)]
fn behind(word: u64) -> u64 {
    let mut rest = word >> 16;
    // SAFETY: no instruction is there. The compiler takes the rest for an unknown value, and so no byte of it for one of the word.
    unsafe { asm!("/* {} */", inout(reg_abcd) rest, options(nomem, nostack, preserves_flags)) }
    rest
}

/// The byte of a word with that number, from memory.
#[inline(always)]
fn in_memory(word: &u64, byte: usize) -> usize {
    assert!(byte < size_of::<u64>(), "a byte of the word");
    // SAFETY: a byte of what is behind the reference; volatile, that it is not made of the word.
    usize::from(unsafe { ptr::from_ref(word).cast::<u8>().add(byte).read_volatile() })
}
