//! The written forms of a placement that are read: rows by column, squares in any order, and each form that is written.

use std::str::FromStr;

use serde::Deserialize;

use super::{Placement, PlacementError};

/// The letters of pieces, as they are written.
const PIECES: [&str; 4] = ["Q", "R", "S", "A"];

/// A solution as JSON.
#[derive(Deserialize)]
struct WrittenSolution {
    rows: Vec<u8>,
}

impl Placement {
    /// Reads the output of `Display`, numbers separated by commas, spaces or hyphens, or squares in any
    /// order. A square is its column and row, as in `1:5,2:3` or `1/5 2/3`. Both are counted from `first`, 0
    /// or 1. Also reads a solution as JSON or the list of its rows, a FEN position, a drawn board, and a line of a
    /// list of solutions.
    ///
    /// # Errors
    /// [`PlacementError`] unless each column and each row has one piece. An empty column is an error too,
    /// whether it is left out or written as a hyphen, as in the positions of a rectangle.
    pub fn read(text: &str, first: u8) -> Result<Self, PlacementError> {
        if let Some(ranks) = ranks(text) {
            return Self(rows_of_ranks(text, &ranks, first)?.into()).checked(first, Some(text));
        }
        let of_json = serde_json::from_str(text).ok().map(|WrittenSolution { rows }| {
            let rows: Vec<String> = rows.iter().map(u8::to_string).collect();
            rows.join(",")
        });
        let is_separator = |c: char| c == ',' || c == '-' || c.is_whitespace();
        let is_around = |c: char| c.is_whitespace() || ['(', ')', '[', ']'].contains(&c);
        let rows = of_json.as_deref().or_else(|| listed_rows(text)).unwrap_or(text);
        let inner = rows.trim_matches(is_around);
        let words: Vec<String> = if inner.contains(is_separator) || inner.contains(is_pair) {
            entries(inner).map(str::to_owned).collect()
        } else {
            inner.chars().map(String::from).collect()
        };
        if words.iter().any(String::is_empty) {
            return Err(PlacementError::NoQueen(text.to_owned()));
        }
        let rows = if inner.contains(is_pair) {
            rows_of_squares(text, &words, first)?
        } else {
            words.iter().map(|word| line(word, first)).collect::<Result<Vec<_>, _>>()?
        };
        Self(rows.into()).checked(first, Some(text))
    }
}

/// Counted from 1, as [`Placement::read`] reads it.
impl FromStr for Placement {
    type Err = PlacementError;
    fn from_str(text: &str) -> Result<Self, PlacementError> {
        Self::read(text, 1)
    }
}

/// The rows in a line of a list of solutions: the number of the solution, two spaces, the rows.
fn listed_rows(text: &str) -> Option<&str> {
    let mut parts = text.trim().split("  ");
    let (number, rows) = (parts.next()?, parts.next()?);
    number.parse::<u64>().ok()?;
    let columns = if rows.contains(',') { rows.split(',').count() } else { rows.len() };
    let is_written = if rows.contains(',') { columns > 9 } else { columns > 1 || rows == number };
    is_written.then_some(rows)
}

/// The entries between commas, spaces and hyphens; an entry of spaces only is empty.
fn entries(list: &str) -> impl Iterator<Item = &str> {
    list.split(',').flat_map(|part| {
        let is_empty = part.trim().is_empty();
        let words = part.split_whitespace().flat_map(|word| word.split('-'));
        is_empty.then_some("").into_iter().chain(words)
    })
}

/// Whether the character stands between the column and the row of a square.
fn is_pair(c: char) -> bool {
    c == ':' || c == '/'
}

/// The column or row that is meant, from 0.
fn line(word: &str, first: u8) -> Result<u8, PlacementError> {
    let line = word.parse::<u8>().ok().and_then(|line| line.checked_sub(first));
    line.ok_or_else(|| PlacementError::NotANumber(word.to_owned()))
}

/// The rows by column of squares in any order.
fn rows_of_squares(text: &str, squares: &[String], first: u8) -> Result<Vec<u8>, PlacementError> {
    let mut rows = vec![None; squares.len()];
    for square in squares {
        let (column, row) =
            square.split_once(is_pair).ok_or_else(|| PlacementError::NotANumber(square.clone()))?;
        let (column, row) = (line(column, first)?, line(row, first)?);
        if let Some(of_column) = rows.get_mut(usize::from(column)) {
            *of_column = Some(row);
        }
    }
    with_every_column(text, rows, first)
}

/// The rows, if there is one for each column.
fn with_every_column(text: &str, rows: Vec<Option<u8>>, first: u8) -> Result<Vec<u8>, PlacementError> {
    let (first, columns) = (usize::from(first), rows.len());
    let of_column = |(column, row): (usize, Option<u8>)| {
        row.ok_or_else(|| PlacementError::Columns {
            first,
            last: columns - 1 + first,
            missing: column + first,
            text: text.to_owned(),
        })
    };
    rows.into_iter().enumerate().map(of_column).collect()
}

/// For each row from the top, whether a piece stands in each column; nothing where the text is neither a position as chess programs
/// write it nor a drawn board.
fn ranks(text: &str) -> Option<Vec<Vec<bool>>> {
    let drawn: Vec<_> = text.lines().filter_map(drawn_rank).collect();
    if !drawn.is_empty() {
        return Some(drawn);
    }
    let position = text.split_whitespace().next()?;
    let has_piece = PIECES.iter().any(|piece| position.contains(piece));
    if has_piece { position.split('/').map(fen_rank).collect() } else { None }
}

