//! The order of the work on one cut: what is kept, what is made anew in each pass.
//!
//! ```text
//! resident:  the lists of both halves for all row sets, column by column, while they are small
//! descend(e, top):           # e columns are missing; top says which of the first fixed(e) rows are in the left half
//!     for each way to extend top to fixed(e) rows:
//!         grow the lists of both halves to all columns but e
//!         e > 1: descend(e - 1, top)
//!         e = 1: for each row set S of the left half that agrees with top:
//!                    gather the left halves of S and the right halves of its complement, and join them
//! ```
//!
//! The lists of complete halves would fill gigabytes, so they exist for one row set at a time only. The lists with
//! one, two, three columns missing exist for one choice of sides of some rows. A half with e columns missing may
//! still lack e of the fixed rows that are to fall on its side, which makes it part of many passes; such halves would
//! be made again and again. Therefore lists with one column missing are made only where no fixed row is missing, and
//! with two columns only where at most one is: for the others the last two or three queens, which must stand in the
//! missing rows, are placed at once when the complete halves are gathered.
//!
//! How many rows must be fixed is planned from estimates, which take all row sets of one size to be alike. They are
//! not: where lists grow too long all the same, the pass is given up and done in two, with one row more fixed.

use crate::kernel::Stop;
use crate::kernel::meet::cut::Cut;
use crate::kernel::meet::half::Half;
use crate::kernel::meet::join::Matcher;
use crate::kernel::meet::lanes::Lanes;
use crate::kernel::meet::lists::{Grown, Growth, Lists, Source, gather};
use crate::kernel::meet::row_sets::binomial;

/// The words that lists may have.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// The resident lists of a half.
    pub resident: usize,
    /// The lists with one column missing: planned for both halves together, and the limit for each.
    pub last: usize,
    /// The same for lists with any other number of columns missing.
    pub deep: usize,
}

impl Budget {
    /// Lists of about so many bytes in all: three resident ones (of both halves, and one that is being made), two with
    /// one column missing, and two each with two to six.
    pub fn of_bytes(bytes: usize) -> Self {
        let words = bytes / 8;
        Self { resident: words / 12, last: LAST.min(words / 12), deep: words / 20 }
    }
}

/// Words of lists with one column missing: what the second-level cache of most machines holds twice.
const LAST: usize = 300_000;

/// Lists with up to this many columns missing are made in passes; with more they are resident.
const DEEPEST: usize = 15;

/// Lists and buffers, kept from position to position.
#[derive(Debug, Default)]
pub struct Workspace {
    resident: [Lists; 2],
    spare: Lists,
    /// For each number of missing columns, the lists of both halves.
    passing: [[Lists; 2]; DEEPEST + 1],
    complete: [Vec<u64>; 2],
    sources: Vec<Source>,
    heads: Vec<u32>,
}

/// How many fixed rows a half with so many columns missing may lack.
fn most_lacking(missing: usize) -> u32 {
    match missing {
        1 | 2 => missing as u32 - 1,
        _ => missing as u32,
    }
}

/// The work on one cut.
pub struct Passes<'a, L: Lanes> {
    pub cut: &'a Cut,
    pub work: &'a mut Workspace,
    pub matcher: &'a mut Matcher<L>,
    pub stop: &'a Stop,
    /// Complete halves that met a bucket of the other side.
    pub halves: u64,
    /// The columns of the resident lists of each half.
    columns: [usize; 2],
    budget: Budget,
    /// For each number of missing columns, how many rows are to be fixed.
    planned: [u32; DEEPEST + 2],
    /// The same for the passes that are being made: as many as planned, or more.
    fixed: [u32; DEEPEST + 2],
}

impl<'a, L: Lanes> Passes<'a, L> {
    /// Work to be done on a cut.
    pub fn new(
        cut: &'a Cut,
        work: &'a mut Workspace,
        matcher: &'a mut Matcher<L>,
        budget: Budget,
        stop: &'a Stop,
    ) -> Self {
        let forced = [cut.forced; DEEPEST + 2];
        Self { cut, work, matcher, stop, halves: 0, columns: [0; 2], budget, planned: forced, fixed: forced }
    }

