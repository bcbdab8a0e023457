//! The totals of boards as sequences of the OEIS, in its format for files of terms.

use std::fmt::Write as _;
use std::str::FromStr;

use queens::Totals;
use queens::known::Symmetric;
use strum::{Display, VariantArray, VariantNames};

use super::totals::TotalsRow;
use crate::setting::{UnknownName, named};

/// A sequence of the OEIS that a table of totals contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Display, VariantArray, VariantNames)]
#[strum(serialize_all = "UPPERCASE")]
pub enum Sequence {
    /// All solutions. It begins with the board of no squares, which has one.
    A000170,
    /// Solutions up to symmetry.
    A002562,
    /// Solutions that the half turn maps to themselves.
    A032522,
    /// Solutions that the quarter turn maps to themselves.
    A033148,
}

impl FromStr for Sequence {
    type Err = UnknownName;
    fn from_str(name: &str) -> Result<Self, UnknownName> {
        named("sequence", name)
    }
}

impl Sequence {
    /// The number of its first term.
    fn offset(self) -> u8 {
        match self {
            Self::A000170 => 0,
            Self::A002562 | Self::A032522 | Self::A033148 => 1,
        }
    }

    /// The term of a board; `None` if it is not known.
    fn term(self, row: &TotalsRow) -> Option<u128> {
        let Symmetric { p, r } = row.symmetric();
        // The only solution of the board of one square has all symmetries.
        let full = u128::from(row.board.n() == 1);
        match self {
            Self::A000170 => row.totals.as_ref().map(Totals::solutions),
            Self::A002562 => row.totals.as_ref().map(Totals::fundamental),
            Self::A032522 => Some(4 * p + 2 * r + full),
            Self::A033148 => Some(2 * r + full),
        }
    }

    /// A comment with the name, the offset and all terms, and a line with number and value for each term. Terms from the first one
    /// that is not known on are left out, because a file of the OEIS has no gap.
    pub fn b_file(self, rows: &[TotalsRow]) -> String {
        let terms = rows.iter().map_while(|row| Some((row.board.n(), self.term(row)?)));
        let begins = rows.first().is_some_and(|row| row.board.n() == 1);
        let empty_board = (self.offset() == 0 && begins).then_some((0, 1));
        let terms: Vec<(u8, u128)> = empty_board.into_iter().chain(terms).collect();
        let values: Vec<String> = terms.iter().map(|(_, value)| value.to_string()).collect();
        let mut file = format!("# {self}, offset {}: {}", self.offset(), values.join(", "));
        for (n, value) in terms {
            let _ = write!(file, "\n{n} {value}");
        }
        file
    }
}

#[cfg(test)]
mod tests {
    use queens::Board;

    use super::*;

    fn rows(boards: std::ops::RangeInclusive<u8>) -> Vec<TotalsRow> {
        boards.map(|n| TotalsRow::published(Board::new(n).unwrap())).collect()
    }

    #[test]
    fn terms_have_the_offsets_of_the_oeis() {
        let rows = rows(1..=12);
        for (sequence, expected) in [
            (
                Sequence::A000170,
                "# A000170, offset 0: 1, 1, 0, 0, 2, 10, 4, 40, 92, 352, 724, 2680, 14200\n0 1\n1 1\n2 0\n",
            ),
            (
                Sequence::A002562,
                "# A002562, offset 1: 1, 0, 0, 1, 2, 1, 6, 12, 46, 92, 341, 1787\n1 1\n2 0\n",
            ),
            (Sequence::A032522, "# A032522, offset 1: 1, 0, 0, 2, 2, 4, 8, 4, 16, 12, 48, 80\n1 1\n2 0\n"),
            (Sequence::A033148, "# A033148, offset 1: 1, 0, 0, 2, 2, 0, 0, 0, 0, 0, 0, 8\n1 1\n2 0\n"),
        ] {
            let file = sequence.b_file(&rows);
            assert!(file.starts_with(expected), "{file}");
        }
    }

    #[test]
    fn terms_end_before_the_first_unknown_one() {
        let rows = rows(26..=28);
        assert_eq!(
            Sequence::A000170.b_file(&rows),
            "# A000170, offset 0: 22317699616364044, 234907967154122528\n26 22317699616364044\n27 234907967154122528"
        );
        assert!(Sequence::A032522.b_file(&rows).ends_with("28 1250901440"));
    }
}
