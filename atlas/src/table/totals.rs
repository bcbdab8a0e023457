//! How many solutions each board has, by symmetry class: from what has been published, or counted here one by one.

use std::fmt;

use queens::known::Symmetric;
use queens::{Board, Classified, Totals, known};
use thiserror::Error;

use super::{AtlasTable, TableCell};
use crate::orbits::OrbitCounts;
use crate::setting::Setting;

/// A board whose solutions are too many to count one by one.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("solutions are counted one by one for n up to {LARGEST}, not {0}; diadem count counts larger boards", LARGEST = LARGEST)]
pub struct CountTooLong(pub Board);

impl Classified for CountTooLong {}

/// The largest board whose solutions are counted one by one, in about a minute.
const LARGEST: u8 = 16;

/// The board, if its solutions may be counted one by one.
pub(super) fn checked(board: Board) -> Result<Board, CountTooLong> {
    if board.n() > LARGEST { Err(CountTooLong(board)) } else { Ok(board) }
}

/// The last board whose published value is of the OEIS's table; the next was counted once, by others.
const LAST_OF_OEIS: u8 = 26;

/// The source of a board's totals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TotalsSource {
    /// They have been published, and are taken from there.
    Published,
    /// They were counted here, solution by solution.
    Counted,
    /// A run has counted them.
    Run,
}

/// The totals of a board, as far as they are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TotalsRow {
    /// The board.
    pub board: Board,
    /// The known totals; `None` if only P and R have been published.
    pub totals: Option<Totals>,
    /// Their source.
    pub source: TotalsSource,
}

impl TotalsRow {
    /// The published totals.
    pub fn published(board: Board) -> Self {
        Self { board, totals: known::totals(board), source: TotalsSource::Published }
    }

    /// The totals counted here, solution by solution.
    ///
    /// # Errors
    /// [`CountTooLong`] beyond n = 16.
    pub fn counted(board: Board) -> Result<Self, CountTooLong> {
        let counts = OrbitCounts::of(Setting::queens(checked(board)?));
        let of_size = |size: usize| u128::from(counts.orbits.get(&size).copied().unwrap_or(0));
        let totals = Totals { a: of_size(8), p: of_size(4), r: of_size(2), full: of_size(1) };
        Ok(Self { board, totals: Some(totals), source: TotalsSource::Counted })
    }

    /// The totals of a finished run.
    pub fn of_run(board: Board, totals: Totals) -> Self {
        Self { board, totals: Some(totals), source: TotalsSource::Run }
    }

    /// True if no value differs from what has been published.
    pub fn agrees(&self) -> bool {
        let known = known::symmetric(self.board);
        self.symmetric() == known && known::totals(self.board).is_none_or(|known| self.totals == Some(known))
    }

    /// P and R, which are published for every board.
    pub(super) fn symmetric(&self) -> Symmetric {
        self.totals.map_or_else(|| known::symmetric(self.board), |Totals { p, r, .. }| Symmetric { p, r })
    }

    fn cells(&self) -> [TableCell; 7] {
        let count = |of: fn(&Totals) -> u128| {
            self.totals.as_ref().map_or(TableCell::Nothing, |totals| TableCell::Count(of(totals)))
        };
        let Symmetric { p, r } = self.symmetric();
        [
            TableCell::Number(self.board.n().into()),
            count(|totals| totals.a),
            TableCell::Count(p),
            TableCell::Count(r),
            count(Totals::fundamental),
            count(Totals::solutions),
            TableCell::Word(self.to_string()),
        ]
    }
}

/// The name of the source.
impl fmt::Display for TotalsRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match (self.source, self.totals) {
            (TotalsSource::Run, _) if self.agrees() => match known::totals(self.board) {
                Some(_) => "this run, as published",
                None => "this run, P and R as published",
            },
            (TotalsSource::Run, _) => "this run, DIFFERS FROM THE PUBLISHED VALUE",
            (TotalsSource::Counted, _) if self.agrees() => "counted here, as published",
            (TotalsSource::Counted, _) => "counted here, DIFFERS FROM THE PUBLISHED VALUE",
            (TotalsSource::Published, None) => "OEIS A032522, A033148",
            (TotalsSource::Published, _) if self.board.n() > LAST_OF_OEIS => "Preusser and Engelhardt 2016",
            (TotalsSource::Published, _) => "OEIS A000170, A002562",
        })
    }
}

/// One row for each board: the orbits by class, all of them, all solutions, and where these are from.
pub fn totals(rows: &[TotalsRow]) -> AtlasTable {
    let columns = [
        ("n", "n"),
        ("a", "A"),
        ("p", "P"),
        ("r", "R"),
        ("fundamental", "fundamental"),
        ("total", "Q"),
        ("source", "source"),
    ];
    AtlasTable::new(columns, rows.iter().map(TotalsRow::cells).collect())
}