    /// Counts all pairs of halves that fit. `None` if stopped.
    ///
    /// # Safety
    /// The machine must have the instruction set of `L`.
    pub unsafe fn run(&mut self) -> Option<()> {
        let left = self.cut.forced_left;
        let columns = self.cut.halves.each_ref().map(Half::columns);
        if left.count_ones() as usize > columns[0]
            || (self.cut.forced - left.count_ones()) as usize > columns[1]
        {
            return Some(());
        }
        // SAFETY: the promise of the caller.
        let expected = unsafe { [self.keep(0)?, self.keep(1)?] };
        let deepest = (0..2).map(|side| columns[side] - self.columns[side] - 1).max().unwrap_or(0);
        for missing in (1..=deepest).rev() {
            let most = self.most(missing) as f64;
            let size = |fixed: u32| -> f64 {
                (0..2).map(|side| self.expected_words(side, missing, fixed, &expected[side])).sum()
            };
            let rows = self.planned[missing + 1]..self.cut.sets.head_bits();
            self.planned[missing] = rows.clone().find(|fixed| size(*fixed) <= most).unwrap_or(rows.end);
        }
        // SAFETY: the promise of the caller.
        unsafe { self.descend(deepest, left) }
    }

    /// The words planned for the lists of both halves with so many columns missing, and the limit for each.
    fn most(&self, missing: usize) -> usize {
        if missing == 1 { self.budget.last } else { self.budget.deep }
    }

    /// Makes the resident lists of a half. Returns how many words are expected for each number of columns.
    unsafe fn keep(&mut self, side: usize) -> Option<Vec<f64>> {
        let half = &self.cut.halves[side];
        let top = top_of_side(side, self.cut.forced_left, self.cut.forced);
        self.work.resident[side].reset(&self.cut.sets);
        let mut columns = 0;
        let mut growth = [half.open[0].count_ones().into(); 3];
        let mut decline = 1.0;
        while columns + 3 < half.columns() {
            // The growth itself falls smoothly; the last two columns tell how fast.
            decline = if growth[2] < growth[0] { root(growth[2] / growth[0]) } else { 0.95 };
            let words = self.work.resident[side].len();
            let must = half.columns() - columns > DEEPEST;
            if !must && columns >= 3 && words as f64 * growth[2] * decline > self.budget.resident as f64 {
                break;
            }
            self.choose_heads(side, half.columns() - columns - 1, self.cut.forced, top);
            let Workspace { resident, spare, heads, .. } = &mut *self.work;
            let most = if must { usize::MAX } else { self.budget.resident };
            // SAFETY: the promise of the caller.
            match unsafe {
                grow::<L>(self.cut, side, columns, &resident[side], spare, heads, most, self.stop)
            } {
                Grown::Whole => {}
                Grown::TooLong => break,
                Grown::Stopped => return None,
            }
            std::mem::swap(&mut self.work.resident[side], &mut self.work.spare);
            columns += 1;
            growth = [growth[1], growth[2], self.work.resident[side].len() as f64 / words.max(1) as f64];
        }
        self.columns[side] = columns;
        let mut expected = vec![0.0; half.columns() + 1];
        expected[columns] = self.work.resident[side].len() as f64;
        let mut factor = growth[2];
        for column in columns..half.columns() {
            factor *= decline;
            expected[column + 1] = expected[column] * factor;
        }
        Some(expected)
    }

    /// The words expected in a half's lists with so many columns missing and so many rows fixed, for the choice of
    /// their sides that makes them longest.
    fn expected_words(&self, side: usize, missing: usize, fixed: u32, expected: &[f64]) -> f64 {
        let columns = self.cut.halves[side].columns();
        if columns - missing <= self.columns[side] {
            return 0.0;
        }
        let (size, rows) = ((columns - missing) as u32, self.cut.sets.rows());
        let sets = |here: u32| -> f64 {
            (0..=most_lacking(missing).min(here))
                .filter(|lacking| size + lacking >= here)
                .map(|lacking| binomial(here, lacking) * binomial(rows - fixed, size + lacking - here))
                .sum()
        };
        let most = (0..=fixed.min(columns as u32)).map(sets).fold(0.0, f64::max);
        expected[size as usize] * most / binomial(rows, size)
    }

