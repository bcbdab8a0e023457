//! Which parts of the kernel a thread has been in: for the test that the self-test leaves none of them out.

use std::cell::RefCell;
use std::collections::BTreeSet;

/// A part that not every position goes through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Reached {
    /// Short lists are compared word by word.
    Comparison,
    /// Longer ones by tables,
    Tables,
    /// whose lanes are put in order,
    Order,
    /// and the words chosen that they leave.
    Choice,
    /// The last queens beside the cut sieve the halves to join.
    Sieve,
}

thread_local! {
    static REACHED: RefCell<BTreeSet<Reached>> = RefCell::default();
}

impl Reached {
    /// All parts.
    pub const ALL: [Self; 5] = [Self::Comparison, Self::Tables, Self::Order, Self::Choice, Self::Sieve];

    /// This thread is in it.
    pub fn note(self) {
        REACHED.with_borrow_mut(|reached| reached.insert(self));
    }

    /// As if this thread had been nowhere.
    pub fn forget() {
        REACHED.take();
    }

    /// The parts that this thread has reached.
    pub fn all() -> Vec<Self> {
        REACHED.with_borrow(|reached| reached.iter().copied().collect())
    }
}
