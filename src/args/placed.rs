//! Given queens, whose completions are counted: the argument of `diadem count --placed`.

use std::io::{self, BufRead, Read};
use std::path::Path;

use anyhow::Context;
use queens::{Board, Position, Square};
use records::regular_file;

use super::kernel::KernelChoice;
use super::value::ValueError;

/// The longest file of lists, in bytes.
const LONGEST: u64 = 1 << 30;

/// A count of the completions of given queens.
#[derive(Debug)]
pub struct PlacedCount {
    pub board: Board,
    /// A list, or the file with lists.
    pub named: String,
    pub kernel: KernelChoice,
    pub nice: Option<u8>,
    pub json: bool,
    pub shows_progress: bool,
}

/// A list of queens, as it was written, and its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacedQueens {
    pub written: String,
    pub position: Position,
}

impl PlacedCount {
    /// All lists: the one on the command line, or those of a file or of the input, one on each line. Empty lines and lines that begin
    /// with # are left out.
    ///
    /// # Errors
    /// The file cannot be read, or has a line that is no list.
    pub fn lists(&self) -> anyhow::Result<Vec<PlacedQueens>> {
        let path = Path::new(&self.named);
        let text = if self.named == "-" {
            let mut text = String::new();
            io::stdin().lock().take(LONGEST).read_to_string(&mut text)?;
            text
        } else if path.is_file() {
            let bytes = regular_file::read_or_stream(path, LONGEST)
                .with_context(|| format!("cannot read {}", self.named))?;
            String::from_utf8(bytes).with_context(|| format!("{} is no text", self.named))?
        } else {
            return Ok(vec![read(self.board, &self.named)?]);
        };
        let mut lists = Vec::new();
        for (number, line) in (1..).zip(text.as_bytes().lines()) {
            let line = line?;
            let list = line.trim();
            if !list.is_empty() && !list.starts_with('#') {
                let queens = read(self.board, list);
                lists.push(queens.with_context(|| format!("line {number} of {}", self.named))?);
            }
        }
        Ok(lists)
    }
}

/// Reads squares as column and row, both from 1, as in `1:5,2:3`.
fn read(board: Board, text: &str) -> Result<PlacedQueens, ValueError> {
    let wanted = || {
        let n = board.n();
        ValueError::new(text, format!("squares as column:row from 1 to {n}, such as 1:{n},2:1"))
    };
    let line = |number: &str| number.parse::<u8>().ok().filter(|line| (1..=board.n()).contains(line));
    let words = text.split(|c: char| c == ',' || c.is_whitespace()).filter(|word| !word.is_empty());
    let squares = words.map(|word| {
        let (column, row) = word.split_once(':')?;
        Some(Square::new(line(row)? - 1, line(column)? - 1))
    });
    let squares: Vec<Square> = squares.collect::<Option<_>>().ok_or_else(wanted)?;
    if squares.is_empty() {
        return Err(wanted());
    }
    let position = squares.into_iter().fold(Position::empty(board), Position::with_queen);
    Ok(PlacedQueens { written: text.to_owned(), position })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn squares_are_column_and_row_from_one() {
        let board = Board::new(8).unwrap();
        let queens = read(board, "1:5, 8:4").unwrap();
        let expected = Position::empty(board).with_queen(Square::new(4, 0)).with_queen(Square::new(3, 7));
        assert_eq!(queens.position, expected);
        for wrong in ["", ",", "1", "0:1", "1:9", "9:1", "1:5;8:4", "a1", "1:5 8"] {
            let error = read(board, wrong).unwrap_err().to_string();
            assert!(error.contains("from 1 to 8"), "{error}");
        }
    }
}
