//! A forecast of the lengths of a half's lists from its present lists.

use crate::kernel::meet::heads::most_lacking;
use crate::kernel::meet::row_sets::{RowSets, binomial};

/// The growth of lists with the last columns, as factors.
#[derive(Clone, Copy, Debug)]
pub struct Trend {
    growth: [f64; 3],
    /// The factor by which the growth itself falls from column to column.
    decline: f64,
}

impl Trend {
    /// Before the first column, which has `open` open squares.
    pub fn new(open: u32) -> Self {
        Self { growth: [open.into(); 3], decline: 1.0 }
    }

    /// The expected factor of the next column. The growth falls smoothly, at the rate of the last two
    /// columns.
    pub fn expect(&mut self) -> f64 {
        let [before, _, now] = self.growth;
        self.decline = if now < before { root(now / before) } else { 0.95 };
        now * self.decline
    }

    /// Takes in by which factor a column made the lists grow.
    pub fn grew(&mut self, factor: f64) {
        let [_, before, now] = self.growth;
        self.growth = [before, now, factor];
    }
}

/// The words expected in the lists of a half.
#[derive(Clone, Debug)]
pub struct Forecast {
    /// For each number of columns, the words for all row sets; 0 if the lists exist.
    words: Vec<f64>,
}

impl Forecast {
    /// The forecast for a half of `all` columns whose lists with `columns` columns have `words` words.
    pub fn new(all: usize, columns: usize, words: usize, trend: Trend) -> Self {
        let mut expected = vec![0.0; all + 1];
        let (mut last, mut factor) = (words as f64, trend.growth[2]);
        for words in &mut expected[columns + 1..] {
            factor *= trend.decline;
            last *= factor;
            *words = last;
        }
        Self { words: expected }
    }

    /// The expected words with `missing` columns missing and `fixed` rows fixed, for the sides that make the
    /// lists longest.
    pub fn longest(&self, sets: &RowSets, missing: usize, fixed: u32) -> f64 {
        let columns = self.words.len() - 1;
        let (size, rows) = ((columns - missing) as u32, sets.rows());
        let sets_with = |here: u32| -> f64 {
            (0..=most_lacking(missing).min(here))
                .filter(|lacking| size + lacking >= here)
                .map(|lacking| binomial(here, lacking) * binomial(rows - fixed, size + lacking - here))
                .sum::<u64>() as f64
        };
        let most = (0..=fixed.min(columns as u32)).map(sets_with).fold(0.0, f64::max);
        self.words[size as usize] * most / binomial(rows, size) as f64
    }
}

/// The square root of a number between 0 and 1 by Heron's rule: only + * /, the same on every machine.
fn root(x: f64) -> f64 {
    (0..12).fold(1.0, |y, _| 0.5 * (y + x / y))
}
