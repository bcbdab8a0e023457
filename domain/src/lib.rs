//! The types shared by the parts of diadem: owners, leases, counts, terms, and the status of a run. Senders, views and
//! writers use these types. None of them does I/O or depends on protobuf.

#![forbid(unsafe_code)]

mod access;
mod card;
mod counted;
mod credit;
mod explained;
mod following;
mod leasing;
mod owner;
mod policy;
mod quoted;
mod retraction;
mod status;
mod steering;
mod term;
mod text;

pub use access::{AccessToken, TokenError};
pub use card::{Hardware, Vendor, card_name, is_meant_by, split_card};
pub use counted::{counted, named};
pub use credit::{CREDIT_DAYS, Credit, Credits, Earned};
pub use explained::{Explained, HeldUnit, Subject};
pub use following::{CopyEnd, FollowReply, FollowRequest, FollowedRun, LedgerPiece};
pub use leasing::{
    Lease, LeaseReply, Registration, Renewal, Report, Token, UnitCount, Variant, Verdict, Welcome, WorkerId,
};
pub use owner::Owner;
pub use policy::{Copies, PolicyChange, PolicyInForce};
pub use quoted::quoted;
pub use retraction::{Takeback, TakenBack, Target, is_reason};
pub use status::{
    Assurance, Event, FamilyStatus, Incident, LONGEST_SILENCE, MachineStatus, OwnCheckStatus, Phase,
    RunStatus, Sample, TimeLeft, Work, WorkerStatus,
};
pub use steering::Steering;
pub use term::{CoordinatorId, CoordinatorIdError, RunId, Term};
pub use text::{NAME_BYTES, is_name, is_unseen, seen};
