//! Scans: the words of a list that pass a test go, one behind the other, to the end of another list.

use crate::kernel::meet::half::QueenBits;
use crate::kernel::meet::lanes::Lanes64;

/// Words that must lie behind a list that is scanned, so that its last vector can be loaded whole; and room that
/// stores may touch behind the words they append.
pub const MARGIN: usize = 16;

/// Words that are looked at in a turn of a scan: a line of the cache, whether that is one vector or several. They are loaded
/// before any of them is stored.
const TURN: usize = 8;

/// Appends to `out` the states of a list, followed by a [`MARGIN`], that have all tested bits of a queen
/// clear. The queen's bits in `keep` are set in them. Meanwhile the list at the address `next` is fetched
/// into the cache. Appends nothing and returns false if `out` has no room for the whole list and a margin.
#[inline(always)]
pub fn scan<L: Lanes64>(
    isa: L,
    list_and_margin: &[u64],
    queen: QueenBits,
    keep: u64,
    next: *const u64,
    out: &mut Vec<u64>,
) -> bool {
    const { assert!(TURN <= MARGIN && TURN.is_multiple_of(L::WORDS)) };
    if out.capacity() - out.len() < list_and_margin.len() {
        return false;
    }
    let bits = [queen.test, queen.set, keep].map(|word| isa.splat(word));
    let begin = out.as_mut_ptr();
    // SAFETY: the end of the words of `out` lies in its memory or just behind it.
    let mut end = unsafe { begin.add(out.len()) };
    let words = list_and_margin.as_ptr();
    let len = list_and_margin.len().saturating_sub(MARGIN);
    let mut i = 0;
    // SAFETY: turns begin at places within the list, so that what they load ends within the margin. They store from `end` on,
    // which each of them moves by no more words than it has of the list: by i at most until then. So the TURN words from
    // there on lie within the room for the list and MARGIN words more, which there is.
    unsafe {
        while i + TURN <= len {
            isa.prefetch(next.wrapping_add(i));
            end = turn(isa, words.add(i), u32::MAX, bits, end);
            i += TURN;
        }
        if i < len {
            end = turn(isa, words.add(i), (1 << (len - i)) - 1, bits, end);
        }
    }
    // SAFETY: `end` was moved on from the end of `out`, within its memory, by the words that were written there.
    unsafe { out.set_len(end.offset_from_unsigned(begin)) };
    true
}

/// Writes to `end` those of [`TURN`] words that pass the test and are among the `chosen`, one bit each. Returns where they end.
///
/// # Safety
/// TURN words must be readable and initialised from `words` on, and writable from `end` on; no more than as many of them are moved over
/// as are chosen.
#[inline(always)]
unsafe fn turn<L: Lanes64>(
    isa: L,
    words: *const u64,
    chosen: u32,
    [test, set, keep]: [L::U64s; 3],
    mut end: *mut u64,
) -> *mut u64 {
    // Always as many, that there is no branch: the last turn of a short list is a good part of it.
    let number = const { TURN / L::WORDS };
    let mut vectors = [test; TURN];
    for (i, vector) in vectors.iter_mut().enumerate().take(number) {
        // SAFETY: WORDS of the TURN words that the caller has promised.
        *vector = unsafe { isa.load_at(words.add(i * L::WORDS)) };
    }
    for (i, vector) in vectors.into_iter().enumerate().take(number) {
        let passing = isa.clear_of(vector, test) & chosen >> (i * L::WORDS);
        // SAFETY: `end` was moved by WORDS at most for each vector before this one (`Lanes64` promises no more ones), so that these WORDS are
        // among the TURN words that the caller has promised.
        unsafe {
            isa.store_chosen(end, passing, isa.merge(vector, set, keep));
            end = end.add(passing.count_ones() as usize);
        }
    }
    end
}

/// Appends to `out` the words that have no bit of `test` (`clear`), or those that have one, as far as they are in `keep`.
#[inline(always)]
pub fn choose<L: Lanes64>(isa: L, words: &[u64], test: u64, clear: bool, keep: u64, out: &mut Vec<u64>) {
    let vectors = words.chunks_exact(L::WORDS);
    let rest = vectors.remainder();
    let flip = if clear { 0 } else { (1 << L::WORDS) - 1 };
    let (tests, none, keeps) = (isa.splat(test), isa.splat(0), isa.splat(keep));
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
            isa.store_chosen(end, chosen, isa.merge(here, none, keeps));
            end = end.add(chosen.count_ones() as usize);
        }
    }
    // SAFETY: `end` was moved on from the end of `out`, within its memory, by the words that were written there.
    unsafe { out.set_len(end.offset_from_unsigned(begin)) };
    out.extend(rest.iter().filter(|word| (**word & test == 0) == clear).map(|word| word & keep));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::isa::{Isa, on_detected};

    /// Lists of all lengths around a vector's, with nothing behind their margin.
    fn agrees<L: Lanes64>(isa: L) {
        let queen = QueenBits { test: 0b101, set: 0b1101 };
        for len in 0..3 * MARGIN {
            let list: Vec<u64> = (0..(len + MARGIN) as u64).map(|i| i * i).collect();
            let passing = list[..len].iter().filter(|word| **word & queen.test == 0);
            let expected: Vec<u64> = passing.map(|word| (word | queen.set) & !8).collect();
            let mut out = Vec::with_capacity(len + MARGIN - 1);
            assert!(!scan(isa, &list, queen, !8, list.as_ptr(), &mut out) && out.is_empty());
            out.reserve_exact(len + MARGIN);
            assert!(scan(isa, &list, queen, !8, list.as_ptr(), &mut out));
            assert_eq!(out, expected, "{len} words");

            let (mut with, mut without) = (Vec::new(), Vec::new());
            choose(isa, &list[..len], queen.test, false, u64::MAX, &mut with);
            choose(isa, &list[..len], queen.test, true, !8, &mut without);
            assert!(with.iter().all(|word| word & queen.test != 0));
            let passing = list[..len].iter().filter(|word| **word & queen.test == 0);
            assert!(without.iter().eq(passing.map(|word| word & !8).collect::<Vec<_>>().iter()));
            assert_eq!(with.len() + without.len(), len);
        }
    }

    #[test]
    fn every_instruction_set_finds_the_words_that_pass() {
        for isa in Isa::available().into_iter().filter_map(Isa::detect) {
            on_detected!(isa, isa => agrees(isa));
        }
    }
}
