//! The search itself, once for all instruction sets.
//!
//! ```text
//! search: level 0 has one state; until no level has any:
//!     take a level; for each of its states:                       # a state is not full: it has a candidate
//!         take a candidate square out of the state, and form the child with a queen there
//!         keep the child on the next level if it may still be completed
//!         keep the state on its level if it has a candidate left
//! ```
//!
//! The reasons for its speed, in the order of their gain (docs/performance.md has the figures):
//!
//! 1. `WIDTH` states at a time, without a branch that depends on them: survivors are packed to the end of a buffer.
//! 2. One candidate of each state a pass. States with candidates left are packed in place for the next pass,
//!    so every lane always has a candidate, however much the numbers of candidates differ.
//! 3. Look-ahead: a child is dropped if one of the next rows has no free square. When few rows are left it is
//!    also dropped if a row or a column without a queen has no free square.
//! 4. Depth first between passes: the deepest level with [`BATCH`] states goes next, so that buffers stay in
//!    the cache. If no level has that many, the shallowest level goes next.
//! 5. The last two rows are never searched: a child with two rows and two columns left has at most two
//!    completions, and both are tested at once.
//! 6. The next vector of states is loaded before survivors are stored. Otherwise processors that once saw a load
//!    meet an earlier store make each load wait for the addresses of all earlier stores, which follow from counts.

use super::descent::{Descent, FEWEST_ROWS};
use super::lanes::Lanes32;
use super::levels::{CAPACITY, Levels};
use super::pass::LevelPass;
use crate::kernel::contract::{Count, Stop};

/// States that are worth a pass over a deeper level; well below [`CAPACITY`], so that a pass finds room for its
/// children.
const BATCH: usize = 256;

/// The completions of the position that was prepared; `None` if stopped.
#[inline(always)]
pub(super) fn search<L: Lanes32>(
    isa: L,
    descent: &Descent,
    levels: &mut Levels,
    stop: &Stop,
) -> Option<Count> {
    let mut total = Count::default();
    if descent.first == 0 {
        return Some(total);
    }
    levels.begin(descent.first);
    total.nodes = 1;
    let deepest = descent.steps.len() + 1 - FEWEST_ROWS;
    while let Some((level, vectors)) = next_pass::<L>(levels, deepest) {
        if stop.is_stopped() {
            return None;
        }
        let step = &descent.steps[level];
        let mut pass = LevelPass::new(isa, step, descent.columns, levels, level, vectors);
        total = total.plus(match step.left {
            2 => pass.count_pairs(),
            3 => pass.descend::<3, true>(),
            4 => pass.descend::<4, true>(),
            5 => pass.descend::<5, true>(),
            6 => pass.descend::<3, false>(),
            _ => pass.descend::<2, false>(),
        });
    }
    Some(total)
}

/// The level that goes next and its number of full vectors; `None` if no state waits. Below the deepest level with a
/// batch there is less than a batch, and above the shallowest level nothing: so children always find room.
#[inline(always)]
fn next_pass<L: Lanes32>(levels: &mut Levels, deepest: usize) -> Option<(usize, usize)> {
    if let Some(level) = (0..=deepest).rev().find(|level| levels.waiting(*level) >= BATCH) {
        let room = if level == deepest { CAPACITY } else { CAPACITY - levels.waiting(level + 1) };
        return Some((level, levels.waiting(level).min(room) / L::WIDTH));
    }
    let level = (0..=deepest).find(|level| levels.waiting(*level) > 0)?;
    if levels.waiting(level) < L::WIDTH {
        levels.pad(level, L::WIDTH);
    }
    Some((level, levels.waiting(level) / L::WIDTH))
}
