//! How long lists may be.

/// The words that lists may have.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// The resident lists of a half.
    pub resident: usize,
    /// The lists with one column missing: planned for both halves together, and the limit for each.
    last: usize,
    /// The lists with two, four or more columns missing: likewise.
    deep: usize,
}

/// Words of lists with one column missing: what the second-level cache of most machines holds twice.
const LAST: usize = 300_000;

/// Lists with up to this many columns missing are made in passes; with more they are resident.
pub const DEEPEST: usize = 15;

impl Budget {
    /// Lists of about so many bytes in all: three resident ones (of both halves, and one that is being made), two with
    /// one column missing, and two each with two to six, of which those with three missing may be twice as long.
    pub fn of_bytes(bytes: usize) -> Self {
        let words = bytes / 8;
        Self { resident: words / 12, last: LAST.min(words / 12), deep: words / 20 }
    }

    /// The words planned for the lists of both halves with so many columns missing, and the limit for each.
    ///
    /// Complete halves are gathered from lists with up to three columns missing, whatever fixed rows these still lack, so
    /// that fixing more rows shortens them least.
    pub fn passing(&self, missing: usize) -> usize {
        match missing {
            1 => self.last,
            3 => 2 * self.deep,
            _ => self.deep,
        }
    }
}
