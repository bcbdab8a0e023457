//! The row-by-row search, vectorised: it counts the same as [`scalar`], many states at a time.
//!
//! One `body`, generic over a small vector trait (`lanes`), is compiled once for each instruction set. A
//! [descent](Descent) is a position's free rows, or its columns, from the `side` with the fewest expected
//! nodes. States wait on `levels`, and a `pass` moves the states of one level on.

#![expect(clippy::inline_always, reason = "the body must be compiled for the instruction set of its caller")]

mod body;
#[allow(unsafe_code, reason = "calls what is compiled for an instruction set")]
mod compiled;
mod descent;
#[allow(unsafe_code, reason = "vector instructions, loads and stores by pointer")]
mod lanes;
mod levels;
#[allow(unsafe_code, reason = "reads and writes the states by pointer")]
mod pass;
mod side;

#[cfg(test)]
mod tests;

use std::cell::RefCell;

use crate::kernel::contract::{Count, Kernel, Stop};
use crate::kernel::isa::{Detected, Isa, on_detected};
use crate::kernel::name::{KernelError, KernelName, Method};
use crate::kernel::scalar;
use crate::position::Position;
use crate::rows::FreeRow;
use compiled::CompiledSearch;
use descent::FEWEST_ROWS;
use levels::Levels;
use side::searched_rows;

pub use descent::{Descent, Look, RowStep};

/// The search of a position: one descent for each allowed pair of boundary queens, and the sum of the small
/// parts that were counted at once. Other kernels that use it find the same completions and nodes. `None` if
/// stopped.
pub fn descents(position: &Position, stop: &Stop) -> Option<(Count, Vec<Descent>)> {
    let (mut small, mut large) = (Count::default(), Vec::new());
    for rows in searched_rows(position) {
        if rows.len() < FEWEST_ROWS {
            small = small.plus(scalar::count_rows(&rows, stop)?);
        } else {
            large.extend(Descent::new(&rows).filter(|descent| descent.first != 0));
        }
    }
    Some((small, large))
}

/// The search kernel for an instruction set that this machine has.
#[derive(Clone, Copy, Debug)]
pub struct Search {
    isa: Detected,
}

thread_local! {
    /// Kept from one position to the next: small ones take less time than fresh pages.
    static LEVELS: RefCell<Levels> = RefCell::new(Levels::new());
}

impl Search {
    /// The kernel for that instruction set.
    ///
    /// # Errors
    /// This machine does not have it.
    pub fn new(isa: Isa) -> Result<Self, KernelError> {
        let isa = isa.detect().ok_or(KernelError::Unavailable(isa))?;
        Ok(Self { isa })
    }

    fn count_rows(self, rows: &[FreeRow], stop: &Stop) -> Option<Count> {
        if rows.len() < FEWEST_ROWS {
            return scalar::count_rows(rows, stop);
        }
        let Some(descent) = Descent::new(rows) else { return Some(Count::default()) };
        LEVELS.with_borrow_mut(|levels| on_detected!(self.isa, isa => isa.search(&descent, levels, stop)))
    }
}

impl Kernel for Search {
    fn name(&self) -> KernelName {
        KernelName { method: Method::Search, isa: self.isa.isa() }
    }

    fn count(&self, position: &Position, stop: &Stop) -> Option<Count> {
        scalar::sum(searched_rows(position).map(|rows| self.count_rows(&rows, stop)))
    }
}
