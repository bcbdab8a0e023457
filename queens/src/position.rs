//! The input of a kernel: placed queens, and the squares and border queens that remain allowed.

use crate::bits::set_bits;
use crate::board::{Board, Square};
use crate::constellation::Constellation;
use crate::solution::Solution;

/// The pairs (row of the queen in the left column, row of the queen in the right column) that may occur.
///
/// One unit can so stand for many constellations that share their top and bottom queen.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BoundaryPairs {
    /// For each left row, bit r is set if right row r is allowed with it.
    rights: [u32; 32],
}

impl BoundaryPairs {
    /// No pair at all.
    pub fn none() -> Self {
        Self { rights: [0; 32] }
    }

    /// Adds the pair.
    pub fn allow(&mut self, left: u8, right: u8) {
        self.rights[usize::from(left)] |= 1 << right;
    }

    /// The right rows allowed with this left row, one bit each.
    pub fn rights(&self, left: u8) -> u32 {
        self.rights[usize::from(left)]
    }

    /// The pairs, ascending.
    pub fn iter(&self) -> impl Iterator<Item = (u8, u8)> + '_ {
        (0..32).flat_map(|left| set_bits(self.rights(left)).map(move |right| (left, right)))
    }

    /// Whether the pair is allowed.
    pub fn contains(&self, left: u8, right: u8) -> bool {
        self.rights(left) >> right & 1 == 1
    }
}

/// Queens placed beforehand on a board, the squares on which each row's queen may stand, and the allowed
/// (left, right) boundary queens.
///
/// Its *completions* are the solutions of the board that contain all placed queens, use allowed squares only and
/// have an allowed pair of boundary queens. Any placement is a position, also one that no plan would produce.
///
/// ```
/// use queens::kernel::{Method, Stop, kernel};
/// use queens::{Board, Position, Square};
///
/// let board = Board::new(8)?;
/// let position = Position::empty(board).with_queen(Square::new(0, 0)).with_row_within(7, 0b0000_1111);
/// assert!(position.is_consistent());
/// let count = kernel(Method::Search, None)?.count(&position, &Stop::new()).unwrap();
/// assert_eq!(count.completions, 3, "of the four solutions with a queen in that corner");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Position {
    board: Board,
    queens: Vec<Square>,
    /// For each row, the columns where its queen may stand; `None` if all are allowed.
    squares: Option<Box<[u32; 32]>>,
    boundary: Option<Box<BoundaryPairs>>,
}

impl Position {
    /// The empty board: its completions are all solutions.
    pub fn empty(board: Board) -> Self {
        Self { board, queens: Vec::new(), squares: None, boundary: None }
    }

    /// The position with the queens of a boundary constellation.
    pub fn of_constellation(board: Board, constellation: Constellation) -> Self {
        constellation.queens(board).into_iter().fold(Self::empty(board), Self::with_queen)
    }

    /// Places one more queen. A queen that stands there already stays one queen.
    ///
    /// # Panics
    /// If the square is not on the board.
    #[must_use]
    pub fn with_queen(mut self, queen: Square) -> Self {
        assert!(queen.row < self.board.n() && queen.col < self.board.n(), "{queen:?} is not on the board");
        if !self.queens.contains(&queen) {
            self.queens.push(queen);
        }
        self
    }

    /// Allows the queen of `row` only on the columns in `columns` that were allowed before.
    #[must_use]
    pub fn with_row_within(mut self, row: u8, columns: u32) -> Self {
        let (before, full) = (self.squares(row), self.board.full());
        if before & columns != before {
            self.squares.get_or_insert_with(|| Box::new([full; 32]))[usize::from(row)] = before & columns;
        }
        self
    }

    /// Allows the queen of `col` only on the rows in `rows` that were allowed before.
    #[must_use]
    pub fn with_column_within(self, col: u8, rows: u32) -> Self {
        set_bits(self.board.full() & !rows)
            .fold(self, |position, row| position.with_row_within(row, !(1 << col)))
    }

    /// Allows only these pairs of boundary queens.
    #[must_use]
    pub fn with_boundary(mut self, pairs: BoundaryPairs) -> Self {
        self.boundary = Some(Box::new(pairs));
        self
    }

    /// Allows all pairs of boundary queens again.
    #[must_use]
    pub fn without_boundary(mut self) -> Self {
        self.boundary = None;
        self
    }

    /// The board.
    pub fn board(&self) -> Board {
        self.board
    }

    /// The queens placed beforehand, each once.
    pub fn queens(&self) -> &[Square] {
        &self.queens
    }

    /// The columns on which the queen of `row` may stand, attacks left aside: bit c for column c.
    pub fn squares(&self, row: u8) -> u32 {
        self.squares.as_deref().map_or(self.board.full(), |squares| squares[usize::from(row)])
    }

    /// Whether a queen may still stand on the square: it is allowed, and no placed queen attacks it.
    pub fn is_free(&self, square: Square) -> bool {
        self.squares(square.row) >> square.col & 1 == 1
            && self.queens.iter().all(|queen| *queen != square && !queen.attacks(square))
    }

    /// The allowed pairs of boundary queens; `None` allows all.
    pub fn boundary(&self) -> Option<&BoundaryPairs> {
        self.boundary.as_deref()
    }

    /// Whether no placed queen attacks another or stands on a square that is not allowed.
    pub fn is_consistent(&self) -> bool {
        self.queens.iter().all(|q| self.squares(q.row) >> q.col & 1 == 1)
            && self.queens.iter().all(|a| self.queens.iter().all(|b| !a.attacks(*b)))
    }

    /// Whether the solution of the board is a completion.
    pub fn is_completed_by(&self, solution: &Solution) -> bool {
        let last = self.board.last();
        self.queens.iter().all(|queen| solution.has(*queen))
            && solution.queens().all(|queen| self.squares(queen.row) >> queen.col & 1 == 1)
            && self.boundary().is_none_or(|pairs| pairs.contains(solution.row_of(0), solution.row_of(last)))
    }

    /// The position mirrored left to right. It has as many completions.
    #[must_use]
    pub fn mirrored(&self) -> Self {
        let last = self.board.last();
        let mut image = Self::empty(self.board);
        image.queens = self.queens.iter().map(|q| Square::new(q.row, last - q.col)).collect();
        let mirrored = |columns: u32| columns.reverse_bits() >> (31 - last);
        image.squares = self.squares.as_deref().map(|squares| Box::new(squares.map(mirrored)));
        image.boundary = self.boundary.as_deref().map(|pairs| {
            let mut mirrored = BoundaryPairs::none();
            pairs.iter().for_each(|(left, right)| mirrored.allow(right, left));
            Box::new(mirrored)
        });
        image
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mirroring_twice_gives_the_position_back() {
        let board = Board::new(9).unwrap();
        let mut pairs = BoundaryPairs::none();
        pairs.allow(2, 5);
        pairs.allow(7, 1);
        let position = Position::empty(board)
            .with_queen(Square::new(3, 1))
            .with_queen(Square::new(0, 8))
            .with_row_within(4, 0b1_0110)
            .with_boundary(pairs);
        let mirrored = position.mirrored();
        assert_eq!(mirrored.queens(), [Square::new(3, 7), Square::new(0, 0)]);
        assert_eq!(mirrored.squares(4), 0b0_1101_0000);
        assert!(mirrored.boundary().unwrap().contains(5, 2));
        assert_eq!(mirrored.mirrored(), position);
    }
}
