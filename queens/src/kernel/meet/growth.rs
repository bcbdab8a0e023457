//! How one column more is added to the lists of a half.
//!
//! ```text
//! grow:   for each set S of j + 1 rows that is wanted:
//!             list(S) = for each row r of S whose square in the half's column j is open:
//!                 the states of list(S - r) that leave both diagonals of that square free, with them set
//! ```

use crate::kernel::contract::Stop;
use crate::kernel::meet::cut::Cut;
use crate::kernel::meet::half::QueenBits;
use crate::kernel::meet::heads::Wanted;
use crate::kernel::meet::lanes::Lanes64;
use crate::kernel::meet::lists::Lists;
use crate::kernel::meet::row_sets::RowSets;
use crate::kernel::meet::scan::{MARGIN, scan};

/// How an attempt to add a column ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grown {
    /// The lists are complete.
    Whole,
    /// They would be longer than they may be.
    TooLong,
    /// The count was stopped.
    Stopped,
}

/// One column more for some row sets.
#[derive(Clone, Copy, Debug)]
pub struct Growth<'a> {
    /// The numbering of sets.
    sets: &'a RowSets,
    /// The new sets.
    wanted: Wanted,
    /// The rows whose squares in the new column are open.
    open: u32,
    /// The bits that a queen in each row of that column tests and sets.
    queens: &'a [QueenBits; 32],
    /// Their heads.
    heads: &'a [u32],
    /// The most states that all lists together may have.
    most: usize,
    /// Polled now and then.
    stop: &'a Stop,
}

impl<'a> Growth<'a> {
    /// The last column of the sets that are wanted, which have these heads and may have `most` states together.
    pub fn new(
        cut: &'a Cut,
        side: usize,
        wanted: Wanted,
        heads: &'a [u32],
        most: usize,
        stop: &'a Stop,
    ) -> Self {
        let half = &cut.halves[side];
        let column = wanted.size() - 1;
        let (open, queens) = (half.open[column], &half.queens[column]);
        Self { sets: &cut.sets, wanted, open, queens, heads, most, stop }
    }

    /// Whether more states than allowed would pass, at the rate at which scanned states passed when `from`
    /// was made. The answer depends on these lists alone, so that passes do not depend on which others were
    /// made.
    pub fn expects_too_long(&self, from: &Lists) -> bool {
        let Self { sets, wanted, open, most, .. } = *self;
        let scanned_at_most = (most as f64 / from.passed()) as usize;
        // A state is scanned for no more rows than its set lacks.
        let lacking = sets.rows() as usize + 1 - wanted.size();
        if from.len().saturating_mul(lacking) <= scanned_at_most {
            return false;
        }
        let mut scanned = 0;
        from.heads().iter().filter(|head| wanted.may_come_of(sets, **head)).any(|&head| {
            let tails = sets.tails(head, wanted.size() - 1);
            let rows = tails.iter().map(|tail| wanted.rows_to(head << sets.tail_bits() | tail) & open);
            let lens = from.lens(head, tails.len());
            scanned += rows.zip(lens).map(|(rows, len)| rows.count_ones() as usize * len).sum::<usize>();
            scanned > scanned_at_most
        })
    }

    /// Makes in `to` the lists that have one column more than those in `from`.
    #[inline(always)]
    pub fn grow<L: Lanes64>(&self, isa: L, from: &Lists, to: &mut Lists) -> Grown {
        let Self { sets, wanted, open, queens, heads, most, stop } = *self;
        to.begin(sets);
        let mut scanned = 0;
        for &head in heads {
            if stop.is_stopped() {
                return Grown::Stopped;
            }
            to.begin_head(head);
            for &tail in sets.tails(head, wanted.size()) {
                let set = head << sets.tail_bits() | tail;
                let mut rows = if wanted.has(set) { set & open } else { 0 };
                while rows != 0 {
                    let row = rows.trailing_zeros();
                    rows &= rows - 1;
                    let list = from.of(sets, set & !(1 << row));
                    let len = list.len() - MARGIN;
                    if len == 0 {
                        continue;
                    }
                    scanned += len;
                    let next = list.as_ptr().wrapping_add(len);
                    let queen = queens[row as usize];
                    while !scan(isa, list, queen, u64::MAX, next, to.words_mut()) {
                        if !to.make_room(len, most) {
                            return Grown::TooLong;
                        }
                    }
                }
                to.end_set();
            }
        }
        to.finish(scanned);
        Grown::Whole
    }
}
