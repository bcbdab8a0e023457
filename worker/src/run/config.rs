//! What a worker is started with, what is wished of it, and what it has done.

use std::sync::Arc;
use std::time::Duration;

use queens::kernel::Kernel;

use crate::outage::Hopeful;

/// What makes a worker.
#[derive(Clone)]
pub struct Config {
    /// What people call it.
    pub name: String,
    /// The machine that it runs on, as people call it.
    pub machine: String,
    /// How many units it counts at a time; at least 1.
    pub threads: u32,
    /// What it counts with.
    pub kernel: Arc<dyn Kernel>,
    /// How long it waits for a coordinator that does not answer; `None` for ever.
    pub give_up_after: Option<Duration>,
    /// Workers that share this give up together: none as long as another is answered.
    pub hopeful: Hopeful,
    /// How long it waits for a coordinator that answers and cannot record; `None` for ever.
    pub give_up_unrecorded_after: Option<Duration>,
    /// Whether it counts to the end what it holds before it gives up.
    pub finishes_when_lost: bool,
    /// For how long it holds units ahead: through an outage as long as this it goes on counting, where it had been lent
    /// as much.
    pub ahead: Duration,
    /// For how long it goes on, when it drains, with what its threads count.
    pub drain: Duration,
}

/// What is wanted of a worker; later ones prevail.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Wish {
    /// It is to work.
    #[default]
    Stay,
    /// It is to finish what its threads count, give back the rest, and leave.
    Drain,
    /// It is to leave within two seconds.
    Leave,
}

/// What a worker has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Units whose counts were acknowledged.
    pub units: u64,
    /// Whether all units of the run have been counted, by whomever.
    pub finished: bool,
    /// Units that it began, and gave back uncounted when it left.
    pub broken_off: u64,
    /// Counts that it had, and that nobody had acknowledged when it left: their units are counted again.
    pub unacknowledged: u64,
}
