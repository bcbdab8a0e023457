//! Sets of columns, for boards up to n = 255, and the occupied lines. Together they give the free columns of
//! a row.

/// Words of a set of columns: enough for n = 255.
const WORDS: usize = 4;

/// A set of columns, counted from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Columns([u64; WORDS]);

impl Columns {
    pub(crate) fn all(n: u8) -> Self {
        let mut columns = Self::default();
        (0..n).for_each(|column| columns.0[usize::from(column / 64)] |= 1 << (column % 64));
        columns
    }

    /// How many there are.
    pub fn len(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.0 == [0; WORDS]
    }

    /// The columns, ascending.
    pub fn iter(&self) -> impl Iterator<Item = u8> + '_ {
        (0..=u8::MAX).filter(|column| self.0[usize::from(column / 64)] >> (column % 64) & 1 == 1)
    }

    /// The column that has `before` smaller ones in the set, if there is one.
    pub fn nth(&self, mut before: u32) -> Option<u8> {
        for (index, &word) in self.0.iter().enumerate() {
            let mut word = word;
            let here = word.count_ones();
            if before < here {
                (0..before).for_each(|_| word &= word - 1);
                return Some((64 * index) as u8 + word.trailing_zeros() as u8);
            }
            before -= here;
        }
        None
    }

    pub(crate) fn remove(&mut self, column: u8) {
        self.0[usize::from(column / 64)] &= !(1 << (column % 64));
    }
}

/// The lines that queens stand on, one bit each.
#[derive(Clone, Debug)]
pub(crate) struct OccupiedLines {
    last: usize,
    full: Columns,
    columns: [u64; WORDS],
    /// Bit column + row, with a word to spare for reading across words.
    falling: [u64; 2 * WORDS + 1],
    /// Bit column - row + last.
    rising: [u64; 2 * WORDS + 1],
}

impl OccupiedLines {
    pub(crate) fn new(n: u8) -> Self {
        Self {
            last: usize::from(n) - 1,
            full: Columns::all(n),
            columns: [0; WORDS],
            falling: [0; 2 * WORDS + 1],
            rising: [0; 2 * WORDS + 1],
        }
    }

    /// Puts a queen there, or takes it off.
    pub(crate) fn flip(&mut self, row: u8, column: u8) {
        let (row, column) = (usize::from(row), usize::from(column));
        let flip = |words: &mut [u64], bit: usize| words[bit / 64] ^= 1 << (bit % 64);
        flip(&mut self.columns, column);
        flip(&mut self.falling, column + row);
        flip(&mut self.rising, column + self.last - row);
    }

    /// The columns of the row that no queen attacks.
    pub(crate) fn free(&self, row: u8) -> Columns {
        let row = usize::from(row);
        let from = |words: &[u64], bit: usize, index: usize| {
            let (word, shift) = (index + bit / 64, bit % 64);
            words[word] >> shift | (words[word + 1] << 1 << (63 - shift))
        };
        let mut free = self.full;
        for index in 0..=self.last / 64 {
            free.0[index] &= !(self.columns[index]
                | from(&self.falling, row, index)
                | from(&self.rising, self.last - row, index));
        }
        free
    }
}
