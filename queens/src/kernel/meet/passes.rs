//! The order of the work on one cut: which lists are kept, and which are made again in each pass.
//!
//! ```text
//! resident:  the lists of both halves for all row sets, column by column, while they are small
//! descend(e, left):          # e columns are missing; left says which of the first fixed(e) rows are in the left half
//!     for each way to extend left to fixed(e) rows:
//!         grow the lists of both halves to all columns but e
//!         e > 1: descend(e - 1, left)
//!         e = 1: for each row set S of the left half that agrees with left:
//!                    gather the left halves of S and the right halves of its complement, and join them
//! ```
//!
//! The lists of complete halves would fill gigabytes, so they exist for one row set at a time only. The lists with
//! one, two, three columns missing exist for one choice of sides of some rows, and [`heads`](super::heads) says for
//! which row sets.
//!
//! How many rows must be fixed is planned from a [`Forecast`], which takes all row sets of one size to be alike. They
//! are not: where lists grow too long all the same, the pass is done in two, with one row more fixed. How many states
//! would be scanned tells so beforehand, mostly.
//!
//! A [`Coverage`] may leave passes out.

use crate::kernel::contract::Stop;
use crate::kernel::meet::bucket::Bucket;
use crate::kernel::meet::budget::{Budget, DEEPEST};
use crate::kernel::meet::compiled::CompiledMeet;
use crate::kernel::meet::coverage::Coverage;
use crate::kernel::meet::cut::Cut;
use crate::kernel::meet::forecast::Forecast;
use crate::kernel::meet::gathering::Gathering;
use crate::kernel::meet::growth::{Grown, Growth};
use crate::kernel::meet::heads::Wanted;
use crate::kernel::meet::lists::Lists;
use crate::kernel::meet::matcher::Matcher;
use crate::kernel::meet::resident::Resident;
use crate::kernel::meet::row_sets::binomial;

/// Lists and buffers, kept from position to position.
#[derive(Debug, Default)]
pub struct Workspace {
    stock: Stock,
    bucket: Bucket,
    heads: Vec<u32>,
}

/// The lists of both halves.
#[derive(Debug, Default)]
struct Stock {
    resident: Resident,
    /// For each number of missing columns, those of this pass.
    passing: [[Lists; 2]; DEEPEST + 1],
}

impl Stock {
    /// The lists of a half of `columns` columns with `missing` of them missing.
    fn lists(&self, side: usize, columns: usize, missing: usize) -> &Lists {
        let is_resident = columns - missing <= self.resident.columns(side);
        if is_resident { self.resident.lists(side) } else { &self.passing[missing][side] }
    }
}

/// The work on one cut.
pub struct Passes<'a, L: CompiledMeet, C: Coverage> {
    isa: L,
    cut: &'a Cut,
    work: &'a mut Workspace,
    matcher: &'a mut Matcher<L>,
    coverage: &'a mut C,
    budget: Budget,
    stop: &'a Stop,
    /// For each number of missing columns, the number of rows to fix.
    planned: [u32; DEEPEST + 2],
    /// How many rows are fixed in the passes that are being made: as many as planned, or more.
    fixed: [u32; DEEPEST + 2],
}

impl<'a, L: CompiledMeet, C: Coverage> Passes<'a, L, C> {
    /// Work to be done on a cut.
    pub fn new(
        isa: L,
        cut: &'a Cut,
        work: &'a mut Workspace,
        matcher: &'a mut Matcher<L>,
        coverage: &'a mut C,
        budget: Budget,
        stop: &'a Stop,
    ) -> Self {
        let forced = [cut.forced; DEEPEST + 2];
        Self { isa, cut, work, matcher, coverage, budget, stop, planned: forced, fixed: forced }
    }

    /// Counts with the matcher the pairs of halves that fit, all that are covered. `None` if stopped.
    pub fn run(mut self) -> Option<()> {
        let left = self.cut.forced_left;
        let sets = self.sets_with(self.cut.forced, left);
        if sets == 0 || !self.coverage.takes(sets) {
            return Some(());
        }
        let resident = &mut self.work.stock.resident;
        let mut keep = |side| resident.make(self.isa, self.cut, side, self.budget.resident, self.stop);
        let forecasts = [keep(0)?, keep(1)?];
        let missing = [0, 1].map(|side| self.cut.halves[side].columns() - resident.columns(side) - 1);
        let deepest = missing[0].max(missing[1]);
        self.plan(deepest, &forecasts);
        self.coverage.spent(sets);
        self.descend(deepest, left)
    }

