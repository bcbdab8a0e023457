//! NEON: two words in a vector, and bits of half boards in two vectors.

use std::arch::aarch64::{
    uint8x16_t, uint64x2_t, vaddq_u8, vandq_u8, vandq_u64, vbslq_u64, vceqzq_u64, vcntq_u8, vdupq_n_u64,
    veorq_u64, vgetq_lane_u64, vld1q_u8, vld1q_u64, vmvnq_u8, vorrq_u64, vpadalq_u32, vpaddlq_u8,
    vpaddlq_u16, vpaddq_u8, vreinterpretq_s8_u8, vreinterpretq_u8_s8, vreinterpretq_u8_u64,
    vreinterpretq_u64_u8, vshrq_n_s8, vst1q_u64, vuzp1q_u8, vuzp2q_u8,
};
use std::arch::asm;

use crate::kernel::isa::{Neon, neon};
use crate::kernel::meet::lanes::{Blocks, Lanes64, Planes};

/// The bit of each byte among eight.
static PLACES: [u8; 16] = [1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128];

/// The bytes of each place, of 16 words that lie in 8 vectors one behind the other.
#[inline]
#[target_feature(enable = "neon")]
fn by_place(words: [uint8x16_t; 8]) -> [uint8x16_t; 8] {
    // The bytes in even and in odd places; among these those in each second place; and again.
    let [a, b, c, d, e, f, g, h] = words;
    let even = [vuzp1q_u8(a, b), vuzp1q_u8(c, d), vuzp1q_u8(e, f), vuzp1q_u8(g, h)];
    let odd = [vuzp2q_u8(a, b), vuzp2q_u8(c, d), vuzp2q_u8(e, f), vuzp2q_u8(g, h)];
    let [[p0, p4], [p2, p6], [p1, p5], [p3, p7]] = [
        [vuzp1q_u8(even[0], even[1]), vuzp1q_u8(even[2], even[3])],
        [vuzp2q_u8(even[0], even[1]), vuzp2q_u8(even[2], even[3])],
        [vuzp1q_u8(odd[0], odd[1]), vuzp1q_u8(odd[2], odd[3])],
        [vuzp2q_u8(odd[0], odd[1]), vuzp2q_u8(odd[2], odd[3])],
    ]
    .map(|[low, high]| [vuzp1q_u8(low, high), vuzp2q_u8(low, high)]);
    [p0, p1, p2, p3, p4, p5, p6, p7]
}

/// The highest bit of each of 64 bytes.
#[inline]
#[target_feature(enable = "neon")]
fn highest_bits(bytes: [uint8x16_t; 4]) -> u64 {
    // SAFETY: a reference to 16 bytes.
    let places = unsafe { vld1q_u8(PLACES.as_ptr()) };
    // The highest bit in all places of a byte, and of these the place of this byte.
    let [a, b, c, d] = bytes.map(|bytes| {
        let everywhere = vreinterpretq_u8_s8(vshrq_n_s8::<7>(vreinterpretq_s8_u8(bytes)));
        vandq_u8(everywhere, places)
    });
    let sums = vpaddq_u8(vpaddq_u8(a, b), vpaddq_u8(c, d));
    vgetq_lane_u64::<0>(vreinterpretq_u64_u8(vpaddq_u8(sums, sums)))
}

// SAFETY: WORDS is 2, `clear_of` returns two bits, and `store_chosen` writes within two words in any case.
unsafe impl Lanes64 for Neon {
    type U64s = uint64x2_t;
    const WORDS: usize = 2;
    type Bits = [uint64x2_t; 2];
    const BLOCKS: usize = 4;