    /// Lists in `work.heads` the heads of the sets that a half with so many columns missing can have.
    fn choose_heads(&mut self, side: usize, missing: usize, fixed: u32, top: u32) {
        let sets = &self.cut.sets;
        let half = &self.cut.halves[side];
        let free = sets.head_bits() - fixed;
        let later = half.later[half.columns() - missing] >> (sets.rows() - fixed);
        let size = (half.columns() - missing) as u32;
        self.work.heads.clear();
        let mut lacking = 0u32;
        loop {
            if lacking.count_ones() <= most_lacking(missing) && lacking & !later == 0 {
                let heads = (0..1u32 << free).map(|low| (top & !lacking) << free | low);
                let sized = |head: &u32| {
                    let rows = head.count_ones();
                    rows <= size && size - rows <= sets.tail_bits()
                };
                self.work.heads.extend(heads.filter(sized));
            }
            lacking = lacking.wrapping_sub(top) & top;
            if lacking == 0 {
                break;
            }
        }
    }

    unsafe fn descend(&mut self, missing: usize, left: u32) -> Option<()> {
        let before = self.fixed[missing + 1];
        let fixed = self.planned[missing].max(before);
        for choice in 0..1u32 << (fixed - before) {
            // The rows fixed before are the highest.
            // SAFETY: the promise of the caller.
            unsafe { self.pass(missing, fixed, left << (fixed - before) | choice)? };
        }
        Some(())
    }

    /// The work for one choice of the sides of the fixed rows.
    unsafe fn pass(&mut self, missing: usize, fixed: u32, left: u32) -> Option<()> {
        let columns = self.cut.halves.each_ref().map(Half::columns);
        let on_left = left.count_ones() as usize;
        if on_left > columns[0] || fixed as usize - on_left > columns[1] {
            return Some(());
        }
        self.fixed[missing] = fixed;
        // SAFETY: the promise of the caller.
        unsafe {
            match self.grow_both(missing, fixed, left) {
                Grown::Stopped => None,
                Grown::Whole if missing == 1 => self.join_all(left),
                Grown::Whole => self.descend(missing - 1, left),
                Grown::TooLong => {
                    self.pass(missing, fixed + 1, left << 1)?;
                    self.pass(missing, fixed + 1, left << 1 | 1)
                }
            }
        }
    }

    /// Makes the lists of both halves with so many columns missing.
    unsafe fn grow_both(&mut self, missing: usize, fixed: u32, left: u32) -> Grown {
        let can_fix_more = fixed < self.cut.sets.head_bits();
        let most = if can_fix_more { self.most(missing) } else { usize::MAX };
        for side in 0..2 {
            let column = self.cut.halves[side].columns() - missing;
            if column <= self.columns[side] {
                continue;
            }
            self.choose_heads(side, missing, fixed, top_of_side(side, left, fixed));
            let Workspace { resident, passing, heads, .. } = &mut *self.work;
            let (to, from) = passing.split_at_mut(missing + 1);
            let from = if column - 1 == self.columns[side] { &resident[side] } else { &from[0][side] };
            let to = &mut to[missing][side];
            // SAFETY: the promise of the caller.
            let grown = unsafe { grow::<L>(self.cut, side, column - 1, from, to, heads, most, self.stop) };
            if grown != Grown::Whole {
                return grown;
            }
        }
        Grown::Whole
    }

    /// Joins the halves of all row sets that agree with the fixed rows.
    unsafe fn join_all(&mut self, left: u32) -> Option<()> {
        let sets = &self.cut.sets;
        let free = sets.head_bits() - self.fixed[1];
        for head in (0..1u32 << free).map(|low| left << free | low) {
            for &tail in sets.tails(head, self.cut.halves[0].columns()) {
                if self.stop.is_stopped() {
                    return None;
                }
                let set = head << sets.tail_bits() | tail;
                // SAFETY: the promise of the caller.
                unsafe { self.join_one(set) };
            }
        }
        Some(())
    }

