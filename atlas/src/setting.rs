//! Settings: a board, its glued edges, and a piece; and the attacks that follow from them.

use std::fmt;
use std::str::FromStr;

use queens::Board;
use strum::{Display, VariantArray, VariantNames};
use thiserror::Error;

use crate::placement::Placement;

/// How the edges of the board are glued.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Display, VariantArray, VariantNames)]
#[strum(serialize_all = "lowercase")]
pub enum Surface {
    /// Not at all.
    Plain,
    /// The left edge to the right one: columns go round.
    Cylinder,
    /// Left to right and bottom to top: columns and rows go round.
    Torus,
}

/// The placed piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Display, VariantArray, VariantNames)]
#[strum(serialize_all = "lowercase")]
pub enum Piece {
    /// Moves along rows and columns.
    Rook,
    /// A rook that also moves along rising diagonals (from k/n to k+1/n+1), and not along falling ones.
    SemiQueen,
    /// Moves along rows, columns and both diagonals.
    Queen,
    /// Moves like a queen and like a knight; also called amazon.
    SuperQueen,
}

/// A name that is none of those offered.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("there is no {kind} \"{name}\"; there are {offered}")]
pub struct UnknownName {
    /// The kind of name.
    pub kind: &'static str,
    /// The name given.
    pub name: String,
    /// The names that exist.
    pub offered: String,
}

/// The variant that is called `name`.
pub(crate) fn named<T>(kind: &'static str, name: &str) -> Result<T, UnknownName>
where
    T: Copy + VariantArray + VariantNames,
{
    let names = <T as VariantNames>::VARIANTS;
    let index = names.iter().position(|other| *other == name);
    index.map(|index| <T as VariantArray>::VARIANTS[index]).ok_or_else(|| UnknownName {
        kind,
        name: name.to_owned(),
        offered: names.join(", "),
    })
}

impl FromStr for Surface {
    type Err = UnknownName;
    fn from_str(name: &str) -> Result<Self, UnknownName> {
        // A strip of paper bent to a ring is a cylinder.
        if name == "ring" { Ok(Self::Cylinder) } else { named("board", name) }
    }
}

impl FromStr for Piece {
    type Err = UnknownName;
    fn from_str(name: &str) -> Result<Self, UnknownName> {
        named("piece", name)
    }
}

/// A board, its surface, and the piece that is placed n times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Setting {
    /// The board.
    pub board: Board,
    /// How its edges are glued.
    pub surface: Surface,
    /// The placed piece.
    pub piece: Piece,
}

impl Setting {
    /// Queens on the plain board: the n-queens problem.
    pub fn queens(board: Board) -> Self {
        Self { board, surface: Surface::Plain, piece: Piece::Queen }
    }

    /// Whether this is the n-queens problem.
    pub fn is_plain_queens(self) -> bool {
        self == Self::queens(self.board)
    }

    /// The rows, one bit each, that a piece in `row` attacks in the column `distance` further right
    /// (0 < distance < n), directly or around the edges.
    pub fn attacked_rows(self, row: u8, distance: u8) -> u32 {
        let attacked = self.piece.attacked(self.surface, self.board.n(), row, distance);
        attacked.fold(0, |rows, row| rows | 1 << row)
    }

    /// Whether no piece of the placement attacks another.
    pub fn is_solution(self, placement: &Placement) -> bool {
        placement.n() == self.board.n()
            && placement.squares().all(|(left, row)| {
                (left + 1..self.board.n())
                    .all(|right| self.attacked_rows(row, right - left) >> placement.row(right) & 1 == 0)
            })
    }
}

impl Piece {
    /// The rows that the piece in `row` of a board of n columns attacks in the column `distance` further
    /// right (0 < distance < n), directly or around the edges. A row may occur more than once.
    pub(crate) fn attacked(self, surface: Surface, n: u8, row: u8, distance: u8) -> impl Iterator<Item = u8> {
        let (n, row, right) = (i16::from(n), i16::from(row), i16::from(distance));
        let around = (surface != Surface::Plain).then_some(right - n);
        let rises = std::iter::once(right).chain(around).flat_map(move |columns| self.rises(columns));
        std::iter::once(row).chain(rises.flatten().map(move |rise| row + rise)).filter_map(move |target| {
            match surface {
                Surface::Torus => Some(target.rem_euclid(n) as u8),
                _ => (0..n).contains(&target).then_some(target as u8),
            }
        })
    }

