//! Two halves that meet: the kernel that does not visit a node for every solution.
//!
//! ```text
//! count(position):
//!     place the queens of more central columns, until the rest is small enough; for each such position:
//!         cut the free columns in a left and a right half
//!         for each set S of free rows that the left half may occupy:
//!             lefts  = the half boards on the left columns that occupy just the rows of S
//!             rights = the half boards on the right columns that occupy just the other free rows
//!             for each row z of the left halves' last queen, and each row w of the right halves':
//!                 count += the pairs of a left half with z and a right half with w that have no diagonal in common,
//!                          of those left halves that leave the square of w free, and right halves that leave that of z
//! ```
//!
//! The last queens, beside the cut, act as a sieve: if it pays, the halves that they attack are dropped
//! before the pairs are counted. Half boards of one row set differ by their diagonals only, one bit each, and
//! pairs are counted 512 at a time. The chapter "Two halves that meet" of docs/performance.md has the reasons
//! and the costs. Files:
//!
//! - which queens are placed first: [`outer`], [`narrowed`];
//! - the geometry of the rest: [`boundary`], [`cut`] (or [`uncut`]), [`half`], [`diagonals`];
//! - half boards by row set: [`row_sets`], [`lists`], [`growth`], [`gathering`], [`scan`];
//! - what is kept in memory: [`budget`], [`heads`], [`forecast`], [`resident`], [`passes`], [`coverage`];
//! - the pairs: [`bucket`], [`by_last_row`], [`sieve`], [`signatures`], [`join`], [`order`], [`tables`], [`matcher`];
//! - the instruction sets: [`lanes`], [`compiled`].

#![expect(clippy::inline_always, reason = "bodies must be compiled for the instruction set of their caller")]

mod boundary;
mod bucket;
mod budget;
mod by_last_row;
#[allow(unsafe_code, reason = "calls what is compiled for an instruction set")]
mod compiled;
mod coverage;
mod cut;
mod diagonals;
mod forecast;
mod gathering;
mod growth;
mod half;
mod heads;
mod join;
#[allow(unsafe_code, reason = "vector instructions, loads and stores by pointer")]
mod lanes;
mod lists;
mod matcher;
mod narrowed;
mod order;
mod outer;
mod passes;
#[cfg(test)]
mod reached;
mod resident;
mod row_sets;
#[allow(unsafe_code, reason = "stores packed words by pointer")]
mod scan;
mod sieve;
mod signatures;
#[allow(unsafe_code, reason = "looks entries up by their place in bytes")]
mod tables;
#[cfg(test)]
mod tests;
mod uncut;

use std::cell::RefCell;

use crate::board::Board;
use crate::kernel::contract::{Count, Kernel, Stop};
use crate::kernel::isa::{Detected, Isa, on_detected};
use crate::kernel::name::{KernelError, KernelName, Method};
use crate::position::Position;
use budget::Budget;
use compiled::CompiledMeet;
use coverage::{Everything, Thinned};
use matcher::Matcher;
use passes::{Passes, Workspace};

pub(crate) use boundary::{boundary_bits, keep_allowed};
pub use coverage::{Projection, Thinning};
pub use cut::Cut;
pub(crate) use diagonals::diagonal_bits;
pub use half::{Half, QueenBits};
pub(crate) use narrowed::WORD;
pub use outer::{count_by_cuts, free_rows_at_best, next_outer_row, with_next_queen};
#[cfg(test)]
pub(crate) use reached::Reached;

/// The kernel of two halves that meet, for an instruction set that this machine has.
#[derive(Clone, Copy, Debug)]
pub struct Meet {
    isa: Detected,
    budget: Budget,
}

/// The least board that longer lists make faster: measured.
const LEAST_WITH_LONG_LISTS: u8 = 25;

thread_local! {
    /// The lists of this thread, whose memory serves unit after unit.
    static WORKSPACE: RefCell<Workspace> = RefCell::default();
}

