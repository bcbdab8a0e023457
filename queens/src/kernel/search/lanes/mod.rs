//! The operations of the search on an instruction set: some 32-bit words side by side, and masks over them.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "aarch64")]
mod neon;
mod portable;

/// Vectors of 32-bit words of an instruction set. The implementing types are tokens: one that exists proves that the
/// machine has the instruction set. Methods are inlined only where the caller is compiled for it.
///
/// # Safety
/// Pointers are advanced by what the methods return: [`append`](Self::append) must return at most `WIDTH`, and write
/// that many words at each place; `WIDTH` must be at most [`WIDEST`].
pub(super) unsafe trait Lanes32: Copy {
    /// Words side by side; divides [`WIDEST`].
    const WIDTH: usize;
    /// A vector of `WIDTH` words.
    type U32s: Copy;
    /// One truth value for each lane.
    type Mask: Copy;

    /// The same word in each lane.
    fn splat(self, word: u32) -> Self::U32s;
    /// The `WIDTH` words from `from` on, aligned as words are.
    ///
    /// # Safety
    /// They must be readable and initialised.
    unsafe fn load(self, from: *const u32) -> Self::U32s;
    fn or(self, a: Self::U32s, b: Self::U32s) -> Self::U32s;
    fn and(self, a: Self::U32s, b: Self::U32s) -> Self::U32s;
    fn xor(self, a: Self::U32s, b: Self::U32s) -> Self::U32s;
    /// `a | (b & c)`
    fn or_and(self, a: Self::U32s, b: Self::U32s, c: Self::U32s) -> Self::U32s;
    /// `!(a | b | c)`
    fn neither(self, a: Self::U32s, b: Self::U32s, c: Self::U32s) -> Self::U32s;
    /// Each word without its lowest set bit.
    fn without_lowest(self, a: Self::U32s) -> Self::U32s;
    /// Each word shifted left by `by`, the same number below 32 in each lane.
    fn shl(self, a: Self::U32s, by: Self::U32s) -> Self::U32s;
    /// Each word shifted right by `by`, the same number below 32 in each lane.
    fn shr(self, a: Self::U32s, by: Self::U32s) -> Self::U32s;
    /// The lanes where `a & b` is not zero.
    fn meet(self, a: Self::U32s, b: Self::U32s) -> Self::Mask;
    /// The lanes of `mask` where `a & b` is not zero.
    fn meet_within(self, mask: Self::Mask, a: Self::U32s, b: Self::U32s) -> Self::Mask;
    /// The lanes of `mask` where `a & b` is zero.
    fn apart_within(self, mask: Self::Mask, a: Self::U32s, b: Self::U32s) -> Self::Mask;
    /// The number of lanes in `mask`.
    fn count(self, mask: Self::Mask) -> usize;
    /// Writes the words of the lanes in `mask`, packed, to four places aligned as words are, and returns how many each
    /// got. Afterwards the words behind the packed words, `WIDTH` in all, are undefined.
    ///
    /// # Safety
    /// `WIDTH` words must be writable at each place.
    unsafe fn append(self, mask: Self::Mask, words: [Self::U32s; 4], to: [*mut u32; 4]) -> usize;
}

/// The most lanes that any instruction set has.
pub(super) const WIDEST: usize = 16;