    /// The rows that the piece may rise on its way to the column `columns` further right (or left), except
    /// along its own row.
    fn rises(self, columns: i16) -> [Option<i16>; 4] {
        let rising = (self != Piece::Rook).then_some(columns);
        let falling = matches!(self, Piece::Queen | Piece::SuperQueen).then_some(-columns);
        let leap = match (self, columns.abs()) {
            (Piece::SuperQueen, 1) => Some(2),
            (Piece::SuperQueen, 2) => Some(1),
            _ => None,
        };
        [rising, falling, leap, leap.map(|rise| -rise)]
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let n = self.board;
        let (s, surface) = (if n.n() == 1 { "" } else { "s" }, self.surface);
        write!(f, "{n} {}{s} on the {surface} {n} x {n} board", self.piece)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Walks from the square step by step, as the piece would be moved by hand.
    fn reaches(setting: Setting, from: (i16, i16), to: (i16, i16)) -> bool {
        let n = i16::from(setting.board.n());
        let place = |(x, y): (i16, i16)| {
            let x = if setting.surface == Surface::Plain { x } else { x.rem_euclid(n) };
            let y = if setting.surface == Surface::Torus { y.rem_euclid(n) } else { y };
            ((0..n).contains(&x) && (0..n).contains(&y)).then_some((x, y))
        };
        let walk = |dx: i16, dy: i16, steps: i16| {
            (1..=steps)
                .map_while(|step| place((from.0 + step * dx, from.1 + step * dy)))
                .any(|square| square == to)
        };
        let rook = [(1, 0), (-1, 0), (0, 1), (0, -1)];
        let rising = [(1, 1), (-1, -1)];
        let falling = [(1, -1), (-1, 1)];
        let knight = [(1, 2), (2, 1), (-1, 2), (-2, 1), (1, -2), (2, -1), (-1, -2), (-2, -1)];
        let far: &[&[(i16, i16)]] = match setting.piece {
            Piece::Rook => &[&rook],
            Piece::SemiQueen => &[&rook, &rising],
            Piece::Queen | Piece::SuperQueen => &[&rook, &rising, &falling],
        };
        let leaps = if setting.piece == Piece::SuperQueen { &knight[..] } else { &[] };
        far.iter().flat_map(|moves| moves.iter()).any(|(dx, dy)| walk(*dx, *dy, n))
            || leaps.iter().any(|(dx, dy)| walk(*dx, *dy, 1))
    }

    #[test]
    fn attacks_match_moves_step_by_step() {
        for n in 1..=9 {
            for &surface in <Surface as VariantArray>::VARIANTS {
                for &piece in <Piece as VariantArray>::VARIANTS {
                    let setting = Setting { board: Board::new(n).unwrap(), surface, piece };
                    for (left, row) in (0..n).flat_map(|left| (0..n).map(move |row| (left, row))) {
                        for right in left + 1..n {
                            let attacked = setting.attacked_rows(row, right - left);
                            for target in 0..n {
                                let expected = reaches(
                                    setting,
                                    (i16::from(left), i16::from(row)),
                                    (i16::from(right), i16::from(target)),
                                );
                                assert_eq!(attacked >> target & 1 == 1, expected, "{setting}: {left}/{row}");
                            }
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn ring_is_another_name_of_the_cylinder() {
        assert_eq!("ring".parse::<Surface>(), "cylinder".parse());
    }

    #[test]
    fn unknown_names_are_refused_with_known_names() {
        let error = "klein".parse::<Surface>().unwrap_err().to_string();
        assert_eq!(error, "there is no board \"klein\"; there are plain, cylinder, torus");
        assert!("king".parse::<Piece>().unwrap_err().to_string().contains("superqueen"));
    }
}
