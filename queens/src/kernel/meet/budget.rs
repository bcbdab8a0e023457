//! How long lists may be.

/// The words that lists may have.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// The resident lists of a half.
    pub resident: usize,
    /// A 24th of all.
    part: usize,
}

/// The parts planned for the lists of both halves with one to six columns missing. Measured at n = 24 to 28
/// (docs/performance.md). Lists with many columns missing serve many passes, so fixing rows for them costs
/// most. Lists with one column missing are read most often, so they should stay in the cache.
const PARTS: [usize; 6] = [1, 2, 5, 4, 2, 1];

/// Lists with up to this many columns missing are made in passes; with more they are resident.
pub const DEEPEST: usize = 15;

impl Budget {
    /// Lists of about `bytes` bytes in all. Three of them are resident: both halves, and the list that is
    /// being made. The others are those of both halves with one to six columns missing.
    pub fn of_bytes(bytes: usize) -> Self {
        let part = bytes / 8 / 24;
        Self { resident: 2 * part, part }
    }

    /// The words planned for the lists of both halves with `missing` columns missing.
    pub fn planned(&self, missing: usize) -> usize {
        self.part * PARTS[missing.min(PARTS.len()) - 1]
    }

    /// The most words of the lists of one half with `missing` columns missing: somewhat more than half of the
    /// plan for both.
    pub fn most(&self, missing: usize) -> usize {
        self.planned(missing) * 3 / 5
    }
}
