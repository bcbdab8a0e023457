//! Two halves that meet: the kernel that does not visit a node for every solution.
//!
//! ```text
//! count(position):
//!     place the queens of more outer rows, until the rest is small enough; for each such position:
//!         cut the free columns in a left and a right half
//!         for each set S of free rows that the left half may occupy:
//!             lefts  = the half boards on the left columns that occupy just the rows of S
//!             rights = the half boards on the right columns that occupy just the other free rows
//!             count += the pairs of a left and a right half that have no diagonal in common
//! ```
//!
//! Half boards of one row set are told apart by their diagonals only, one bit each, and pairs are counted 512 at a
//! time. The chapter "Two halves that meet" of docs/performance.md says why, and what it costs. Files: [`outer`]
//! (which queens are placed first), [`boundary`], [`cut`] and [`half`] (the geometry), [`row_sets`] and
//! [`lists`] (half boards by row set), [`passes`] (what is kept in memory), [`join`] (the pairs), [`lanes`] (the
//! instruction sets).

#![expect(clippy::inline_always, reason = "bodies must be compiled for the instruction set of their caller")]
#![expect(clippy::cast_possible_wrap, reason = "words are bit patterns, not numbers")]

mod boundary;
mod cut;
mod half;
mod join;
mod lanes;
mod lists;
mod outer;
mod passes;
mod row_sets;
#[cfg(test)]
mod tests;

use std::cell::RefCell;

use crate::kernel::{Count, Isa, Kernel, KernelName, Method, Stop};
use crate::position::Position;
use crate::squares::Squares;
use lanes::Lanes;
use outer::Counter;
use passes::{Budget, Workspace};

pub use outer::{free_rows_at_best, next_outer_row};

/// The columns of the left half where the kernel cuts the position, one bit each, columns with a queen left out. Plans
/// that fix on which side a queen falls mean this cut.
pub fn left_columns(position: &Position) -> u32 {
    let [left, _] = Squares::of(position).halves();
    left.into_iter().fold(0, |columns, col| columns | 1 << col)
}

/// The kernel of two halves that meet.
#[derive(Clone, Copy, Debug)]
pub struct Meet {
    isa: Isa,
    budget: Budget,
}

/// The memory for the lists of a thread, in bytes.
const DEFAULT_MEMORY: usize = 48 << 20;

impl Meet {
    /// The kernel for an instruction set that the machine has.
    ///
    /// # Panics
    /// If the machine does not have it.
    pub fn new(isa: Isa) -> Self {
        Self::with_memory(isa, DEFAULT_MEMORY)
    }

    /// The same with lists of at most about so many bytes for each thread. Less memory costs time: what does not fit is
    /// made again.
    ///
    /// # Panics
    /// If the machine does not have the instruction set.
    pub fn with_memory(isa: Isa, bytes: usize) -> Self {
        assert!(isa.is_available(), "the machine has no {isa}");
        let budget = Budget::of_bytes(bytes);
        Self { isa, budget }
    }

    /// # Safety
    /// The machine must have the instruction set of `L`.
    unsafe fn count_with<L: Lanes>(&self, position: &Position, stop: &Stop) -> Option<Count> {
        WORKSPACE.with_borrow_mut(|work| {
            // SAFETY: the promise of the caller.
            unsafe {
                let matcher = join::Matcher::new();
                let mut counter =
                    Counter::<L> { work, matcher, budget: self.budget, stop, besides: Count::default() };
                counter.count(position)?;
                let Counter { matcher, besides, .. } = counter;
                let completions = besides.completions.checked_add(matcher.pairs());
                Some(Count { completions: completions.expect("a unit's count fits 64 bits"), ..besides })
            }
        })
    }
}

thread_local! {
    /// The lists of this thread, whose memory serves unit after unit.
    static WORKSPACE: RefCell<Workspace> = RefCell::default();
}

impl Kernel for Meet {
    fn name(&self) -> KernelName {
        KernelName { method: Method::Meet, isa: self.isa }
    }

    fn count(&self, position: &Position, stop: &Stop) -> Option<Count> {
        if !position.is_consistent() {
            return Some(Count::default());
        }
        // SAFETY: the machine has the instruction set: `with_memory` checked it.
        unsafe {
            match self.isa {
                #[cfg(target_arch = "x86_64")]
                Isa::Avx512 => self.count_with::<lanes::Avx512>(position, stop),
                #[cfg(target_arch = "x86_64")]
                Isa::Avx2 => self.count_with::<lanes::Avx2>(position, stop),
                _ => self.count_with::<lanes::Portable>(position, stop),
            }
        }
    }
}
