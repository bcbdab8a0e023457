//! The written forms of a solution.

use std::fmt::Write as _;
use std::str::FromStr;

use serde_json::json;
use strum::{Display, VariantArray, VariantNames};

use crate::placement::{Placement, joined};
use crate::setting::{Piece, UnknownName, named};

/// How a solution is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Display, VariantArray, VariantNames)]
#[strum(serialize_all = "lowercase")]
pub enum SolutionFormat {
    /// Its number and the rows by column: `1  15863724`.
    Digits,
    /// `(1, 5, 8, 6, 3, 7, 2, 4)`.
    Tuple,
    /// A line as in the sequences of the OEIS: `1, 5, 8, 6, 3, 7, 2, 4`.
    Oeis,
    /// The board, row n on top, column a at the left.
    Board,
    /// One JSON object a line.
    Json,
    /// The position as chess programs read it, white pieces; beyond 9 columns empty squares are numbers of two digits.
    Fen,
    /// A vector picture.
    Svg,
    /// A picture in pixels.
    Png,
}

impl SolutionFormat {
    /// The solution as text without the final newline (a board gets an empty line after it); `None` for
    /// pictures. Rows are counted from `first`, but those of a board from 1.
    pub fn text(self, number: u64, placement: &Placement, piece: Piece, first: u8) -> Option<String> {
        let rows = placement.counted_from(first);
        match self {
            SolutionFormat::Digits => Some(format!("{number:>4}  {rows}")),
            SolutionFormat::Tuple => Some(format!("({})", joined(placement.rows(), first, ", "))),
            SolutionFormat::Oeis => Some(joined(placement.rows(), first, ", ")),
            SolutionFormat::Board => Some(format!("{number}: {rows}\n{}", drawn(placement, piece))),
            SolutionFormat::Json => Some(
                json!({ "number": number, "n": placement.n(), "piece": piece.to_string(), "rows": rows })
                    .to_string(),
            ),
            SolutionFormat::Fen => Some(fen(placement, piece)),
            SolutionFormat::Svg | SolutionFormat::Png => None,
        }
    }
}

impl FromStr for SolutionFormat {
    type Err = UnknownName;
    fn from_str(name: &str) -> Result<Self, UnknownName> {
        named("format", name)
    }
}

/// The letter of a piece, as in the positions of chess programs: A for the superqueen, also called amazon.
pub(crate) fn letter(piece: Piece) -> char {
    match piece {
        Piece::Rook => 'R',
        Piece::SemiQueen => 'S',
        Piece::Queen => 'Q',
        Piece::SuperQueen => 'A',
    }
}

/// The letter of a column, a for the first; nothing beyond z.
pub(crate) fn column_letter(column: u8) -> Option<char> {
    (column < 26).then(|| char::from(b'a' + column))
}

/// For each row, from the top, the column of its piece.
fn columns_from_the_top(placement: &Placement) -> impl Iterator<Item = (u8, u8)> + '_ {
    let column_of = |row: u8| placement.squares().find(|(_, r)| *r == row).map_or(0, |(column, _)| column);
    (0..placement.n()).rev().map(move |row| (row, column_of(row)))
}

/// The board as text, row n on top, column a at the left.
pub fn drawn(placement: &Placement, piece: Piece) -> String {
    let mut text = String::new();
    for (row, of_piece) in columns_from_the_top(placement) {
        let _ = write!(text, "{:>3} ", u16::from(row) + 1);
        for column in 0..placement.n() {
            let _ = write!(text, " {}", if column == of_piece { letter(piece) } else { '.' });
        }
        text.push('\n');
    }
    if placement.n() <= 26 {
        text.push_str("    ");
        (0..placement.n()).filter_map(column_letter).for_each(|letter| text.extend([' ', letter]));
        text.push('\n');
    }
    text
}

fn fen(placement: &Placement, piece: Piece) -> String {
    let empty = |squares: u8| if squares == 0 { String::new() } else { squares.to_string() };
    let rank = |(_, column): (u8, u8)| {
        format!("{}{}{}", empty(column), letter(piece), empty(placement.n() - 1 - column))
    };
    let ranks: Vec<_> = columns_from_the_top(placement).map(rank).collect();
    format!("{} w - - 0 1", ranks.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(format: SolutionFormat) -> String {
        format.text(1, &"15863724".parse().unwrap(), Piece::Queen, 1).unwrap()
    }

    #[test]
    fn the_first_solution_of_n_8_is_written_in_every_form() {
        assert_eq!(first(SolutionFormat::Digits), "   1  15863724");
        assert_eq!(first(SolutionFormat::Tuple), "(1, 5, 8, 6, 3, 7, 2, 4)");
        assert_eq!(first(SolutionFormat::Oeis), "1, 5, 8, 6, 3, 7, 2, 4");
        assert_eq!(
            first(SolutionFormat::Json),
            r#"{"number":1,"n":8,"piece":"queen","rows":[1,5,8,6,3,7,2,4]}"#
        );
        assert_eq!(first(SolutionFormat::Fen), "2Q5/5Q2/3Q4/1Q6/7Q/4Q3/6Q1/Q7 w - - 0 1");
        assert!(first(SolutionFormat::Board).starts_with("1: 15863724\n  8  . . Q . . . . .\n"));
        assert!(first(SolutionFormat::Board).ends_with("  1  Q . . . . . . .\n     a b c d e f g h\n"));
    }

    #[test]
    fn beyond_9_columns_the_digits_are_separated() {
        let placement: Placement = "1 3 5 7 9 11 2 4 6 8 10".parse().unwrap();
        let text = SolutionFormat::Digits.text(1, &placement, Piece::Queen, 1).unwrap();
        assert_eq!(text, "   1  1,3,5,7,9,11,2,4,6,8,10");
    }
}
