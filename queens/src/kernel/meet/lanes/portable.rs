//! Plain Rust: one word at a time, and 256 bits as an array that compilers put into whatever vectors there are.

use crate::kernel::isa::Portable;
use crate::kernel::meet::lanes::{Blocks, Lanes64, Planes};

// SAFETY: WORDS is 1, `clear_of` returns 0 or 1, and `store_chosen` writes one word in any case.
unsafe impl Lanes64 for Portable {
    type U64s = u64;
    const WORDS: usize = 1;
    type Bits = [u64; 4];
    const BLOCKS: usize = 4;

    #[inline(always)]
    fn splat(self, word: u64) -> u64 {
        word
    }

    #[inline(always)]
    unsafe fn load_at(self, from: *const u64) -> u64 {
        // SAFETY: the caller has promised a readable, initialised and aligned word.
        unsafe { from.read() }
    }

    #[inline(always)]
    fn clear_of(self, word: u64, test: u64) -> u32 {
        u32::from(word & test == 0)
    }

    #[inline(always)]
    fn merge(self, word: u64, set: u64, keep: u64) -> u64 {
        (word | set) & keep
    }

    #[inline(always)]
    unsafe fn store_chosen(self, to: *mut u64, _chosen: u32, word: u64) {
        // Written in any case and overwritten if not chosen: no branch to mispredict.
        // SAFETY: the caller has promised one writable and aligned word.
        unsafe { to.write(word) }
    }

    #[inline(always)]
    fn prefetch(self, _address: *const u64) {}

    #[inline(always)]
    fn fill(self, block: u64) -> [u64; 4] {
        [block; 4]
    }

    #[inline(always)]
    fn load_bits(self, from: &Blocks) -> [u64; 4] {
        let [a, b, c, d, ..] = from.0;
        [a, b, c, d]
    }

    #[inline(always)]
    fn and(self, a: [u64; 4], b: [u64; 4]) -> [u64; 4] {
        std::array::from_fn(|i| a[i] & b[i])
    }

    #[inline(always)]
    fn and3(self, a: [u64; 4], b: [u64; 4], c: [u64; 4]) -> [u64; 4] {
        std::array::from_fn(|i| a[i] & b[i] & c[i])
    }

    #[inline(always)]
    fn add(self, a: [u64; 4], b: [u64; 4], c: [u64; 4]) -> ([u64; 4], [u64; 4]) {
        let half: [u64; 4] = std::array::from_fn(|i| a[i] ^ b[i]);
        let carry = std::array::from_fn(|i| a[i] & b[i] | half[i] & c[i]);
        (std::array::from_fn(|i| half[i] ^ c[i]), carry)
    }

    #[inline(always)]
    fn add_ones(self, sums: [u64; 4], bits: [u64; 4]) -> [u64; 4] {
        std::array::from_fn(|i| sums[i] + u64::from(bits[i].count_ones()))
    }

    #[inline(always)]
    fn blocks(self, bits: [u64; 4]) -> [u64; 8] {
        let [a, b, c, d] = bits;
        [a, b, c, d, 0, 0, 0, 0]
    }

    #[inline(always)]
    fn planes<const BYTES: usize>(self, words: &[u64; 64], block: usize, planes: &mut Planes) {
        for (byte, planes) in planes.iter_mut().enumerate().take(BYTES) {
            let mut of_block = [0; 5];
            for (group, words) in words.as_chunks::<8>().0.iter().enumerate() {
                // One byte of each of eight words, and then one bit of each of these bytes by a multiplication.
                let eight = (0..8).fold(0, |eight, i| eight | (words[i] >> (8 * byte) & 0xff) << (8 * i));
                for (bit, plane) in of_block.iter_mut().enumerate() {
                    let ones = !eight >> (bit + 3) & 0x0101_0101_0101_0101;
                    *plane |= (ones.wrapping_mul(0x0102_0408_1020_4080) >> 56) << (8 * group);
                }
            }
            for (plane, of_block) in planes.iter_mut().zip(of_block) {
                plane.0[block] = of_block;
            }
        }
    }

    #[inline(always)]
    fn lane(self, i: usize) -> usize {
        i
    }
}