    unsafe fn join_one(&mut self, set: u32) {
        for (side, set) in [set, !set & self.cut.sets.full()].into_iter().enumerate() {
            // SAFETY: the promise of the caller.
            unsafe { L::gather(self, side, set) };
            if self.work.complete[side].is_empty() {
                return;
            }
        }
        let [left, right] = &mut self.work.complete;
        self.halves += (left.len() + right.len()) as u64;
        // SAFETY: the promise of the caller; `gather` kept the shared bits only.
        unsafe { L::join(self.matcher, self.cut.bytes, left, right) };
    }

    /// Makes the complete halves of a set.
    ///
    /// # Safety
    /// The machine must have the instruction set of `L`.
    #[inline(always)]
    pub unsafe fn gather(&mut self, side: usize, set: u32) {
        self.collect_sources(side, set);
        // SAFETY: the promise of the caller; the sources are lists that live in the workspace.
        unsafe { gather::<L>(&self.work.sources, self.cut.keep, &mut self.work.complete[side]) };
    }

    /// Lists the sources from which the complete halves of a set come.
    #[inline(always)]
    fn collect_sources(&mut self, side: usize, set: u32) {
        let Workspace { resident, passing, sources, .. } = &mut *self.work;
        let sets = &self.cut.sets;
        let half = &self.cut.halves[side];
        let last = half.columns() - 1;
        let lists = |missing: usize| {
            let is_resident = half.columns() - missing <= self.columns[side];
            if is_resident { &resident[side] } else { &passing[missing][side] }
        };
        let [one, two, three] = [lists(1), lists(2), lists(3)];
        let fixed = |missing: usize| sets.full() & u32::MAX << (sets.rows() - self.fixed[missing]);
        let (fixed, fixed_before) = (fixed(1), fixed(2));
        sources.clear();
        let mut add = |lists: &Lists, set: u32, step| {
            let (words, len) = lists.of(sets, set);
            if len > 0 {
                sources.push(Source { words, len, step });
            }
        };
        for z in ones(set & half.open[last] & !fixed) {
            add(one, set & !(1 << z), half.steps[last][z]);
        }
        for z in ones(set & half.open[last] & fixed) {
            for y in ones(set & half.pairs[z]) {
                let pair = half.steps[last][z].and(half.steps[last - 1][y]);
                let rest = set & !(1 << z | 1 << y);
                if (1 << z | 1 << y) & !fixed_before != 0 {
                    add(two, rest, pair);
                    continue;
                }
                for x in ones(set & half.triples[z][y]) {
                    add(three, rest & !(1 << x), pair.and(half.steps[last - 2][x]));
                }
            }
        }
        sources.push(Source { words: sources.as_ptr().cast(), len: 0, step: half.steps[last][0] });
    }
}

/// The fixed rows on one side, where those in `left` are on the left.
fn top_of_side(side: usize, left: u32, fixed: u32) -> u32 {
    if side == 0 { left } else { !left & ((1 << fixed) - 1) }
}

/// Adds one column to the lists of a half.
#[expect(clippy::too_many_arguments, reason = "what the lists are made of, and their limits")]
unsafe fn grow<L: Lanes>(
    cut: &Cut,
    side: usize,
    column: usize,
    from: &Lists,
    to: &mut Lists,
    heads: &[u32],
    most: usize,
    stop: &Stop,
) -> Grown {
    let half = &cut.halves[side];
    let growth = Growth {
        sets: &cut.sets,
        size: column + 1,
        open: half.open[column],
        steps: &half.steps[column],
        heads,
        most,
        stop,
    };
    // SAFETY: the promise of the caller.
    unsafe { L::grow(&growth, from, to) }
}

/// The places of the ones.
#[inline(always)]
fn ones(mut bits: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let place = (bits != 0).then(|| bits.trailing_zeros() as usize);
        bits &= bits.wrapping_sub(1);
        place
    })
}

/// The square root of a number between 0 and 1 by Heron's rule: only + * /, the same on every machine.
fn root(x: f64) -> f64 {
    (0..12).fold(1.0, |y, _| 0.5 * (y + x / y))
}
