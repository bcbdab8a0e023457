//! The first levels of a search, on the host: the states from which the device continues.
//!
//! A descent is followed breadth first, level by level, until it has the wished number of states. Each level
//! is dropped when the next is made, so that each node is counted once, on the host or on the device.

use queens::kernel::search::{Descent, RowStep};
use queens::kernel::{Count, Stop};

/// A state: columns used, falling and rising diagonals, candidate squares of the row that is searched next.
pub type State = [u32; 4];

/// States of one descent that wait before the same row.
#[derive(Clone, Debug)]
pub struct Front<'a> {
    /// The descent of these states.
    pub descent: &'a Descent,
    /// The row that is searched next, by its number among the free ones.
    pub level: usize,
    /// The states.
    pub states: Vec<State>,
}

/// The device counts pairs when this many rows are left in a child; neither host nor device moves such a
/// state on.
const LEFT_TO_DEVICE: usize = 2;

impl Front<'_> {
    /// Moves all states on by a row; `count` gets the nodes.
    fn advance(&mut self, count: &mut Count) {
        let step = &self.descent.steps[self.level];
        let mut below = Vec::new();
        for [cols, falling, rising, mut candidates] in self.states.iter().copied() {
            while candidates != 0 {
                let queen = candidates & candidates.wrapping_neg();
                candidates ^= queen;
                let placed =
                    [cols | queen, (falling | queen) << step.distance, (rising | queen) >> step.distance];
                below.extend(child(step, self.descent.columns, placed));
            }
        }
        count.nodes += below.len() as u64;
        self.states = below;
        self.level += 1;
    }
}

/// The child, with its candidates, if it may still be completed.
fn child(step: &RowStep, columns: u32, [cols, falling, rising]: [u32; 3]) -> Option<State> {
    let (looks, by_columns) = step.looked_at();
    let candidates = !(cols | falling | rising) & step.looks[0].open;
    let mut reached = candidates;
    for look in &step.looks[1..looks] {
        let free = !(cols | falling << look.distance | rising >> look.distance) & look.open;
        if free == 0 {
            return None;
        }
        reached |= free;
    }
    let is_alive = candidates != 0 && (!by_columns || !(cols | reached) & columns == 0);
    is_alive.then_some([cols, falling, rising, candidates])
}

/// At least `wished` states of a descent, if it has as many, and the nodes passed on the way; `None` if
/// stopped.
pub fn expand<'a>(descent: &'a Descent, wished: usize, stop: &Stop) -> Option<(Count, Front<'a>)> {
    let mut count = Count { completions: 0, nodes: 1 };
    let mut front = Front { descent, level: 0, states: vec![[0, 0, 0, descent.first]] };
    while (1..wished).contains(&front.states.len()) && descent.steps[front.level].left > LEFT_TO_DEVICE {
        if stop.is_stopped() {
            return None;
        }
        front.advance(&mut count);
    }
    Some((count, front))
}
