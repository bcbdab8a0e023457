//! Boundary constellations: the queens that occupy the four border lines.
//!
//! Every solution has exactly one queen in the top row, the bottom row, the left column and the right column.
//! These are four queens, or three if one of them stands in a corner, or one on the 1 x 1 board. So each
//! solution belongs to exactly one constellation, and one constellation of each orbit represents all its
//! images.

use serde::Serialize;

use crate::board::{Board, Square};
use crate::symmetry::{Symmetry, SymmetryClass};

/// The queens of the four border lines, each by its place in its line (0 to n - 1).
///
/// A queen in a corner is named by both of its lines.
///
/// ```
/// use queens::{Board, Constellation};
///
/// let board = Board::new(8)?;
/// assert_eq!(Constellation::orbits(board).count(), 78);
/// let corner = Constellation { top: 0, bottom: 2, left: 0, right: 4 };
/// assert!(corner.is_valid(board));
/// assert_eq!(corner.queens(board).len(), 3);
/// # Ok::<(), queens::BoardError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Constellation {
    /// Column of the queen in the top row.
    pub top: u8,
    /// Column of the queen in the bottom row.
    pub bottom: u8,
    /// Row of the queen in the left column.
    pub left: u8,
    /// Row of the queen in the right column.
    pub right: u8,
}

/// One orbit of constellations under the eight symmetries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Orbit {
    /// The smallest of the images, in the order (top, bottom, left, right).
    #[serde(flatten)]
    pub representative: Constellation,
    /// The symmetry that the constellation has of its own.
    pub class: SymmetryClass,
}

impl Constellation {
    /// The queens by border line, top, bottom, left, right: one in a corner comes twice.
    fn by_line(self, board: Board) -> [Square; 4] {
        let last = board.last();
        [
            Square::new(0, self.top),
            Square::new(last, self.bottom),
            Square::new(self.left, 0),
            Square::new(self.right, last),
        ]
    }

    /// The queens, each once: top, bottom, left, right, those in corners not repeated.
    pub fn queens(self, board: Board) -> Vec<Square> {
        let mut queens = Vec::with_capacity(4);
        for queen in self.by_line(board) {
            if !queens.contains(&queen) {
                queens.push(queen);
            }
        }
        queens
    }

    /// Whether each border line holds just one queen and no queen attacks another.
    pub fn is_valid(self, board: Board) -> bool {
        let last = board.last();
        let Constellation { top, bottom, left, right } = self;
        let corners_agree = (top == 0) == (left == 0)
            && (top == last) == (right == 0)
            && (bottom == 0) == (left == last)
            && (bottom == last) == (right == last);
        corners_agree && {
            let queens = self.by_line(board);
            queens.iter().all(|a| queens.iter().all(|b| !a.attacks(*b)))
        }
    }

    /// The image of the constellation under a symmetry.
    #[must_use]
    pub fn image(self, board: Board, symmetry: Symmetry) -> Self {
        let last = board.last();
        let mirrored = |x: u8| last - x;
        let Constellation { top, bottom, left, right } = self;
        let (top, bottom, left, right) = match symmetry {
            Symmetry::Identity => (top, bottom, left, right),
            Symmetry::QuarterTurn => (mirrored(left), mirrored(right), bottom, top),
            Symmetry::HalfTurn => (mirrored(bottom), mirrored(top), mirrored(right), mirrored(left)),
            Symmetry::ThreeQuarterTurn => (right, left, mirrored(top), mirrored(bottom)),
            Symmetry::MirrorColumns => (mirrored(top), mirrored(bottom), right, left),
            Symmetry::MirrorRows => (bottom, top, mirrored(left), mirrored(right)),
            Symmetry::Transpose => (left, right, top, bottom),
            Symmetry::AntiTranspose => (mirrored(right), mirrored(left), mirrored(bottom), mirrored(top)),
        };
        Self { top, bottom, left, right }
    }

    /// The eight images, in the order of [`Symmetry::ALL`]; those of a constellation with symmetry repeat.
    pub fn images(self, board: Board) -> [Self; 8] {
        Symmetry::ALL.map(|symmetry| self.image(board, symmetry))
    }

    /// The smallest of the images, in the order (top, bottom, left, right): the representative of the orbit.
    #[must_use]
    pub fn smallest_image(self, board: Board) -> Self {
        self.smallest_image_by(board, |image| image)
    }

