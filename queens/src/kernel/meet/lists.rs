//! Lists of half boards by row set.
//!
//! The states of a set lie together, so adding a queen is a linear scan with two constants: a mask to test and a mask
//! to set. Nothing is ever sorted. A scan passes about 0.4 of the states, and costs 0.2 ns a state in the first cache.

use crate::kernel::meet::row_sets::RowSets;
use crate::kernel::meet::scan::MARGIN;

/// The states of all row sets of one size with requested heads.
///
/// Lists are made from the first to the last: [`begin`](Self::begin), for each head [`begin_head`](Self::begin_head),
/// for each set of it, in the order of their numbers, its [`words_mut`](Self::words_mut) and
/// [`end_set`](Self::end_set), and when all are there [`finish`](Self::finish).
#[derive(Debug, Default)]
pub struct Lists {
    /// For each head, the index of its first set in `begins`; nothing sensible for other heads.
    firsts: Vec<u32>,
    /// The heads that are present.
    heads: Vec<u32>,
    /// The begin of each set's list; the next begin is its end.
    begins: Vec<u32>,
    /// The lists, and once they are finished a margin behind them.
    words: Vec<u64>,
    /// Which part of the states that were scanned passed.
    passed: f64,
}

impl Lists {
    /// Makes this the lists of the empty set, which holds one state: nothing placed, nothing attacked.
    pub fn reset(&mut self, sets: &RowSets) {
        self.begin(sets);
        self.begin_head(0);
        self.words.push(0);
        self.end_set();
        self.finish(1);
    }

    /// The number of states of finished lists.
    pub fn len(&self) -> usize {
        self.words.len().saturating_sub(MARGIN)
    }

    /// The list of a set whose head is present, and the [`MARGIN`] words behind it.
    #[inline(always)]
    pub fn of(&self, sets: &RowSets, set: u32) -> &[u64] {
        let i = (self.firsts[sets.head(set)] + sets.rank(set)) as usize;
        let (begin, end) = (self.begins[i] as usize, self.begins[i + 1] as usize);
        &self.words[begin..end + MARGIN]
    }

    /// The heads that are present.
    pub fn heads(&self) -> &[u32] {
        &self.heads
    }

    /// How many states the lists of the first `count` sets have with a head that is present.
    pub fn lens(&self, head: u32, count: usize) -> impl Iterator<Item = usize> {
        let first = self.firsts[head as usize] as usize;
        self.begins[first..=first + count].windows(2).map(|ends| (ends[1] - ends[0]) as usize)
    }

    /// Which part of the states that were scanned for finished lists passed.
    pub fn passed(&self) -> f64 {
        self.passed
    }

    /// Forgets all lists.
    pub fn begin(&mut self, sets: &RowSets) {
        self.heads.drain(..).for_each(|head| self.firsts[head as usize] = u32::MAX);
        self.firsts.resize(1 << sets.head_bits(), u32::MAX);
        self.begins.clear();
        self.begins.push(0);
        self.words.clear();
    }

    /// The sets that follow have this head.
    pub fn begin_head(&mut self, head: u32) {
        self.firsts[head as usize] = self.begins.len() as u32 - 1;
        self.heads.push(head);
    }

    /// The words, to append the states of a set.
    #[inline(always)]
    pub fn words_mut(&mut self) -> &mut Vec<u64> {
        &mut self.words
    }

    /// Makes room for `more` states and a margin, unless that makes more than `most` states. Returns whether
    /// there is room. A list with a limit gets twice the room at once. Lists of a pass that cannot be divided
    /// have no limit. Untouched memory costs nothing; memory that grew from list to list would be scattered.
    #[cold]
    pub fn make_room(&mut self, more: usize, most: usize) -> bool {
        if self.words.len() + more > most {
            return false;
        }
        let needed = self.words.len() + more + MARGIN;
        let room = if most == usize::MAX { needed + needed / 4 } else { 2 * (most + MARGIN) };
        self.words.reserve_exact(room - self.words.len());
        true
    }

    /// Ends the set: all its states are written.
    #[inline(always)]
    pub fn end_set(&mut self) {
        self.begins.push(self.words.len() as u32);
    }

    /// Completes the lists, which were made from `scanned` scanned states.
    pub fn finish(&mut self, scanned: usize) {
        self.passed = self.words.len() as f64 / scanned.max(1) as f64;
        self.words.reserve_exact(MARGIN);
        self.words.extend([0; MARGIN]);
    }
}