impl Meet {
    /// The memory for the lists of a thread, in bytes, unless another size is set. More helps large boards alone.
    pub const DEFAULT_MEMORY: usize = 48 << 20;

    /// The most memory for the lists of a thread that makes counting a board faster, in bytes (docs/performance.md).
    pub fn most_useful_memory(board: Board) -> usize {
        if board.n() < LEAST_WITH_LONG_LISTS { Self::DEFAULT_MEMORY } else { 2 << 30 }
    }

    /// The kernel for that instruction set.
    ///
    /// # Errors
    /// This machine does not have it.
    pub fn new(isa: Isa) -> Result<Self, KernelError> {
        Self::with_memory(isa, Self::DEFAULT_MEMORY)
    }

    /// The kernel with lists of at most about `bytes` bytes for each thread. Less memory costs time, because
    /// dropped lists are made again.
    ///
    /// # Errors
    /// If this machine does not have the instruction set.
    pub fn with_memory(isa: Isa, bytes: usize) -> Result<Self, KernelError> {
        let isa = isa.detect().ok_or(KernelError::Unavailable(isa))?;
        Ok(Self { isa, budget: Budget::of_bytes(bytes) })
    }

    fn count_with<L: CompiledMeet>(&self, isa: L, position: &Position, stop: &Stop) -> Option<Count> {
        WORKSPACE.with_borrow_mut(|work| {
            let (mut matcher, mut all) = (Matcher::new(isa), Everything::default());
            let besides = count_by_cuts(position, stop, &mut |cut| {
                Passes::new(isa, cut, work, &mut matcher, &mut all, self.budget, stop).run()?;
                Some(Count::default())
            })?;
            Some(besides.plus(Count { completions: matcher.pairs(), nodes: all.halves }))
        })
    }

    /// What counting the position comes to, told from a part of the work that is drawn at random; exactly that with a stride
    /// of 1. The clock says what has been spent, in any unit. `None` if stopped: `stop` stops passes, and `interrupted` the way from
    /// cut to cut as well, which takes the same time however few passes are drawn.
    ///
    /// ```
    /// use queens::kernel::meet::Thinning;
    /// use queens::kernel::{Isa, Kernel, Meet, Stop};
    /// use queens::{Board, Position};
    ///
    /// let (meet, position) = (Meet::new(Isa::best())?, Position::empty(Board::new(12)?));
    /// let thinning = Thinning::new(1, 0);
    /// let projection = meet.project(&position, thinning, &|| 0.0, &Stop::new(), &Stop::new()).unwrap();
    /// assert_eq!(projection.completions, 14_200.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn project(
        &self,
        position: &Position,
        thinning: Thinning,
        clock: &dyn Fn() -> f64,
        stop: &Stop,
        interrupted: &Stop,
    ) -> Option<Projection> {
        let thinned = Thinned::new(thinning, clock);
        on_detected!(self.isa, isa => self.project_with(isa, position, thinned, stop, interrupted))
    }

    fn project_with<L: CompiledMeet>(
        &self,
        isa: L,
        position: &Position,
        mut thinned: Thinned<'_>,
        stop: &Stop,
        interrupted: &Stop,
    ) -> Option<Projection> {
        WORKSPACE.with_borrow_mut(|work| {
            let mut matcher = Matcher::new(isa);
            let besides = count_by_cuts(position, interrupted, &mut |cut| {
                thinned.spent_anyway();
                Passes::new(isa, cut, work, &mut matcher, &mut thinned, self.budget, stop).run()?;
                Some(Count::default())
            })?;
            Some(thinned.into_projection(besides))
        })
    }
}

impl Kernel for Meet {
    fn name(&self) -> KernelName {
        KernelName { method: Method::Meet, isa: self.isa.isa() }
    }

    fn count(&self, position: &Position, stop: &Stop) -> Option<Count> {
        on_detected!(self.isa, isa => self.count_with(isa, position, stop))
    }
}
