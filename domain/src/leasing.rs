//! Workers, their leases and their counts.

use std::fmt;
use std::time::Duration;

use queens::kernel::KernelName;
use queens::plan::Fingerprint;
use queens::{Summand, UnitId};

use crate::owner::Owner;
use crate::term::Term;

/// A worker's number. The coordinator assigns it at registration, and it is valid until either restarts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WorkerId(pub u64);

impl fmt::Display for WorkerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The opaque mark of one lease: a unit that is lent again gets another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Token(pub u64);

/// How a unit is counted: a second count should share little with the first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Variant {
    /// Mirrored left to right, or as planned.
    pub mirrored: bool,
    /// True to use the method that is not the registered method of the worker.
    pub other_kernel: bool,
}

impl Variant {
    /// All variants of counting a unit, the usual one first.
    pub const ALL: [Variant; 4] = [
        Variant { mirrored: false, other_kernel: false },
        Variant { mirrored: true, other_kernel: false },
        Variant { mirrored: true, other_kernel: true },
        Variant { mirrored: false, other_kernel: true },
    ];

    /// The kernel that counts this variant on a worker that registered with `own`.
    pub fn kernel(self, own: KernelName) -> KernelName {
        if self.other_kernel { own.other() } else { own }
    }

    /// True if this variant of a unit with this summand needs a kernel of the other method. Symmetric counts need no
    /// kernel.
    pub fn wants_other_kernel(self, summand: Summand) -> bool {
        self.other_kernel && !summand.is_symmetric_count()
    }
}

/// A unit lent to a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Lease {
    /// The unit.
    pub unit: UnitId,
    /// Which lending of it this is.
    pub token: Token,
    /// The variant in which it is counted.
    pub variant: Variant,
}

/// A worker introduces itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registration {
    /// Its authenticated owner. This field is not part of the wire format.
    pub owner: Owner,
    /// The fingerprint of the plan that the worker derived.
    pub fingerprint: Fingerprint,
    /// The display name of the worker.
    pub name: String,
    /// The machine that it runs on: counts are checked on another one, and trust is in machines.
    pub machine: String,
    /// How many units it counts at a time; at least 1.
    pub threads: u32,
    /// The kernel that it counts with.
    pub kernel: KernelName,
    /// The solutions of the known board by that kernel on that machine ([`queens::self_test`]).
    pub self_test: u64,
    /// Units that it holds from before a connection was lost.
    pub held: Vec<UnitId>,
    /// The number that it had then, if it had one.
    pub former: Option<WorkerId>,
    /// The leases of these units under that number, which prove that they were lent to it.
    pub leases: Vec<Lease>,
    /// The highest term that it has met.
    pub met: Option<Term>,
}

/// The answer to a registration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Welcome {
    /// The worker's number.
    pub worker: WorkerId,
    /// How long a lease lasts without renewal.
    pub lease_time: Duration,
    /// The held units, leased again; those missing are no longer wanted.
    pub leases: Vec<Lease>,
    /// The coordinator's term, where there is a ledger.
    pub term: Option<Term>,
}

/// The answer to a request for units.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LeaseReply {
    /// Units to count; none if none opened while the request waited.
    Granted(Vec<Lease>),
    /// Everything has been counted.
    Finished,
}

/// The answer to a renewal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Renewal {
    /// Units whose lease was lost: no longer wanted from this worker.
    pub lost: Vec<UnitId>,
    /// Whether everything has been counted.
    pub finished: bool,
    /// True if the worker must finish its running units, return the rest and leave.
    pub drain: bool,
}

/// The count of one unit, as a worker reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnitCount {
    /// The lease under which it was counted; its variant is how that was done.
    pub lease: Lease,
    /// The unit's completions.
    pub completions: u64,
    /// Search nodes visited.
    pub nodes: u64,
    /// Processor time.
    pub cpu: Duration,
}

/// Counts handed in by a worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The worker.
    pub worker: WorkerId,
    /// Its counts.
    pub counts: Vec<UnitCount>,
}

/// The verdict on a reported count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Recorded, durably.
    Recorded,
    /// The ledger already has this count of the unit.
    Known,
    /// Another count was on record; both are set aside and the unit is counted again.
    Conflict,
    /// Cannot be judged yet: keep it and report it again later.
    Later,
    /// No such unit in this run: drop it.
    Unwanted,
}
