//! What the search body needs of an instruction set: some 32-bit words side by side, and masks over them.

/// An instruction set, as a type: `WIDTH` words side by side are a `Word`, one truth value for each a `Mask`.
///
/// # Safety
/// Each method may use instructions that not every machine has: the caller must run on a machine that has the
/// instruction set, inside of a function compiled for it (or else nothing is inlined). Methods that take pointers
/// say what must be readable or writable behind them.
pub(super) trait Lanes {
    /// Words side by side; divides [`WIDEST`].
    const WIDTH: usize;
    type Word: Copy;
    type Mask: Copy;

    /// The same word in each lane.
    unsafe fn splat(word: u32) -> Self::Word;
    /// The `WIDTH` words from `from` on, which must be readable.
    unsafe fn load(from: *const u32) -> Self::Word;
    unsafe fn or(a: Self::Word, b: Self::Word) -> Self::Word;
    unsafe fn and(a: Self::Word, b: Self::Word) -> Self::Word;
    unsafe fn xor(a: Self::Word, b: Self::Word) -> Self::Word;
    /// `a | (b & c)`
    unsafe fn or_and(a: Self::Word, b: Self::Word, c: Self::Word) -> Self::Word;
    /// `!(a | b | c)`
    unsafe fn neither(a: Self::Word, b: Self::Word, c: Self::Word) -> Self::Word;
    /// Each word without its lowest set bit.
    unsafe fn without_lowest(a: Self::Word) -> Self::Word;
    /// Each word shifted left by `by`, the same number below 32 in each lane.
    unsafe fn shl(a: Self::Word, by: Self::Word) -> Self::Word;
    /// Each word shifted right by `by`, the same number below 32 in each lane.
    unsafe fn shr(a: Self::Word, by: Self::Word) -> Self::Word;
    /// The lanes where `a & b` is not zero.
    unsafe fn meet(a: Self::Word, b: Self::Word) -> Self::Mask;
    /// The lanes of `mask` where `a & b` is not zero.
    unsafe fn meet_within(mask: Self::Mask, a: Self::Word, b: Self::Word) -> Self::Mask;
    /// The lanes of `mask` where `a & b` is zero.
    unsafe fn apart_within(mask: Self::Mask, a: Self::Word, b: Self::Word) -> Self::Mask;
    /// The number of lanes in `mask`.
    unsafe fn count(mask: Self::Mask) -> usize;
    /// Writes the words of the lanes in `mask`, packed, to four places, and returns how many each got. `WIDTH` words
    /// must be writable at each place; those after the packed ones hold anything afterwards.
    unsafe fn append(mask: Self::Mask, words: [Self::Word; 4], to: [*mut u32; 4]) -> usize;
}

/// The most lanes that any instruction set has.
pub(super) const WIDEST: usize = 16;