/// A row of a drawn board: its number, and a dot or a piece for each column.
fn drawn_rank(line: &str) -> Option<Vec<bool>> {
    let mut words = line.split_whitespace();
    words.next()?.parse::<u8>().ok()?;
    let squares: Option<Vec<bool>> = words
        .map(|word| if word == "." { Some(false) } else { PIECES.contains(&word).then_some(true) })
        .collect();
    squares.filter(|squares| !squares.is_empty())
}

/// A row of a position as chess programs write it: numbers of empty squares, and pieces.
fn fen_rank(rank: &str) -> Option<Vec<bool>> {
    let mut squares = Vec::new();
    let mut rest = rank;
    while !rest.is_empty() {
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        if digits > 0 {
            let empty: u8 = rest[..digits].parse().ok()?;
            squares.resize(squares.len() + usize::from(empty), false);
        } else {
            PIECES.iter().find(|piece| rest.starts_with(**piece))?;
            squares.push(true);
        }
        rest = &rest[digits.max(1)..];
    }
    Some(squares)
}

/// The rows by column of a board of which each row is given, from the top.
fn rows_of_ranks(text: &str, ranks: &[Vec<bool>], first: u8) -> Result<Vec<u8>, PlacementError> {
    let n = ranks.len();
    if n > usize::from(Placement::LARGEST) {
        return Err(PlacementError::Size(n));
    }
    let mut rows = vec![None; n];
    for (row, rank) in (0..n as u8).rev().zip(ranks) {
        let mut columns =
            (0..).zip(rank).filter(|(_, is_piece)| **is_piece).map(|(column, _): (usize, _)| column);
        match (columns.next(), columns.next()) {
            (Some(column), None) if rank.len() == n => rows[column] = Some(row),
            _ => return Err(PlacementError::Rank { row: usize::from(row) + 1, n, text: text.to_owned() }),
        }
    }
    with_every_column(text, rows, first)
}

#[cfg(test)]
mod tests {
    use strum::VariantArray;

    use super::*;
    use crate::format::SolutionFormat;
    use crate::setting::Piece;

    #[test]
    fn non_permutation_is_refused_with_the_reason() {
        let error = |text: &str| text.parse::<Placement>().unwrap_err().to_string();
        assert!(error("15863722").contains("4 is missing from \"15863722\""));
        assert!(error("1,2,x").contains("\"x\""));
        assert!(error("1,0,2").contains("\"0\""));
        assert!(error("").contains("not 0"));
        assert!(error("1:1,1:2").contains("from 1 to 2, but none is in 2 in \"1:1,1:2\""));
        assert!(error("1:1,2").contains("\"2\""));
        for text in [
            "1,3,5,2,4,-",
            "-,1,2",
            "1,-,2",
            "1,2,,3",
            "1,2,",
            ", 1 2",
            "13-",
            "-13",
            "1--2",
            "1 - 2",
            "1:1,,2:2",
            "-",
        ] {
            assert!(error(text).contains(&format!("without a queen in \"{text}\"")), "{text}");
        }
        assert!(error("1:2,2:2").contains("1 is missing from \"1:2,2:2\""));
        let from_zero = Placement::read("0,4,8,1", 0).unwrap_err().to_string();
        assert!(from_zero.contains("all from 0 to 3") && from_zero.contains("2 is missing from \"0,4,8,1\""));
    }

    #[test]
    fn every_written_form_is_read() {
        let placements = ["1", "2413", "15863724", "1 3 5 7 9 11 2 4 6 8 10"];
        for placement in placements.map(|text| text.parse::<Placement>().unwrap()) {
            for (format, number) in
                SolutionFormat::VARIANTS.iter().flat_map(|format| [(format, 1), (format, 12)])
            {
                let number = if placement.n() == 1 { 1 } else { number };
                for first in [0, 1] {
                    let Some(text) = format.text(number, &placement, Piece::Queen, first) else { continue };
                    if placement.n() > 1 || first == 1 {
                        assert_eq!(Placement::read(&text, first), Ok(placement.clone()), "{format}: {text}");
                    }
                }
            }
        }
        for text in ["2Q5/5Q2/3Q4/1Q6/7Q/4Q3/6Q1/Q6", "QQ/2", "1Q/3", "Q1/Q1"] {
            assert!(Placement::read(text, 1).is_err(), "{text}");
        }
    }

    #[test]
    fn a_placement_is_read_from_squares_and_from_zero() {
        let placement: Placement = "15863724".parse().unwrap();
        for text in [
            "2:5,1:1,3:8,4:6,5:3,6:7,7:2,8:4",
            "1/1 2/5 3/8 4/6 5/3 6/7 7/2 8/4",
            "(1, 5, 8, 6, 3, 7, 2, 4)",
            "1-5-8-6-3-7-2-4",
            " 1 5  8, 6 3\t7-2 , 4\n",
        ] {
            assert_eq!(Placement::read(text, 1), Ok(placement.clone()), "{text}");
        }
        assert_eq!(Placement::read("   1  15863724  1 permutation", 1), Ok(placement.clone()));
        for text in [
            "[1,5,8,6,3,7,2,4]",
            r#"{"number":1,"n":8,"piece":"queen","rows":[1,5,8,6,3,7,2,4]}"#,
            "2Q5/5Q2/3Q4/1Q6/7Q/4Q3/6Q1/Q7 w - - 0 1",
            "2R5/5R2/3R4/1R6/7R/4R3/6R1/R7",
        ] {
            assert_eq!(Placement::read(text, 1), Ok(placement.clone()), "{text}");
        }
        for text in ["04752613", "(0, 4, 7, 5, 2, 6, 1, 3)", "0:0,1:4,2:7,3:5,4:2,5:6,6:1,7:3"] {
            assert_eq!(Placement::read(text, 0), Ok(placement.clone()), "{text}");
        }
    }
}
