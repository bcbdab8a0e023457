//! Several boards in one argument, none larger than what is counted.

use std::error::Error;
use std::fmt;

use queens::Board;

use crate::args::value::ValueError;

/// The boards from one size to another, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Boards {
    first: Board,
    last: Board,
}

impl Boards {
    /// The board, if it is one.
    pub fn single(self) -> Option<Board> {
        (self.first == self.last).then_some(self.first)
    }

    /// The boards, the smallest first.
    pub fn iter(self) -> impl DoubleEndedIterator<Item = Board> {
        (self.first.n()..=self.last.n()).filter_map(|n| Board::new(n).ok())
    }

    /// The name of an archive of their constellation files.
    pub fn zip_name(self) -> String {
        format!("constellations-{:02}-{:02}.zip", self.first.n(), self.last.n())
    }
}

/// As it is typed.
impl fmt::Display for Boards {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.single() {
            Some(board) => write!(f, "{board}"),
            None => write!(f, "{}..{}", self.first, self.last),
        }
    }
}

/// `4..19` or `8`; both ends included.
pub fn boards(text: &str) -> Result<Boards, Box<dyn Error + Send + Sync>> {
    let (first, last) = text.split_once("..").map_or((text, text), |(a, b)| (a, b.trim_start_matches('=')));
    let (first, last): (Board, Board) = (first.parse()?, last.parse()?);
    if first.n() > last.n() {
        return Err(
            ValueError::new(text, "a range of board sizes such as 4..19, the smaller one first").into()
        );
    }
    Ok(Boards { first, last })
}
