//! Lists of half boards by row set, and how one column more is added to them.
//!
//! ```text
//! grow:   for each set S of j + 1 rows:
//!             list(S) = for each row r of S whose square in the half's column j is open:
//!                 the states of list(S - r) that leave both diagonals of that square free, with them set
//! gather: the same for the last one to three columns at once, for one S, into a list that is used once
//! ```
//!
//! The states of a set lie together, so a step is a linear scan with two constants: a mask to test and a mask to
//! set. Nothing is ever sorted. A scan passes about 0.4 of the states, and costs 0.2 ns a state in the first cache.

use crate::kernel::Stop;
use crate::kernel::meet::half::Step;
use crate::kernel::meet::lanes::Lanes;
use crate::kernel::meet::row_sets::RowSets;

/// The states of all row sets of one size whose heads were asked for.
#[derive(Debug, Default)]
pub struct Lists {
    /// For each head, the index of its first set in `ends`; nothing sensible for other heads.
    firsts: Vec<u32>,
    /// Where the list of each set begins; the next one's begin is its end.
    begins: Vec<u32>,
    words: Vec<u64>,
}

impl Lists {
    /// Makes this the lists of the empty set, which holds one state: nothing placed, nothing attacked.
    pub fn reset(&mut self, sets: &RowSets) {
        self.begin(sets);
        self.firsts[0] = 0;
        self.words.push(0);
        self.begins.push(1);
        self.words.reserve(MARGIN);
    }

    /// The number of states.
    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// Makes room for so many states more: twice as much as there was, but not for more than may come.
    #[cold]
    fn make_room(&mut self, more: usize, most: usize) {
        let needed = self.words.len() + more;
        let room = needed.max((2 * self.words.capacity()).min(most.saturating_add(2 * MARGIN)));
        self.words.reserve_exact(room - self.words.len());
    }

    fn begin(&mut self, sets: &RowSets) {
        self.firsts.clear();
        self.firsts.resize(1 << sets.head_bits(), u32::MAX);
        self.begins.clear();
        self.begins.push(0);
        self.words.clear();
    }

    /// The states of a set whose head is present.
    #[inline(always)]
    pub fn of(&self, sets: &RowSets, set: u32) -> (*const u64, usize) {
        let i = (self.firsts[sets.head(set)] + sets.rank(set)) as usize;
        let (begin, end) = (self.begins[i] as usize, self.begins[i + 1] as usize);
        (self.words[begin..end].as_ptr(), end - begin)
    }
}

/// Room that vector loads and stores may touch behind a list.
pub const MARGIN: usize = 16;

/// How an attempt to add a column ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grown {
    /// The lists are there.
    Whole,
    /// They would be longer than they may be.
    TooLong,
    /// The count was stopped.
    Stopped,
}

/// One column more for all sets with some heads.
pub struct Growth<'a> {
    /// The numbering of sets.
    pub sets: &'a RowSets,
    /// How many rows the new sets have.
    pub size: usize,
    /// The rows whose squares in the new column are open.
    pub open: u32,
    /// What a queen in each row of that column tests and sets.
    pub steps: &'a [Step; 32],
    /// The heads of the new sets.
    pub heads: &'a [u32],
    /// The most states that all lists together may have.
    pub most: usize,
    /// Polled now and then.
    pub stop: &'a Stop,
}

/// Adds one column.
///
/// # Safety
/// The machine must have the instruction set of `L`.
#[inline(always)]
pub unsafe fn grow<L: Lanes>(growth: &Growth<'_>, from: &Lists, to: &mut Lists) -> Grown {
    let Growth { sets, size, open, steps, heads, most, stop } = *growth;
    to.begin(sets);
    for &head in heads {
        if stop.is_stopped() {
            return Grown::Stopped;
        }
        to.firsts[head as usize] = to.begins.len() as u32 - 1;
        for &tail in sets.tails(head, size) {
            let set = head << sets.tail_bits() | tail;
            let mut rows = set & open;
            while rows != 0 {
                let row = rows.trailing_zeros();
                rows &= rows - 1;
                let (words, len) = from.of(sets, set & !(1 << row));
                if len > 0 {
                    let step = steps[row as usize];
                    let source = Source { words, len, step };
                    if to.words.capacity() - to.words.len() < len + MARGIN {
                        if to.words.len() + len > most {
                            return Grown::TooLong;
                        }
                        to.make_room(len + MARGIN, most);
                    }
                    // SAFETY: the instruction set is the caller's promise; `words` points to `len` words of a list,
                    // behind which every list has MARGIN more, and room for as many was just reserved.
                    unsafe { scan::<L>(source, u64::MAX, words.wrapping_add(len), &mut to.words) };
                }
            }
            to.begins.push(to.words.len() as u32);
        }
    }
    to.words.reserve_exact(MARGIN);
    Grown::Whole
}

/// A list to scan and the queens to add to each state of it.
#[derive(Clone, Copy, Debug)]
pub struct Source {
    pub words: *const u64,
    pub len: usize,
    pub step: Step,
}

/// Collects in `out` what passes of all sources, only the bits of `keep`. The last source is scanned to prefetch
/// only, and may be anything.
///
/// # Safety
/// As for [`grow`]; the sources but the last must point to lists.
#[inline(always)]
pub unsafe fn gather<L: Lanes>(sources: &[Source], keep: u64, out: &mut Vec<u64>) {
    out.clear();
    for pair in sources.windows(2) {
        out.reserve(pair[0].len + MARGIN);
        // SAFETY: the promises of the caller, and room for all states of the source was reserved.
        unsafe { scan::<L>(pair[0], keep, pair[1].words, out) };
    }
}

/// Appends to `out` the states of the source that pass, while the list at `next` is prefetched.
///
/// # Safety
/// As for [`grow`]; `out` must have room for the source's length and `MARGIN` more.
#[inline(always)]
unsafe fn scan<L: Lanes>(source: Source, keep: u64, next: *const u64, out: &mut Vec<u64>) {
    let Source { words, len, step } = source;
    debug_assert!(out.capacity() - out.len() >= len + L::WORDS);
    // SAFETY: a load reads at most WORDS - 1 <= MARGIN words behind the list. Every store begins at most `len` words
    // behind the old end of `out` and is WORDS long, within the room that the caller reserved. As many words were
    // written as the new length says.
    unsafe {
        let begin = out.as_mut_ptr();
        let mut end = begin.add(out.len());
        let (test, set, keep) = (L::splat(step.test), L::splat(step.set), L::splat(keep));
        let mut i = 0;
        while i + L::WORDS <= len {
            L::prefetch(next.wrapping_add(i));
            let states = L::load(words.add(i));
            let passing = L::clear_of(states, test);
            L::store_chosen(end, passing, L::merge(states, set, keep));
            end = end.add(passing.count_ones() as usize);
            i += L::WORDS;
        }
        if i < len {
            let states = L::load(words.add(i));
            let passing = L::clear_of(states, test) & ((1 << (len - i)) - 1);
            L::store_chosen(end, passing, L::merge(states, set, keep));
            end = end.add(passing.count_ones() as usize);
        }
        out.set_len(end.offset_from_unsigned(begin));
    }
}
