//! Hands out units, keeps the ledger and the checkpoint, and gives the answer.
//!
//! [`Core`](core::Core) decides; [`Standing`](standing::Standing) is what the records add up to; the
//! [`Store`](store::Store) keeps them on disk; the keeper thread owns all three and is reached through a
//! [`Handle`], in front of which the crate `serving` puts gRPC.

#![forbid(unsafe_code)]

mod answer;
mod assurance;
mod audit;
mod bound;
mod certificate;
mod checkpoint;
mod clock;
mod counted;
mod double_check;
mod groups;
mod handle;
mod happening;
mod keeper;
mod ledger_copy;
mod log_lines;
mod merge;
mod policy;
mod quoted;
mod replay;
mod retract;
mod rules;
mod signing;

pub mod core;
pub mod export;
pub mod ledger;
pub mod pace;
pub mod regular_file;
pub mod run_directory;
pub mod shard;
pub mod standing;
pub mod store;
pub mod token_bucket;
pub mod verify;

#[cfg(test)]
mod tests;

pub use answer::{Agreement, Answer};
pub use audit::{Audit, AuditError, audit, audit_each};
pub use bound::CONFIDENCE;
pub use certificate::{Certificate, CertificateError, HeadError, PublishedHead, PublishedHeads};
pub use clock::Clock;
pub use counted::{counted, named};
pub use double_check::{DoubleCheck, DoubleCheckError};
pub use handle::{Following, Handle, LedgerSource, StartError};
pub use keeper::{CallError, Ending, Snapshot, Withheld};
pub use ledger_copy::{CopyError, LedgerCopy};
pub use merge::{Difference, Disbelief, MergeError, Merged, merge};
pub use policy::{MOST_FOLLOWERS, PolicyError};
pub use quoted::quoted;
pub use retract::{NothingToRetract, RetractError, Retracted, retract};
pub use rules::{Rules, UnknownRules};
pub use signing::{KeyError, SigningKey};
