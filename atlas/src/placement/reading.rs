//! The written forms of a placement that are read: rows by column, or squares in any order, counted from 1 or from 0.

use std::str::FromStr;

use super::{Placement, PlacementError};

impl Placement {
    /// Reads the output of `Display`, numbers separated by commas, spaces or hyphens, or squares in any
    /// order. A square is its column and row, as in `1:5,2:3` or `1/5 2/3`. Both are counted from `first`, 0
    /// or 1.
    ///
    /// # Errors
    /// [`PlacementError`] unless each column and each row has one piece. An empty column is an error too,
    /// whether it is left out or written as a hyphen, as in the positions of a rectangle.
    pub fn read(text: &str, first: u8) -> Result<Self, PlacementError> {
        let is_separator = |c: char| c == ',' || c == '-' || c.is_whitespace();
        let inner = text.trim_matches(|c: char| c.is_whitespace() || c == '(' || c == ')');
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
    let of_column = |(column, row): (usize, Option<u8>)| {
        let first = usize::from(first);
        row.ok_or_else(|| PlacementError::Columns {
            first,
            last: squares.len() - 1 + first,
            missing: column + first,
            text: text.to_owned(),
        })
    };
    rows.into_iter().enumerate().map(of_column).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert!(from_zero.contains("of 0 to 3") && from_zero.contains("2 is missing from \"0,4,8,1\""));
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
        for text in ["04752613", "(0, 4, 7, 5, 2, 6, 1, 3)", "0:0,1:4,2:7,3:5,4:2,5:6,6:1,7:3"] {
            assert_eq!(Placement::read(text, 0), Ok(placement.clone()), "{text}");
        }
    }
}
