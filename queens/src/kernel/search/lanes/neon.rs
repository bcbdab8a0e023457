//! NEON: 4 lanes, masks as words of all ones or zeros, packing by a table of bytes to take.

use std::arch::aarch64::{
    uint32x4_t, vaddvq_u32, vandq_u32, vbicq_u32, vdupq_n_u32, veorq_u32, vld1q_u8, vld1q_u32, vmvnq_u32,
    vnegq_s32, vorrq_u32, vqtbl1q_u8, vreinterpretq_s32_u32, vreinterpretq_u8_u32, vreinterpretq_u32_u8,
    vshlq_u32, vshrq_n_u32, vst1q_u32, vsubq_u32, vtstq_u32,
};

use super::Lanes32;
use crate::kernel::isa::{Neon, neon};

/// For each set of lanes, the bytes of its words in ascending order.
static ORDERS: [[u8; 16]; 16] = orders();

/// The bit of each lane in a set of lanes.
static PLACES: [u32; 4] = [1, 2, 4, 8];

const fn orders() -> [[u8; 16]; 16] {
    let mut orders = [[0; 16]; 16];
    let mut set = 0;
    while set < 16 {
        let (mut lane, mut packed) = (0, 0);
        while lane < 4 {
            if set >> lane & 1 == 1 {
                let mut byte = 0;
                while byte < 4 {
                    orders[set][4 * packed + byte] = (4 * lane + byte) as u8;
                    byte += 1;
                }
                packed += 1;
            }
            lane += 1;
        }
        set += 1;
    }
    orders
}

// SAFETY: `append` writes 4 words at each place and returns the ones of 4 bits, and WIDTH is 4.
unsafe impl Lanes32 for Neon {
    const WIDTH: usize = 4;
    type U32s = uint32x4_t;
    type Mask = uint32x4_t;

    neon! {
        fn splat(_isa, word: u32) -> uint32x4_t {
            vdupq_n_u32(word)
        }

        unsafe fn load(_isa, from: *const u32) -> uint32x4_t {
            // SAFETY: the caller has promised 4 readable and aligned words.
            unsafe { vld1q_u32(from) }
        }

        fn or(_isa, a: uint32x4_t, b: uint32x4_t) -> uint32x4_t {
            vorrq_u32(a, b)
        }

        fn and(_isa, a: uint32x4_t, b: uint32x4_t) -> uint32x4_t {
            vandq_u32(a, b)
        }

        fn xor(_isa, a: uint32x4_t, b: uint32x4_t) -> uint32x4_t {
            veorq_u32(a, b)
        }

        fn or_and(_isa, a: uint32x4_t, b: uint32x4_t, c: uint32x4_t) -> uint32x4_t {
            vorrq_u32(a, vandq_u32(b, c))
        }

        fn neither(_isa, a: uint32x4_t, b: uint32x4_t, c: uint32x4_t) -> uint32x4_t {
            vmvnq_u32(vorrq_u32(vorrq_u32(a, b), c))
        }

        fn without_lowest(_isa, a: uint32x4_t) -> uint32x4_t {
            vandq_u32(a, vsubq_u32(a, vdupq_n_u32(1)))
        }

        fn shl(_isa, a: uint32x4_t, by: uint32x4_t) -> uint32x4_t {
            vshlq_u32(a, vreinterpretq_s32_u32(by))
        }

        fn shr(_isa, a: uint32x4_t, by: uint32x4_t) -> uint32x4_t {
            // A shift to the left by a negative number is one to the right.
            vshlq_u32(a, vnegq_s32(vreinterpretq_s32_u32(by)))
        }

        fn meet(_isa, a: uint32x4_t, b: uint32x4_t) -> uint32x4_t {
            vtstq_u32(a, b)
        }

        fn meet_within(_isa, mask: uint32x4_t, a: uint32x4_t, b: uint32x4_t) -> uint32x4_t {
            vandq_u32(mask, vtstq_u32(a, b))
        }

        fn apart_within(_isa, mask: uint32x4_t, a: uint32x4_t, b: uint32x4_t) -> uint32x4_t {
            vbicq_u32(mask, vtstq_u32(a, b))
        }

        fn count(_isa, mask: uint32x4_t) -> usize {
            vaddvq_u32(vshrq_n_u32::<31>(mask)) as usize
        }

        unsafe fn append(isa, mask: uint32x4_t, words: [uint32x4_t; 4], to: [*mut u32; 4]) -> usize {
            // SAFETY: a reference to 4 words.
            let places = unsafe { vld1q_u32(PLACES.as_ptr()) };
            let set = vaddvq_u32(vandq_u32(mask, places)) as usize & 15;
            // SAFETY: a reference to 16 bytes.
            let order = unsafe { vld1q_u8(ORDERS[set].as_ptr()) };
            for (word, to) in words.into_iter().zip(to) {
                let packed = vreinterpretq_u32_u8(vqtbl1q_u8(vreinterpretq_u8_u32(word), order));
                // SAFETY: the caller has promised 4 writable and aligned words at each place.
                unsafe { vst1q_u32(to, packed) };
            }
            isa.count(mask)
        }
    }
}
