//! From any position to cuts of the right size: the queens of outer rows or of central columns.
//!
//! A position is cut once it has no more than [`free_rows_at_best`] rows without a queen. Until then the queen of the
//! middle column without one is placed, on boards from [`LEAST_WITH_CENTRE`] on: it belongs to neither half and
//! restricts both, and the diagonals that cross the cut have to cross a column more. On smaller boards, whose halves are
//! few for a solution anyway, the queens of the outermost rows are placed, from the top and from the bottom in turn.

use crate::bits::set_bits;
use crate::board::Square;
use crate::kernel::contract::{Count, Stop};
use crate::kernel::meet::budget::Budget;
use crate::kernel::meet::compiled::CompiledMeet;
use crate::kernel::meet::cut::{Cut, FEWEST_ROWS};
use crate::kernel::meet::matcher::Matcher;
use crate::kernel::meet::passes::{Passes, Workspace};
use crate::kernel::meet::uncut::Uncut;
use crate::kernel::scalar;
use crate::position::Position;
use crate::squares::Squares;

/// The fewest free rows that are worth a cut; below, the plain search is faster.
const WORTH_A_CUT: usize = 9;

/// The least board on which central columns are placed and not outer rows: measured.
const LEAST_WITH_CENTRE: u8 = 22;

/// How many rows without a queen a position on a board of that size should have when it is cut. More make fewer
/// halves a solution and more pairs; measured (docs/performance.md, "Two halves that meet").
pub fn free_rows_at_best(n: u8) -> u8 {
    match n {
        0..=17 => n.saturating_sub(2),
        18 => 16,
        19 => 17,
        20..=21 => 18,
        22 => 20,
        23..=25 => 21,
        _ => 22,
    }
}

/// The row whose queen is placed next: of the outermost rows without a queen the one nearer to its border.
pub fn next_outer_row(position: &Position) -> Option<u8> {
    let board = position.board();
    let is_free = |row: &u8| position.queens().iter().all(|q| q.row != *row);
    let top = board.lines().find(is_free)?;
    let bottom = board.lines().rev().find(is_free)?;
    Some(if top <= board.last() - bottom { top } else { bottom })
}

/// Counts the completions of positions.
pub struct Counter<'a, L: CompiledMeet> {
    isa: L,
    work: &'a mut Workspace,
    matcher: Matcher<L>,
    budget: Budget,
    stop: &'a Stop,
    /// What smaller kernels counted, and the halves.
    besides: Count,
}

impl<'a, L: CompiledMeet> Counter<'a, L> {
    /// Counts from zero, in this workspace, until it is stopped.
    pub fn new(isa: L, work: &'a mut Workspace, budget: Budget, stop: &'a Stop) -> Self {
        Self { isa, work, matcher: Matcher::new(isa), budget, stop, besides: Count::default() }
    }

    /// What was counted so far.
    pub fn total(&self) -> Count {
        self.besides.plus(Count { completions: self.matcher.pairs(), nodes: 0 })
    }

    /// Counts a position whose queens do not attack each other. `None` if stopped.
    pub fn count(&mut self, position: &Position) -> Option<()> {
        let free = usize::from(position.board().n()) - position.queens().len();
        if free < WORTH_A_CUT.max(FEWEST_ROWS) {
            self.besides = self.besides.plus(scalar::count(position, self.stop)?);
            return Some(());
        }
        if free > usize::from(free_rows_at_best(position.board().n())) {
            return self.place_queen(position);
        }
        match Cut::new(position) {
            Err(Uncut::Impossible) => Some(()),
            Err(Uncut::TooWide) => self.place_queen(position),
            Err(Uncut::TooManyPairs) => self.split_left_boundary(position),
            Ok(cut) => self.count_cut(&cut),
        }
    }

    /// Counts the halves of a position that meet.
    pub fn count_cut(&mut self, cut: &Cut) -> Option<()> {
        let passes = Passes::new(self.isa, cut, self.work, &mut self.matcher, self.budget, self.stop);
        let halves = passes.run()?;
        self.besides = self.besides.plus(Count { completions: 0, nodes: halves });
        Some(())
    }

    /// Tries all squares of the next line.
    fn place_queen(&mut self, position: &Position) -> Option<()> {
        let squares = Squares::of(position);
        if position.board().n() < LEAST_WITH_CENTRE {
            let row = next_outer_row(position).expect("a position to be cut has free rows");
            let mut queens = set_bits(squares.open_columns(row)).map(|col| Square::new(row, col));
            return queens.try_for_each(|queen| self.count(&position.clone().with_queen(queen)));
        }
        let col = squares.middle_column();
        let mut queens = set_bits(squares.open_rows(col)).map(|row| Square::new(row, col));
        queens.try_for_each(|queen| self.count(&position.clone().with_queen(queen)))
    }

    /// Tries one half of the left boundary queens and then the other. There are several, or there would be no bits.
    fn split_left_boundary(&mut self, position: &Position) -> Option<()> {
        let rows: Vec<u8> = set_bits(Squares::of(position).open_rows(0)).collect();
        let (some, others) = rows.split_at(rows.len() / 2);
        for closed in [some, others] {
            let part = closed.iter().fold(position.clone(), |part, row| part.with_row_within(*row, !1));
            self.count(&part)?;
        }
        Some(())
    }
}
