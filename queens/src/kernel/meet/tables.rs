//! Tables that give the lanes, of 512, with a pattern of bits clear.
//!
//! ```text
//! for each byte of the signature (five bits of it used):
//!     table[pattern] = the lanes that leave clear all bits of the pattern      # 32 patterns
//! lanes that share no bit with a word = table0[byte 0 of it] & table1[byte 1] & ...
//! ```

use crate::kernel::meet::lanes::{Blocks, Lanes64, NO_PLANES, Planes};
use crate::kernel::meet::signatures::Signature;

/// Bytes of a signature word, and patterns of a byte: the upper five bits of it.
const BYTES: usize = 8;
const PATTERNS: usize = 32;

/// Tables for one vector of lanes: 512 at most, then 16 KiB in all, half of a first-level cache.
#[repr(align(64))]
pub struct Tables<L: Lanes64> {
    tables: [[L::Bits; PATTERNS]; BYTES],
    /// The planes of the last tabulated lanes. Behind them are planes of earlier lanes.
    planes: Planes,
}

impl<L: Lanes64> Tables<L> {
    /// Tables in which no lane is clear.
    pub fn new(isa: L) -> Self {
        Self { tables: [[isa.fill(0); PATTERNS]; BYTES], planes: NO_PLANES }
    }

    /// Fills the tables of the first `C` bytes for `count` lanes, which are padded to whole blocks of 64.
    #[inline(always)]
    pub fn fill<const C: usize>(&mut self, isa: L, lanes: &[u64], count: usize) {
        let Self { tables, planes } = self;
        // A lane that is not valid is never clear, whatever its planes have.
        let mut valid = Blocks([0; 8]);
        for (block, lanes) in lanes.as_chunks::<64>().0.iter().enumerate() {
            isa.planes::<C>(lanes, block, planes);
            let here = (count - 64 * block).min(64);
            valid.0[block] =
                if here == 64 { u64::MAX } else { (0..here).fold(0, |all, i| all | 1 << isa.lane(i)) };
        }
        for (byte, (planes, table)) in planes.iter().zip(tables).enumerate().take(C) {
            let plane = |bit: usize| isa.load_bits(&planes[bit]);
            let all = if byte == 0 { isa.load_bits(&valid) } else { isa.fill(u64::MAX) };
            let mut entries = [all; PATTERNS / 2];
            for bit in 0..4 {
                for pattern in 0..1 << bit {
                    entries[(1 << bit) + pattern] = isa.and(entries[pattern], plane(bit));
                }
            }
            for (pattern, entry) in entries.into_iter().enumerate() {
                table[pattern] = entry;
                table[PATTERNS / 2 + pattern] = isa.and(entry, plane(4));
            }
        }
    }

    /// The lanes that share no bit with a signature, by its first `C` bytes.
    #[inline(always)]
    pub fn matches<const C: usize>(&self, isa: L, word: Signature<'_>) -> L::Bits {
        let bytes = word.bytes::<L, C>(isa);
        let entry = |byte: usize| {
            // Eight times a pattern is the place of its entry in bytes but for a factor that address computation has.
            let offset = bytes[byte] * (size_of::<L::Bits>() / 8);
            // SAFETY: a byte of a signature is eight times a pattern, so this is the offset of one of PATTERNS entries.
            unsafe { self.tables[byte].as_ptr().byte_add(offset).read() }
        };
        // Three operands at once suit a machine with ternary logic.
        match C {
            1 => entry(0),
            2 => isa.and(entry(0), entry(1)),
            3 => isa.and3(entry(0), entry(1), entry(2)),
            4 => isa.and(isa.and3(entry(0), entry(1), entry(2)), entry(3)),
            5 => isa.and3(isa.and3(entry(0), entry(1), entry(2)), entry(3), entry(4)),
            6 => isa.and(isa.and3(isa.and3(entry(0), entry(1), entry(2)), entry(3), entry(4)), entry(5)),
            7 => {
                let most = isa.and3(isa.and3(entry(0), entry(1), entry(2)), entry(3), entry(4));
                isa.and3(most, entry(5), entry(6))
            }
            _ => {
                let most = isa.and3(isa.and3(entry(0), entry(1), entry(2)), entry(3), entry(4));
                isa.and(isa.and3(most, entry(5), entry(6)), entry(7))
            }
        }
    }
}