    neon! {
        fn splat(_isa, word: u64) -> uint64x2_t {
            vdupq_n_u64(word)
        }

        unsafe fn load_at(_isa, from: *const u64) -> uint64x2_t {
            // SAFETY: the caller has promised 2 readable and aligned words.
            unsafe { vld1q_u64(from) }
        }

        fn clear_of(_isa, words: uint64x2_t, test: uint64x2_t) -> u32 {
            let clear = vceqzq_u64(vandq_u64(words, test));
            (vgetq_lane_u64::<0>(clear) & 1 | vgetq_lane_u64::<1>(clear) & 2) as u32
        }

        fn merge(_isa, words: uint64x2_t, set: uint64x2_t, keep: uint64x2_t) -> uint64x2_t {
            vandq_u64(vorrq_u64(words, set), keep)
        }

        unsafe fn store_chosen(_isa, to: *mut u64, chosen: u32, words: uint64x2_t) {
            // Both words, and then the second one again behind the first, if that is chosen, or over it.
            // SAFETY: the caller has promised 2 writable and aligned words.
            unsafe {
                vst1q_u64(to, words);
                to.add((chosen & 1) as usize).write(vgetq_lane_u64::<1>(words));
            }
        }

        fn prefetch(_isa, address: *const u64) {
            // SAFETY: a prefetch has no effect that a program could see, whatever the address.
            unsafe {
                asm!("prfm pldl1keep, [{}]", in(reg) address, options(nostack, preserves_flags, readonly));
            }
        }

        fn fill(_isa, block: u64) -> [uint64x2_t; 2] {
            [vdupq_n_u64(block); 2]
        }

        fn load_bits(_isa, from: &Blocks) -> [uint64x2_t; 2] {
            let from = from.0.as_ptr();
            // SAFETY: a reference to 8 blocks, of which 4 are read.
            unsafe { [vld1q_u64(from), vld1q_u64(from.add(2))] }
        }

        fn and(_isa, a: [uint64x2_t; 2], b: [uint64x2_t; 2]) -> [uint64x2_t; 2] {
            [vandq_u64(a[0], b[0]), vandq_u64(a[1], b[1])]
        }

        fn and3(isa, a: [uint64x2_t; 2], b: [uint64x2_t; 2], c: [uint64x2_t; 2]) -> [uint64x2_t; 2] {
            isa.and(isa.and(a, b), c)
        }

        fn add(
            _isa,
            a: [uint64x2_t; 2],
            b: [uint64x2_t; 2],
            c: [uint64x2_t; 2],
        ) -> ([uint64x2_t; 2], [uint64x2_t; 2]) {
            let half = [veorq_u64(a[0], b[0]), veorq_u64(a[1], b[1])];
            // Where a and b differ the carry is c, elsewhere it is a.
            let carry = [vbslq_u64(half[0], c[0], a[0]), vbslq_u64(half[1], c[1], a[1])];
            ([veorq_u64(half[0], c[0]), veorq_u64(half[1], c[1])], carry)
        }

        fn add_ones(_isa, sums: [uint64x2_t; 2], bits: [uint64x2_t; 2]) -> [uint64x2_t; 2] {
            let ones = bits.map(|bits| vpaddlq_u16(vpaddlq_u8(vcntq_u8(vreinterpretq_u8_u64(bits)))));
            [vpadalq_u32(sums[0], ones[0]), vpadalq_u32(sums[1], ones[1])]
        }

        fn blocks(_isa, bits: [uint64x2_t; 2]) -> [u64; 8] {
            let mut blocks = [0; 8];
            let to = blocks.as_mut_ptr();
            // SAFETY: `blocks` has room for 4 words and as many again.
            unsafe {
                vst1q_u64(to, bits[0]);
                vst1q_u64(to.add(2), bits[1]);
            }
            blocks
        }

        fn planes<const BYTES: usize>(isa, words: &[u64; 64], block: usize, planes: &mut Planes) {
            let quarters = words.as_chunks::<16>().0;
            let [a, b, c, d] = std::array::from_fn(|quarter| {
                let pairs = quarters[quarter].as_chunks::<2>().0;
                by_place(std::array::from_fn(|i| vreinterpretq_u8_u64(isa.load(&pairs[i]))))
            });
            for (byte, planes) in planes.iter_mut().enumerate().take(BYTES) {
                let mut clear = [a, b, c, d].map(|quarter| vmvnq_u8(quarter[byte]));
                for plane in planes.iter_mut().rev() {
                    plane.0[block] = highest_bits(clear);
                    clear = clear.map(|bytes| vaddq_u8(bytes, bytes));
                }
            }
        }

        fn lane(_isa, i: usize) -> usize {
            i
        }
    }
}
