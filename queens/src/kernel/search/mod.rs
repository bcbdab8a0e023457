//! The row-by-row search, vectorised: what it counts is what [`scalar`](super::scalar) counts, many states at a time.
//!
//! One [body](body), generic over a small [vector trait](lanes), is compiled once for each instruction set.

#![expect(clippy::inline_always, reason = "the body must be compiled for the instruction set of its caller")]

mod body;
mod lanes;
mod levels;
mod portable;

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;

#[cfg(test)]
mod tests;

use std::cell::RefCell;

use crate::kernel::{Count, Isa, Kernel, KernelName, Method, Stop, scalar};
use crate::position::Position;
use crate::rows::{FreeRow, free_rows};
use body::{Descent, FEWEST_ROWS};
use levels::Levels;

/// The search kernel for an instruction set that this machine has.
#[derive(Clone, Copy, Debug)]
pub struct Search {
    isa: Isa,
}

thread_local! {
    /// Kept from one position to the next: small ones take less time than fresh pages.
    static LEVELS: RefCell<Levels> = RefCell::new(Levels::new());
}

impl Search {
    /// The kernel, if this machine has that instruction set.
    pub fn new(isa: Isa) -> Option<Self> {
        isa.is_available().then_some(Self { isa })
    }

    fn count_rows(self, rows: &[FreeRow], stop: &Stop) -> Option<Count> {
        if rows.len() < FEWEST_ROWS {
            return scalar::count_rows(rows, stop);
        }
        let Some(descent) = Descent::new(rows) else { return Some(Count::default()) };
        LEVELS.with_borrow_mut(|levels| match self.isa {
            // SAFETY: `new` found that this machine has the instruction set.
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => unsafe { avx512::search(&descent, levels, stop) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => unsafe { avx2::search(&descent, levels, stop) },
            _ => portable::search(&descent, levels, stop),
        })
    }
}

impl Kernel for Search {
    fn name(&self) -> KernelName {
        KernelName { method: Method::Search, isa: self.isa }
    }

    fn count(&self, position: &Position, stop: &Stop) -> Option<Count> {
        scalar::sum(free_rows(position).map(|rows| self.count_rows(&rows, stop)))
    }
}
