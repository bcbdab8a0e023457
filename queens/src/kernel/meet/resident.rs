//! The lists that stay: of both halves for all row sets, made column by column while they are small.

use crate::kernel::contract::Stop;
use crate::kernel::meet::budget::DEEPEST;
use crate::kernel::meet::compiled::CompiledMeet;
use crate::kernel::meet::cut::Cut;
use crate::kernel::meet::forecast::{Forecast, Trend};
use crate::kernel::meet::growth::{Grown, Growth};
use crate::kernel::meet::heads::Wanted;
use crate::kernel::meet::lists::Lists;

/// The resident lists of both halves.
#[derive(Debug, Default)]
pub struct Resident {
    lists: [Lists; 2],
    columns: [usize; 2],
    /// The room for the next lists.
    spare: Lists,
    heads: Vec<u32>,
}

impl Resident {
    /// The lists of a half.
    pub fn lists(&self, side: usize) -> &Lists {
        &self.lists[side]
    }

    /// How many columns the lists of a half have.
    pub fn columns(&self, side: usize) -> usize {
        self.columns[side]
    }

    /// Makes the lists of a half, of about `most` words. `None` if stopped.
    pub fn make<L: CompiledMeet>(
        &mut self,
        isa: L,
        cut: &Cut,
        side: usize,
        most: usize,
        stop: &Stop,
    ) -> Option<Forecast> {
        let half = &cut.halves[side];
        self.lists[side].reset(&cut.sets);
        let mut columns = 0;
        let mut trend = Trend::new(half.open[0].count_ones());
        while columns + 3 < half.columns() {
            let factor = trend.expect();
            let words = self.lists[side].len();
            let must = half.columns() - columns > DEEPEST;
            if !must && columns >= 3 && words as f64 * factor > most as f64 {
                break;
            }
            let missing = half.columns() - columns - 1;
            let wanted = Wanted::new(cut, side, missing, cut.forced, cut.forced_left);
            wanted.heads(&cut.sets, &mut self.heads);
            let limit = if must { usize::MAX } else { most };
            let growth = Growth::new(cut, side, wanted, &self.heads, limit, stop);
            match isa.grow(&growth, &self.lists[side], &mut self.spare) {
                Grown::Whole => {}
                Grown::TooLong => break,
                Grown::Stopped => return None,
            }
            std::mem::swap(&mut self.lists[side], &mut self.spare);
            columns += 1;
            trend.grew(self.lists[side].len() as f64 / words.max(1) as f64);
        }
        self.columns[side] = columns;
        Some(Forecast::new(half.columns(), columns, self.lists[side].len(), trend))
    }
}
