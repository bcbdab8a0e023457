//! Scans: the words of a list that pass a test go, one behind the other, to the end of another list.

use crate::kernel::meet::half::QueenBits;
use crate::kernel::meet::lanes::Lanes64;

/// Words that must lie behind a list that is scanned, so that its last vector can be loaded whole; and room that
/// stores may touch behind the words they append.
pub const MARGIN: usize = 16;

/// Appends to `out` the states of a list that leave clear the bits of a queen, with the queen's bits set, as far as
/// they are in `keep`. Meanwhile the list at the address `next` is fetched into the cache.
///
/// # Panics
/// If not even the [`MARGIN`] words that must lie behind the list are there.
#[inline(always)]
pub fn scan<L: Lanes64>(
    isa: L,
    list_and_margin: &[u64],
    queen: QueenBits,
    keep: u64,
    next: *const u64,
    out: &mut Vec<u64>,
) {
    const { assert!(L::WORDS <= MARGIN) };
    let (test, set, keep) = (isa.splat(queen.test), isa.splat(queen.set), isa.splat(keep));
    let len = list_and_margin.len().checked_sub(MARGIN).expect("a margin behind the list");
    let whole = len / L::WORDS * L::WORDS;
    out.reserve(len + MARGIN);
    let begin = out.as_mut_ptr();
    // SAFETY: the end of the words of `out` lies in its memory or just behind it.
    let mut end = unsafe { begin.add(out.len()) };
    let mut append = |states: L::U64s, passing: u32| {
        // SAFETY: this is called once for each vector that has words of the list, and moves `end` on by no more words
        // than these (`Lanes64` promises no more ones than words, and the bits from `len` on are masked). So the WORDS
        // words from `end` on lie within the len + MARGIN words for which room was made.
        unsafe {
            isa.store_chosen(end, passing, isa.merge(states, set, keep));
            end = end.add(passing.count_ones() as usize);
        }
    };
    for (i, words) in list_and_margin[..whole].chunks_exact(L::WORDS).enumerate() {
        isa.prefetch(next.wrapping_add(i * L::WORDS));
        let states = isa.load(words);
        append(states, isa.clear_of(states, test));
    }
    if whole < len {
        let states = isa.load(&list_and_margin[whole..]);
        append(states, isa.clear_of(states, test) & ((1 << (len - whole)) - 1));
    }
    // SAFETY: `end` was moved on from the end of `out`, within its memory, by the words that were written there.
    unsafe { out.set_len(end.offset_from_unsigned(begin)) };
}

/// Appends to `out` the words that have no bit of `test` (`clear`), or those that have one.
#[inline(always)]
pub fn choose<L: Lanes64>(isa: L, words: &[u64], test: u64, clear: bool, out: &mut Vec<u64>) {
    let vectors = words.chunks_exact(L::WORDS);
    let rest = vectors.remainder();
    let flip = if clear { 0 } else { (1 << L::WORDS) - 1 };
    let tests = isa.splat(test);
    out.reserve(words.len() + L::WORDS);
    let begin = out.as_mut_ptr();
    // SAFETY: the end of the words of `out` lies in its memory or just behind it.
    let mut end = unsafe { begin.add(out.len()) };
    for vector in vectors {
        let here = isa.load(vector);
        let chosen = isa.clear_of(here, tests) ^ flip;
        // SAFETY: `end` is moved on by WORDS at most for each vector of `words` (`Lanes64` promises no more ones, and
        // `flip` has no more), so the WORDS words from `end` on lie within the room that was made for all of `words`.
        unsafe {
            isa.store_chosen(end, chosen, here);
            end = end.add(chosen.count_ones() as usize);
        }
    }
    // SAFETY: `end` was moved on from the end of `out`, within its memory, by the words that were written there.
    unsafe { out.set_len(end.offset_from_unsigned(begin)) };
    out.extend(rest.iter().filter(|word| (**word & test == 0) == clear));
}
