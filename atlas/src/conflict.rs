//! Conflicts: pairs of pieces of a placement that attack each other.

use std::fmt;

use crate::placement::Placement;
use crate::setting::{Piece, Surface};

/// Two pieces that attack each other, by their columns and rows from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The piece further left.
    pub left: (u8, u8),
    /// The piece further right.
    pub right: (u8, u8),
}

impl Conflict {
    /// All pairs of the placement that attack each other there, from left to right.
    pub fn all(placement: &Placement, surface: Surface, piece: Piece) -> Vec<Self> {
        let n = placement.n();
        let pairs = placement.squares().flat_map(|left| {
            placement.squares().skip(usize::from(left.0) + 1).map(move |right| (left, right))
        });
        pairs
            .filter(|(left, right)| {
                piece.attacked(surface, n, left.1, right.0 - left.0).any(|row| row == right.1)
            })
            .map(|(left, right)| Self { left, right })
            .collect()
    }

    /// Whether they attack each other on the plain board as well, around no edge.
    pub fn is_direct(&self, piece: Piece) -> bool {
        let (left, right) = (self.left, self.right);
        let n = left.1.max(right.1).max(right.0) + 1;
        piece.attacked(Surface::Plain, n, left.1, right.0 - left.0).any(|row| row == right.1)
    }

    /// The squares, counted from `first`: `1/1-2/2` from 1.
    pub fn counted_from(&self, first: u8) -> String {
        let [a, b, c, d] = [self.left.0, self.left.1, self.right.0, self.right.1]
            .map(|line| u16::from(line) + u16::from(first));
        format!("{a}/{b}-{c}/{d}")
    }

    /// How many there are, in words.
    pub fn count(conflicts: &[Self]) -> String {
        match conflicts.len() {
            0 => "no two attack each other".to_owned(),
            1 => "1 pair attacks each other".to_owned(),
            several => format!("{several} pairs attack each other"),
        }
    }
}

/// The squares from 1.
impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.counted_from(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setting::Setting;
    use crate::textbook::ListingMethod;
    use queens::Board;
    use strum::VariantArray;

    fn conflicts(rows: &str, surface: Surface, piece: Piece) -> Vec<String> {
        let conflicts = Conflict::all(&rows.parse().unwrap(), surface, piece);
        conflicts.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn pairs_on_a_diagonal_are_found() {
        assert_eq!(conflicts("1234", Surface::Plain, Piece::Queen).len(), 6);
        assert_eq!(conflicts("1324", Surface::Plain, Piece::Queen), ["1/1-4/4", "2/3-3/2"]);
        assert_eq!(conflicts("1324", Surface::Plain, Piece::SemiQueen), ["1/1-4/4"]);
        assert_eq!(conflicts("1324", Surface::Plain, Piece::Rook).len(), 0);
        assert_eq!(conflicts("2413", Surface::Plain, Piece::Queen).len(), 0);
        assert_eq!(conflicts("2413", Surface::Torus, Piece::Queen), ["1/2-4/3", "2/4-3/1"]);
        assert_eq!(conflicts("2413", Surface::Plain, Piece::SuperQueen).len(), 4);
        for (rows, is_direct) in [("1324", true), ("2413", false)] {
            let conflicts = Conflict::all(&rows.parse().unwrap(), Surface::Torus, Piece::Queen);
            assert!(conflicts.iter().all(|pair| pair.is_direct(Piece::Queen) == is_direct), "{conflicts:?}");
        }
    }

    #[test]
    fn placement_without_conflict_is_a_solution() {
        for &surface in Surface::VARIANTS {
            for &piece in Piece::VARIANTS {
                let board = Board::new(6).unwrap();
                let rooks = Setting { board, surface: Surface::Plain, piece: Piece::Rook };
                for placement in ListingMethod::Rows.solutions(rooks).unwrap() {
                    let is_free = Conflict::all(&placement, surface, piece).is_empty();
                    let setting = Setting { board, surface, piece };
                    assert_eq!(is_free, setting.is_solution(&placement), "{setting}: {placement}");
                }
            }
        }
    }
}
