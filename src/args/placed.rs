//! Given queens, whose completions are counted: the argument of `diadem count --placed`.

use std::path::PathBuf;

use queens::{Board, Position, Square};

use super::kernel::KernelChoice;
use super::value::ValueError;

/// The word for a list without queens: its completions are all solutions.
pub const NO_QUEENS: &str = "none";

/// A count of the completions of given queens.
#[derive(Debug)]
pub struct PlacedCount {
    pub board: Board,
    pub queens: PlacedSource,
    pub kernel: KernelChoice,
    pub nice: Option<u8>,
    pub json: bool,
    pub shows_progress: bool,
}

/// The place of the lists of queens.
#[derive(Debug, PartialEq, Eq)]
pub enum PlacedSource {
    /// On the command line.
    List(Position),
    /// In a file, one on each line. The name `-` stands for stdin.
    File(PathBuf),
}

impl PlacedSource {
    /// Reads a list of squares. Every other text is the name of a file.
    ///
    /// # Errors
    /// The list is malformed, or leaves the board.
    pub fn read(board: Board, named: PathBuf) -> Result<Self, ValueError> {
        let is_of_list = |c: char| c.is_ascii_digit() || c == ':' || is_separator(c);
        let is_list = |text: &&str| *text == NO_QUEENS || text.chars().all(is_of_list);
        match named.to_str().filter(is_list) {
            Some(list) => read_queens(board, list).map(Self::List),
            None => Ok(Self::File(named)),
        }
    }
}

fn is_separator(c: char) -> bool {
    c == ',' || c.is_whitespace()
}

/// Reads squares as column and row, both from 1, as in `1:5,2:3`. The queen in a corner may appear twice, once for each of its
/// lines.
///
/// # Errors
/// The list is empty or malformed, or leaves the board.
pub fn read_queens(board: Board, text: &str) -> Result<Position, ValueError> {
    let empty = Position::empty(board);
    if text == NO_QUEENS {
        return Ok(empty);
    }
    let line = |number: &str| number.parse::<u8>().ok().filter(|line| (1..=board.n()).contains(line));
    let words = text.split(is_separator).filter(|word| !word.is_empty());
    let squares = words.map(|word| {
        let (column, row) = word.split_once(':')?;
        Some(Square::new(line(row)? - 1, line(column)? - 1))
    });
    let squares: Option<Vec<Square>> = squares.collect();
    let squares = squares.filter(|squares| !squares.is_empty()).ok_or_else(|| {
        let n = board.n();
        let wanted =
            format!("a list of squares as column:row, from 1 to {n}, such as 1:{n},{n}:1; or {NO_QUEENS}");
        ValueError::new(text, wanted)
    })?;
    Ok(squares.into_iter().fold(empty, Position::with_queen))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn squares_are_column_and_row_from_one() {
        let board = Board::new(8).unwrap();
        let queens = Position::empty(board).with_queen(Square::new(4, 0)).with_queen(Square::new(3, 7));
        for list in ["1:5,8:4", "1:5, 8:4", "1:5 8:4", "1:5,8:4,1:5"] {
            assert_eq!(read_queens(board, list).unwrap(), queens, "{list}");
            assert_eq!(PlacedSource::read(board, list.into()), Ok(PlacedSource::List(queens.clone())));
        }
        assert_eq!(PlacedSource::read(board, "none".into()), Ok(PlacedSource::List(Position::empty(board))));
        for wrong in ["", ",", "1", "0:1", "1:9", "9:1", "1:5;8:4", "a1", "1:5 8", "1:2:3", "300:1"] {
            let error = read_queens(board, wrong).unwrap_err().to_string();
            assert!(error.contains("from 1 to 8"), "{error}");
        }
    }

    #[test]
    fn other_text_is_the_name_of_a_file() {
        let board = Board::new(8).unwrap();
        for name in ["-", "lists.txt", "./12", "a1,b2"] {
            assert_eq!(PlacedSource::read(board, name.into()), Ok(PlacedSource::File(name.into())));
        }
        assert!(PlacedSource::read(board, "12".into()).is_err());
    }
}
