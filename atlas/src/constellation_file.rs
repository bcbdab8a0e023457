//! Constellation files: the boundary constellations of a board, one of each orbit, in two files, those without
//! symmetry and those with one. Such files carry the work to other programs and back. Files of any other
//! [positions] have the same records.

use std::collections::HashMap;

use queens::kernel::Stop;
use queens::symmetric::{Turn, count_fixed};
use queens::{Board, Class, Classified, Constellation, Orbit, Position, Square, SymmetryClass};
use rayon::prelude::*;
use strum::Display;
use thiserror::Error;

use crate::record::{ByteOrder, ConstellationRecord, ConstellationRecordError};

/// Which of the two files of a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Display)]
#[strum(serialize_all = "lowercase")]
pub enum Kind {
    /// The constellations without symmetry.
    Asymmetric,
    /// Constellations with the half turn or the quarter turn.
    Symmetric,
}

impl Kind {
    /// Both.
    pub const ALL: [Kind; 2] = [Kind::Asymmetric, Kind::Symmetric];

    fn of(class: SymmetryClass) -> Self {
        if class == SymmetryClass::Asymmetric { Kind::Asymmetric } else { Kind::Symmetric }
    }

    /// The name of such a file for that board.
    pub fn file_name(self, board: Board) -> String {
        format!("constellations-{:02}-{self}.pp", board.n())
    }
}

/// A board that has no files, or bytes that are no such file. Records are numbered from 1.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum FileError {
    /// Smaller or larger than the format is for.
    #[error("constellation files are for n from 4 to 30, not {0}")]
    Size(u8),
    /// No record at all. Every board with files has constellations of both kinds.
    #[error("the file is empty; it should begin with a record")]
    Empty,
    /// Bytes that are no record.
    #[error("record {number}: {error}")]
    Record {
        /// The record.
        number: usize,
        /// The error of the record.
        error: ConstellationRecordError,
    },
    /// A record that contradicts those before it.
    #[error("record {number}: {problem}")]
    Inconsistent {
        /// The record.
        number: usize,
        /// How it contradicts.
        problem: Problem,
    },
    /// Complete records, but not all.
    #[error(
        "the file ends after record {records}: it has {records} of the {expected} {kind} constellations of n = {n}; \
         missing is top {}, bottom {}, left {}, right {}",
        missing.top, missing.bottom, missing.left, missing.right
    )]
    Missing {
        /// The records that there are.
        records: usize,
        /// The records that there should be.
        expected: usize,
        /// Which file it is.
        kind: Kind,
        /// The board.
        n: u8,
        /// The smallest constellation that does not occur, nor any image of it.
        missing: Constellation,
    },
}

impl Classified for FileError {
    fn class(&self) -> Class {
        match self {
            Self::Size(_) => Class::Usage,
            _ => Class::Failed,
        }
    }
}

/// How a record contradicts what it should be.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Problem {
    /// Another board.
    #[error("it is for n = {found}, but n = {expected} was asked for")]
    OtherBoard {
        /// The board of this record.
        found: u8,
        /// The requested board.
        expected: u8,
    },
    /// The queens are not those of the four border lines.
    #[error(
        "its queens are no boundary constellation: one on each border line, and no other, none attacking another"
    )]
    NoConstellation,
    /// The class belongs into the other file.
    #[error("its constellation is {found}, but the file began with {expected} ones")]
    OtherKind {
        /// The kind of this record.
        found: Kind,
        /// The kind of the first one.
        expected: Kind,
    },
    /// An orbit that an earlier record has.
    #[error("its constellation is that of record {0}, or an image of it")]
    Repeated(usize),
}

/// The constellations of a file that was checked: each orbit of its kind once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConstellationFile {
    /// The board.
    pub board: Board,
    /// Which of the two files.
    pub kind: Kind,
    /// The constellations, in the order of the file, with their classes.
    pub orbits: Vec<Orbit>,
}

fn with_files(n: u8) -> Result<Board, FileError> {
    if (4..=30).contains(&n) {
        Board::new(n).map_err(|_| FileError::Size(n))
    } else {
        Err(FileError::Size(n))
    }
}

impl ConstellationFile {
    /// The file of that kind.
    ///
    /// # Errors
    /// [`FileError::Size`] unless 4 <= n <= 30.
    pub fn of(board: Board, kind: Kind) -> Result<Self, FileError> {
        with_files(board.n())?;
        let orbits = Constellation::orbits(board).filter(|orbit| Kind::of(orbit.class) == kind).collect();
        Ok(Self { board, kind, orbits })
    }