    /// The image whose key is the smallest.
    pub(crate) fn smallest_image_by<K: Ord>(self, board: Board, key: impl Fn(Self) -> K) -> Self {
        self.images(board).into_iter().min_by_key(|image| key(*image)).expect("there are eight")
    }

    /// The symmetry that the constellation has of its own.
    pub fn class(self, board: Board) -> SymmetryClass {
        SymmetryClass::of_stabiliser(self.images(board).iter().filter(|image| **image == self).count())
    }

    /// All valid constellations of the board, ascending.
    pub fn all(board: Board) -> impl Iterator<Item = Self> {
        let tops_and_bottoms =
            board.lines().flat_map(move |top| board.lines().map(move |bottom| (top, bottom)));
        let lefts_and_rights =
            board.lines().flat_map(move |left| board.lines().map(move |right| (left, right)));
        tops_and_bottoms
            .flat_map(move |(top, bottom)| {
                lefts_and_rights.clone().map(move |(left, right)| Self { top, bottom, left, right })
            })
            .filter(move |x| x.is_valid(board))
    }

    /// All orbits of valid constellations, ascending by representative.
    pub fn orbits(board: Board) -> impl Iterator<Item = Orbit> {
        // The representative has the smallest top of its images, so half of the tops cannot occur.
        let lower_half = Self::all(board).take_while(move |x| 2 * x.top <= board.last());
        let representatives = lower_half.filter(move |x| *x == x.smallest_image(board));
        representatives.map(move |x| Orbit { representative: x, class: x.class(board) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn board(n: u8) -> Board {
        Board::new(n).unwrap()
    }

    #[test]
    fn constellation_image_is_the_image_of_its_queens() {
        for n in 1..=9 {
            for x in Constellation::all(board(n)) {
                for s in Symmetry::ALL {
                    let mut expected: Vec<_> =
                        x.queens(board(n)).iter().map(|q| s.image(board(n), *q)).collect();
                    let mut image = x.image(board(n), s).queens(board(n));
                    expected.sort();
                    image.sort();
                    assert_eq!(image, expected, "n={n} {x:?} {s:?}");
                }
            }
        }
    }

    #[test]
    fn orbit_counts_agree_with_the_published_ones() {
        for (n, count) in [(8, 78), (12, 730), (14, 1632), (16, 3206), (18, 5728), (20, 9522), (22, 14960)] {
            assert_eq!(Constellation::orbits(board(n)).count(), count, "n={n}");
        }
        for (n, count) in [(8, 9), (12, 25), (16, 49), (20, 81)] {
            let symmetric = Constellation::orbits(board(n)).filter(|o| o.class != SymmetryClass::Asymmetric);
            assert_eq!(symmetric.count(), count, "n={n}");
        }
    }

    #[test]
    fn orbit_sizes_sum_to_a_brute_force_count() {
        for n in 1..=12 {
            let last = n - 1;
            // Choose the border squares directly: any set of non-attacking queens that occupies all four lines.
            let border: Vec<Square> = board(n)
                .lines()
                .flat_map(|r| board(n).lines().map(move |c| Square::new(r, c)))
                .filter(|q| q.row == 0 || q.row == last || q.col == 0 || q.col == last)
                .collect();
            let mut brute = 0;
            let mut chosen = Vec::new();
            subsets(&border, &mut chosen, &mut |queens| {
                let lines = [
                    queens.iter().any(|q| q.row == 0),
                    queens.iter().any(|q| q.row == last),
                    queens.iter().any(|q| q.col == 0),
                    queens.iter().any(|q| q.col == last),
                ];
                brute += u32::from(lines.iter().all(|l| *l));
            });
            let sum: u32 = Constellation::orbits(board(n)).map(|o| u32::from(o.class.orbit_size())).sum();
            assert_eq!(sum, brute, "n={n}");
        }
    }

    fn subsets(squares: &[Square], chosen: &mut Vec<Square>, found: &mut impl FnMut(&[Square])) {
        found(chosen);
        for (i, square) in squares.iter().enumerate() {
            if chosen.iter().all(|q| !q.attacks(*square)) {
                chosen.push(*square);
                subsets(&squares[i + 1..], chosen, found);
                chosen.pop();
            }
        }
    }
}
