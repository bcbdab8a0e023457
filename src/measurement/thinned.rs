//! Units of the method meet, estimated from some of their passes.
//!
//! A unit at record size takes minutes, but consists of thousands of passes of milliseconds each. The kernel
//! makes a random part of them and estimates the whole unit without bias. That part is adapted so that a unit
//! takes about the intended time. If a unit still takes too long, an eighth of its drawn passes is counted.
//! No unit is left out, so slow units keep their weight.
//!
//! Beyond record size a unit is more cuts than can be gone through, so that it is narrowed first.

use std::time::Duration;

use queens::kernel::meet::{Projection, Thinning, free_rows_at_best};

/// The intended number of units. Units differ more from each other than the estimate of a unit differs from
/// its true value.
const UNITS: f64 = 500.0;

/// The least time for a unit. The lists that its passes share take as long, or longer: then fewer units are measured.
const LEAST: Duration = Duration::from_millis(20);

/// At first one of this many row sets is drawn: a few in each cut of a large board.
const FIRST_STRIDE: u64 = 1 << 20;

/// Of this many drawn row sets one is kept if all would take too long.
const THINNER: u64 = 8;

/// Halves meet once few enough rows are without a queen. Before that the kernel goes through all queens of at
/// most this many columns in a drawn position. Each further column makes twenty times as many cuts, which
/// take long even if none is counted.
const COLUMNS_BEFORE_CUT: usize = 1;

/// How many passes are drawn, so that a unit takes about as long as it should, and lists as long as what uses them.
pub struct PassPace {
    stride: f64,
    block: f64,
    wished: Duration,
}

impl PassPace {
    /// For units of a measurement of this length. Each unit of a small board is counted whole.
    pub fn new(time: Duration, is_each_unit: bool) -> Self {
        let stride = if is_each_unit { 1 } else { FIRST_STRIDE };
        Self { stride: stride as f64, block: 1.0, wished: time.div_f64(UNITS).max(LEAST) }
    }

    /// The passes of the next unit, from a random place on.
    pub fn thinning(&self, place: u64) -> Thinning {
        Thinning::new(self.stride as u64, place).in_blocks_of(self.block as u64)
    }

    /// Takes in what a unit took; half of that, for units differ. A block is drawn of most units at least.
    pub fn learn(&mut self, taken: Duration, projection: Option<Projection>) {
        let half = |ratio: f64| ratio.clamp(0.25, 4.0).sqrt();
        self.stride *= half(taken.div_duration_f64(self.wished));
        if let Some(Projection { spent: [lists, others], row_sets, .. }) = projection {
            self.stride = self.stride.min(row_sets as f64);
            if lists > 0.0 && others > 0.0 {
                self.block *= half(lists / others);
            }
        }
        self.stride = self.stride.max(1.0);
        self.block = self.block.clamp(1.0, self.stride);
    }
}

/// A position of a board with `rows` rows is narrowed until halves meet after at most this many further
/// queens.
pub fn most_queens_away(rows: u8) -> usize {
    usize::from(free_rows_at_best(rows)) + COLUMNS_BEFORE_CUT
}

/// Fewer of the drawn passes, of a unit that takes too long.
pub fn thinner(thinning: Thinning, seed: u64) -> Thinning {
    let times = if thinning.stride() == 1 { FIRST_STRIDE } else { THINNER };
    thinning.thinner(times, seed)
}
