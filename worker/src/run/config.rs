//! The configuration of a worker, the commands to it, and its summary.

use std::ops::AddAssign;
use std::sync::Arc;
use std::time::Duration;

use queens::kernel::Kernel;

use crate::outage::Hopeful;

/// The configuration of a worker.
#[derive(Clone)]
pub struct Config {
    /// The display name.
    pub name: String,
    /// The name of its machine.
    pub machine: String,
    /// The number of threads, at least 1.
    pub threads: u32,
    /// The kernel.
    pub kernel: Arc<dyn Kernel>,
    /// How long it waits for a coordinator that does not answer; `None` for no limit.
    pub give_up_after: Option<Duration>,
    /// Workers that share this give up together: none as long as another is answered.
    pub hopeful: Hopeful,
    /// How long it waits for a coordinator that answers but cannot record; `None` for no limit.
    pub give_up_unrecorded_after: Option<Duration>,
    /// True if it counts all held units before it gives up.
    pub finishes_when_lost: bool,
    /// Time for which it holds units ahead. It continues counting through an outage of this length, as far as it was
    /// lent enough units.
    pub ahead: Duration,
    /// Time limit for the running units when it drains.
    pub drain: Duration,
}

/// A command to a worker. Later commands prevail.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Wish {
    /// Work.
    #[default]
    Stay,
    /// Finish the running units, return the rest, and leave.
    Drain,
    /// Leave within two seconds.
    Leave,
}

/// The summary of a worker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Units whose counts were acknowledged.
    pub units: u64,
    /// True if all units of the run are counted, by any workers.
    pub finished: bool,
    /// Units that it began, and gave back uncounted when it left.
    pub broken_off: u64,
    /// Counts without acknowledgement when it left. Their units are counted again.
    pub unacknowledged: u64,
}

impl AddAssign for Summary {
    fn add_assign(&mut self, other: Self) {
        let Self { units, finished, broken_off, unacknowledged } = other;
        self.units += units;
        self.finished |= finished;
        self.broken_off += broken_off;
        self.unacknowledged += unacknowledged;
    }
}
