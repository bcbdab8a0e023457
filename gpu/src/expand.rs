//! The first levels of a search, on the host: some states for the device to go on from.
//!
//! A descent is followed breadth first, level by level, until all descents together have as many states as are wished;
//! each level is dropped as it is left, so that what counts as a node is counted once, here or on the device.

use queens::kernel::search::{Descent, RowStep};
use queens::kernel::{Count, Stop};

/// A state: columns used, falling and rising diagonals, candidate squares of the row that is searched next.
pub type State = [u32; 4];

/// States of one descent that wait before the same row.
#[derive(Clone, Debug)]
pub struct Front<'a> {
    /// What they are states of.
    pub descent: &'a Descent,
    /// The row that is searched next, by its number among the free ones.
    pub level: usize,
    /// The states.
    pub states: Vec<State>,
}

/// With so many rows left in a child the device counts pairs, and neither moves a state on.
pub const LEFT_TO_DEVICE: usize = 2;

impl<'a> Front<'a> {
    /// The beginning of a descent.
    pub fn new(descent: &'a Descent) -> Self {
        Self { descent, level: 0, states: vec![[0, 0, 0, descent.first]] }
    }

    /// Moves states on by a row, where enough rows are left, until there are `most` behind it; says whether it moved any.
    /// `count` gets the nodes. What has not moved comes back as a front of its own.
    fn advance(&mut self, most: usize, count: &mut Count) -> (bool, Option<Self>) {
        let step = &self.descent.steps[self.level];
        if step.left <= LEFT_TO_DEVICE || self.states.is_empty() {
            return (false, None);
        }
        let mut below = Vec::new();
        let mut moved = 0;
        for [cols, falling, rising, mut candidates] in self.states.iter().copied() {
            while candidates != 0 {
                let queen = candidates & candidates.wrapping_neg();
                candidates ^= queen;
                let placed =
                    [cols | queen, (falling | queen) << step.distance, (rising | queen) >> step.distance];
                below.extend(child(step, self.descent.columns, placed));
            }
            moved += 1;
            if below.len() >= most {
                break;
            }
        }
        count.nodes += below.len() as u64;
        let rest = self.states.split_off(moved);
        let behind = (!rest.is_empty()).then_some(Self { states: rest, ..*self });
        self.states = below;
        self.level += 1;
        (true, behind)
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

/// The states of all these descents, about `wished` of them where they have so many, and the nodes passed on the way; nothing
/// if stopped.
pub fn expand<'a>(descents: &'a [Descent], wished: usize, stop: &Stop) -> Option<(Count, Vec<Front<'a>>)> {
    let mut count = Count { completions: 0, nodes: descents.len() as u64 };
    let mut fronts: Vec<Front<'a>> = descents.iter().map(Front::new).collect();
    let mut there = fronts.len();
    let mut moves = true;
    while moves && there < wished {
        moves = false;
        for number in 0..fronts.len() {
            if stop.is_stopped() {
                return None;
            }
            let others = there - fronts[number].states.len();
            if there >= wished {
                break;
            }
            let (moved, rest) = fronts[number].advance(wished - others, &mut count);
            moves |= moved;
            there = others + fronts[number].states.len() + rest.as_ref().map_or(0, |rest| rest.states.len());
            fronts.extend(rest);
        }
        fronts.retain(|front| !front.states.is_empty());
    }
    Some((count, fronts))
}