    /// The file's bytes, little-endian.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for orbit in &self.orbits {
            let queens = orbit.representative.queens(self.board);
            ConstellationRecord { n: self.board.n(), queens }.write(ByteOrder::Little, &mut bytes);
        }
        bytes
    }

    /// Reads and checks a file of that board, in either byte order. The file must have every orbit of its
    /// kind exactly once. The first record determines the kind.
    ///
    /// Any image of a constellation may stand for its orbit, and its queens may come in any order.
    ///
    /// # Errors
    /// The error in the bytes and the number of its record, or [`FileError::Size`] unless 4 <= n <= 30.
    pub fn from_bytes(board: Board, bytes: &[u8]) -> Result<Self, FileError> {
        let mut file = Self { board: with_files(board.n())?, kind: Kind::Asymmetric, orbits: vec![] };
        let mut seen = HashMap::new();
        for (number, record) in (1..).zip(Records::of(bytes)?) {
            let orbit = file.next(&record?).and_then(|orbit| {
                match seen.insert(orbit.representative.smallest_image(board), number) {
                    Some(earlier) => Err(Problem::Repeated(earlier)),
                    None => Ok(orbit),
                }
            });
            file.orbits.push(orbit.map_err(|problem| FileError::Inconsistent { number, problem })?);
            file.kind = Kind::of(file.orbits[0].class);
        }
        file.complete(|orbit| seen.contains_key(&orbit.representative))?;
        Ok(file)
    }

    /// The orbit that the record adds to the file, if it does not contradict the file.
    fn next(&self, record: &ConstellationRecord) -> Result<Orbit, Problem> {
        expect_board(record, self.board)?;
        let constellation = constellation_of(self.board, &record.queens).ok_or(Problem::NoConstellation)?;
        let orbit = Orbit { representative: constellation, class: constellation.class(self.board) };
        let found = Kind::of(orbit.class);
        if self.orbits.is_empty() || found == self.kind {
            Ok(orbit)
        } else {
            Err(Problem::OtherKind { found, expected: self.kind })
        }
    }

    fn complete(&self, is_seen: impl Fn(&Orbit) -> bool) -> Result<(), FileError> {
        let expected = Self::of(self.board, self.kind)?.orbits;
        match expected.iter().find(|orbit| !is_seen(orbit)) {
            None => Ok(()),
            Some(missing) => Err(FileError::Missing {
                records: self.orbits.len(),
                expected: expected.len(),
                kind: self.kind,
                n: self.board.n(),
                missing: missing.representative,
            }),
        }
    }

    /// The solutions of all images, if the constellations have these completions, in the order of the file. Counts those that the
    /// turns fix, on the threads of the current rayon pool; nothing if it was stopped.
    pub fn total(&self, completions: &[u128], stop: &Stop) -> Option<FileCount> {
        let counts = self.orbits.par_iter().zip(completions).map(|(orbit, completions)| {
            let position = Position::of_constellation(self.board, orbit.representative);
            let images = u128::from(orbit.class.orbit_size());
            let fixed = |turn| match orbit.class {
                SymmetryClass::Asymmetric => Some(0),
                _ => Some(images * u128::from(count_fixed(&position, turn, stop)?.completions)),
            };
            Some(FileCount {
                solutions: images * completions,
                half_turn: fixed(Turn::Half)?,
                quarter_turn: fixed(Turn::Quarter)?,
            })
        });
        counts.try_reduce(FileCount::default, |a, b| Some(a.and(b)))
    }
}

/// The records that bytes consist of, up to the first that is none.
struct Records<'a> {
    order: ByteOrder,
    rest: &'a [u8],
    number: usize,
}

impl<'a> Records<'a> {
    fn of(bytes: &'a [u8]) -> Result<Self, FileError> {
        if bytes.is_empty() {
            return Err(FileError::Empty);
        }
        Ok(Self { order: ByteOrder::of(bytes), rest: bytes, number: 0 })
    }
}

impl Iterator for Records<'_> {
    type Item = Result<ConstellationRecord, FileError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        self.number += 1;
        let read = ConstellationRecord::read(self.order, self.rest);
        self.rest = read.as_ref().map_or(&[], |(_, rest)| rest);
        let number = self.number;
        Some(read.map(|(record, _)| record).map_err(|error| FileError::Record { number, error }))
    }
}

fn expect_board(record: &ConstellationRecord, board: Board) -> Result<(), Problem> {
    if record.n == board.n() {
        Ok(())
    } else {
        Err(Problem::OtherBoard { found: record.n, expected: board.n() })
    }
}

/// The queens of each record of such a file, in either byte order: any number of records, each of any number of queens.
///
/// # Errors
/// The file is empty. The items end with the first error, which names its record.
pub fn positions(
    board: Board,
    bytes: &[u8],
) -> Result<impl Iterator<Item = Result<Position, FileError>> + Send, FileError> {
    let position = move |(number, record): (usize, Result<ConstellationRecord, FileError>)| {
        let record = record?;
        expect_board(&record, board).map_err(|problem| FileError::Inconsistent { number, problem })?;
        Ok(record.queens.into_iter().fold(Position::empty(board), Position::with_queen))
    };
    Ok((1..).zip(Records::of(bytes)?).map(position))
}

/// The solutions of all images of a file's constellations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileCount {
    /// All of them.
    pub solutions: u128,
    /// Completions that the half turn fixes.
    pub half_turn: u128,
    /// Completions that the quarter turn fixes.
    pub quarter_turn: u128,
}

impl FileCount {
    /// The sum of two counts.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            solutions: self.solutions + other.solutions,
            half_turn: self.half_turn + other.half_turn,
            quarter_turn: self.quarter_turn + other.quarter_turn,
        }
    }

    /// A, P and R: the orbits of solutions, of eight, four and two. The solutions of both files of a board together,
    /// like those of either alone, are closed under the eight symmetries.
    pub fn classes(&self) -> queens::Totals {
        queens::Totals {
            a: (self.solutions - self.half_turn) / 8,
            p: (self.half_turn - self.quarter_turn) / 4,
            r: self.quarter_turn / 2,
            full: 0,
        }
    }
}

/// The boundary constellation that these queens are, in whatever order, if they are one.
fn constellation_of(board: Board, queens: &[Square]) -> Option<Constellation> {
    let last = board.last();
    let constellation = Constellation {
        top: queens.iter().find(|queen| queen.row == 0)?.col,
        bottom: queens.iter().find(|queen| queen.row == last)?.col,
        left: queens.iter().find(|queen| queen.col == 0)?.row,
        right: queens.iter().find(|queen| queen.col == last)?.row,
    };
    let expected = constellation.queens(board);
    let are_the_same = queens.len() == expected.len() && queens.iter().all(|queen| expected.contains(queen));
    (constellation.is_valid(board) && are_the_same).then_some(constellation)
}
