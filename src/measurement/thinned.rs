//! Units of the method meet, estimated from some of their passes.
//!
//! A unit at record size takes minutes, but consists of thousands of passes of milliseconds each. The kernel
//! makes a random part of them and estimates the whole unit without bias. That part is adapted so that a unit
//! takes about the intended time. If a unit still takes too long, an eighth of its drawn passes is counted.
//! No unit is left out, so slow units keep their weight.
//!
//! Beyond record size a unit is more cuts than can be gone through, so that it is narrowed first.

use std::time::Duration;

use queens::kernel::meet::{Thinning, free_rows_at_best};

/// The intended number of units. Units differ more from each other than the estimate of a unit differs from
/// its true value.
const UNITS: f64 = 500.0;

/// The least time for a unit: all its passes share lists that take as long.
const LEAST: Duration = Duration::from_millis(20);

/// At first one of this many row sets is drawn: a few in each cut of a large board.
const FIRST_STRIDE: u64 = 1 << 18;

/// Of this many drawn row sets one is kept if all would take too long.
const THINNER: u64 = 8;

/// Halves meet once few enough rows are without a queen. Before that the kernel goes through all queens of at
/// most this many columns in a drawn position. Each further column makes twenty times as many cuts, which
/// take long even if none is counted.
const COLUMNS_BEFORE_CUT: usize = 1;

/// How far apart row sets are drawn, so that a unit takes about as long as it should.
pub struct PassPace {
    stride: f64,
    wished: Duration,
}

impl PassPace {
    /// For units of a measurement of this length. Each unit of a small board is counted whole.
    pub fn new(time: Duration, is_each_unit: bool) -> Self {
        let stride = if is_each_unit { 1 } else { FIRST_STRIDE };
        Self { stride: stride as f64, wished: time.div_f64(UNITS).max(LEAST) }
    }

    /// How far apart row sets are drawn now.
    pub fn stride(&self) -> u64 {
        self.stride as u64
    }

    /// Takes in how long a unit took; half of that, for units differ.
    pub fn learn(&mut self, taken: Duration) {
        let ratio = taken.div_duration_f64(self.wished).clamp(0.25, 4.0);
        self.stride = (self.stride * ratio.sqrt()).max(1.0);
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
