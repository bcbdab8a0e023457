//! The wire contract: the generated protobuf types, the domain types that the rest of the program speaks, and the
//! conversion between the two. Protobuf types go no further than this crate's users at the edge.

#![forbid(unsafe_code)]

mod access;
mod card;
mod domain;
mod policy;
mod protocol;
mod retraction;
mod status;
mod steering;
mod strict;
mod term;
mod text;
mod wire;

pub use access::{AUTHORIZATION, AccessToken, TokenError, for_good, is_for_good};
pub use card::{Hardware, Vendor, card_name, is_meant_by, split_card};
pub use domain::{
    CopyEnd, FollowReply, FollowRequest, FollowedRun, Lease, LeaseReply, LedgerPiece, Owner, Registration,
    Renewal, Report, Token, UnitCount, Variant, Verdict, Welcome, WorkerId,
};
pub use policy::{Copies, PolicyChange, PolicyInForce};
pub use protocol::{Protocol, ProtocolError};
pub use retraction::{Takeback, TakenBack, Target, is_reason};
pub use status::{
    Assurance, Event, FamilyStatus, LONGEST_SILENCE, MachineStatus, Phase, RunStatus, Sample, TimeLeft, Work,
    WorkerStatus,
};
pub use steering::Steering;
pub use strict::{StrictCodec, StrictDecoder};
pub use term::{CoordinatorId, CoordinatorIdError, OWN_TERM, RunId, Term};
pub use text::{NAME_BYTES, is_name, is_unseen, seen};
pub use wire::{WireError, malformed, plan_from_reply, plan_reply, run_from_reply, verdicts_from_reply};

/// The types of the service `diadem.v1`, generated from the .proto file. They are checked in, so that building needs no
/// generator; `tests/generated.rs` compares them with what the .proto file gives, and renews them.
#[allow(missing_docs, clippy::pedantic, unused_qualifications)]
pub mod v1 {
    include!("generated/client.rs");
    include!("generated/server.rs");
}
