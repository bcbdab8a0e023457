//! What coordinator and workers say to each other, in the words of the design.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use queens::kernel::KernelName;
use queens::plan::Fingerprint;
use queens::{Summand, UnitId};

use crate::term::Term;
use crate::text::seen;

/// A worker's number, given by the coordinator at registration and good until either of them restarts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WorkerId(pub u64);

impl fmt::Display for WorkerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Who is authenticated by a certificate or a token: trust is in owners. The unnamed one is everybody where nothing is
/// asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Owner(Arc<str>);

impl Owner {
    /// The owner of that name.
    pub fn new(name: &str) -> Self {
        Self(name.into())
    }

    /// Its name; empty for the unnamed one.
    pub fn name(&self) -> &str {
        &self.0
    }

    /// What it is called in commands: `-` is the unnamed one.
    pub fn typed(&self) -> &str {
        if self.is_unnamed() { "-" } else { self.name() }
    }

    /// Whether it is the unnamed one.
    pub fn is_unnamed(&self) -> bool {
        self.0.is_empty()
    }

    /// What people are told that something of the owner's is called: `owner/name`, or the name where there are no owners. A name
    /// in a forged ledger may have whole lines after it.
    pub fn title(&self, name: &str) -> String {
        let title = if self.is_unnamed() { name.to_owned() } else { format!("{self}/{name}") };
        seen(&title, &[]).into_owned()
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
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
    /// With the other method than the one that the worker registered with.
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

    /// Whether it takes a kernel of the other method to count a unit of that sum: symmetric counts are made without a kernel.
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
    /// How it is to be counted.
    pub variant: Variant,
}

/// A worker introduces itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registration {
    /// Who it was let in as: this never comes over the wire.
    pub owner: Owner,
    /// The fingerprint of the plan that the worker derived.
    pub fingerprint: Fingerprint,
    /// What people call the worker.
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
    /// Whether the operator wishes the worker to finish what it counts, give back the rest, and leave.
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

/// What became of one reported count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Recorded, durably.
    Recorded,
    /// A record of it with that count was there already.
    Known,
    /// Another count was on record; both are set aside and the unit is counted again.
    Conflict,
    /// Cannot be judged yet: keep it and report it again later.
    Later,
    /// No such unit in this run: drop it.
    Unwanted,
}

/// Where a copy of a ledger ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CopyEnd {
    /// The number of the file, from 1; 0 where there is no copy yet.
    pub file: u32,
    /// Bytes of that file before the end.
    pub offset: u64,
    /// The hash of the line before.
    pub hash: [u8; 16],
    /// The records before, marks not counted.
    pub records: u64,
}

/// What a follower says: first, and whenever it has more on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FollowRequest {
    /// Tells the copy from others.
    pub follower: u64,
    /// What is on its disk.
    pub end: CopyEnd,
    /// The highest term that it has met.
    pub met: Option<Term>,
}

/// What a follower is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FollowReply {
    /// First: what the run is.
    Run(FollowedRun),
    /// What the ledger has at a place.
    Piece(LedgerPiece),
    /// All is counted and the copy is complete.
    Finished,
}

/// What a run is apart from its ledger.
#[derive(Clone, PartialEq, Eq)]
pub struct FollowedRun {
    /// The file `run.json`.
    pub run_file: Vec<u8>,
    /// The file `lease.key`.
    pub lease_key: Vec<u8>,
    /// The term of whoever says this.
    pub term: Term,
    /// Whether the copy is refused, as the end of the call says: only the term is to be noted.
    pub refused: bool,
}

impl fmt::Debug for FollowedRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FollowedRun({}, its key is not shown)", self.term)
    }
}

/// A piece of a ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerPiece {
    /// The number of the file, from 1.
    pub file: u32,
    /// Bytes of that file before the piece.
    pub offset: u64,
    /// The piece itself: any part of lines that are committed.
    pub bytes: Vec<u8>,
    /// Whether nothing else is there now.
    pub is_end: bool,
}