    /// How many row sets the left half may have with the fixed rows that are in `left`, and without the others.
    fn sets_with(&self, fixed: u32, left: u32) -> u64 {
        let more = (self.cut.halves[0].columns() as u32).checked_sub(left.count_ones());
        more.map_or(0, |more| binomial(self.cut.sets.rows() - fixed, more))
    }

    /// Plans how many rows are fixed in the passes: as few as keep the lists within the budget.
    fn plan(&mut self, deepest: usize, forecasts: &[Forecast; 2]) {
        let sets = &self.cut.sets;
        for missing in (1..=deepest).rev() {
            let most = self.budget.planned(missing) as f64;
            let words = |fixed| forecasts.iter().map(|half| half.longest(sets, missing, fixed)).sum::<f64>();
            let rows = self.planned[missing + 1]..sets.head_bits();
            self.planned[missing] = rows.clone().find(|fixed| words(*fixed) <= most).unwrap_or(rows.end);
        }
    }

    fn descend(&mut self, missing: usize, left: u32) -> Option<()> {
        let before = self.fixed[missing + 1];
        let fixed = self.planned[missing].max(before);
        for choice in 0..1u32 << (fixed - before) {
            // The rows fixed before are the highest.
            self.pass(missing, fixed, left << (fixed - before) | choice)?;
        }
        Some(())
    }

    /// The work for one choice of the sides of the fixed rows.
    fn pass(&mut self, missing: usize, fixed: u32, left: u32) -> Option<()> {
        let sets = self.sets_with(fixed, left);
        if sets == 0 || !self.coverage.takes(sets) {
            return Some(());
        }
        self.fixed[missing] = fixed;
        let grown = self.grow_both(missing, fixed, left);
        self.coverage.spent(sets);
        match grown {
            Grown::Stopped => None,
            Grown::Whole if missing == 1 => {
                let halves = self.join_all(left)?;
                self.coverage.joined(sets, halves, || self.matcher.pairs());
                Some(())
            }
            Grown::Whole => self.descend(missing - 1, left),
            Grown::TooLong => {
                self.pass(missing, fixed + 1, left << 1)?;
                self.pass(missing, fixed + 1, left << 1 | 1)
            }
        }
    }

    /// Makes the lists of both halves with `missing` columns missing.
    fn grow_both(&mut self, missing: usize, fixed: u32, left: u32) -> Grown {
        let can_fix_more = fixed < self.cut.sets.rows();
        let most = if can_fix_more { self.budget.most(missing) } else { usize::MAX };
        let Workspace { stock: Stock { resident, passing }, heads, .. } = &mut *self.work;
        for side in 0..2 {
            let column = self.cut.halves[side].columns() - missing;
            if column <= resident.columns(side) {
                continue;
            }
            let wanted = Wanted::new(self.cut, side, missing, fixed, left);
            wanted.heads(&self.cut.sets, heads);
            let (to, from) = passing.split_at_mut(missing + 1);
            let is_first = column - 1 == resident.columns(side);
            let from = if is_first { resident.lists(side) } else { &from[0][side] };
            let growth = Growth::new(self.cut, side, wanted, heads, most, self.stop);
            if can_fix_more && growth.expects_too_long(from) {
                return Grown::TooLong;
            }
            let grown = self.isa.grow(&growth, from, &mut to[missing][side]);
            if grown != Grown::Whole {
                return grown;
            }
        }
        Grown::Whole
    }

    /// Joins the halves of all row sets that agree with the fixed rows. Returns how many halves there were.
    fn join_all(&mut self, left: u32) -> Option<u64> {
        let Self { isa, cut, fixed, .. } = *self;
        let sets = &cut.sets;
        let Workspace { stock, bucket, heads } = &mut *self.work;
        let gatherings = [0, 1].map(|side| {
            let columns = cut.halves[side].columns();
            let lists = [1, 2, 3].map(|missing| stock.lists(side, columns, missing));
            Gathering::new(cut, side, lists, [fixed[1], fixed[2]])
        });
        let mut sources = [Vec::new(), Vec::new()];
        let wanted = Wanted::new(cut, 0, 0, fixed[1], left);
        wanted.heads(sets, heads);
        let mut halves = 0;
        for &head in &*heads {
            for tail in sets.tails(head, wanted.size()) {
                if self.stop.is_stopped() {
                    return None;
                }
                let set = head << sets.tail_bits() | tail;
                if !wanted.has(set) {
                    continue;
                }
                let [left, right] = &mut sources;
                let states = [
                    isa.collect(&gatherings[0], set, left),
                    isa.collect(&gatherings[1], !set & sets.full(), right),
                ];
                halves += bucket.count(isa, self.matcher, cut, &gatherings, &sources, states);
            }
        }
        Some(halves)
    }
}
