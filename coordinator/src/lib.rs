//! Hands out units, keeps the ledger and the checkpoint, and gives the answer.
//!
//! [`Core`](core::Core) decides; [`Standing`](standing::Standing) is what the records add up to; the
//! [`Store`](store::Store) keeps them on disk; the keeper thread owns all three and is reached through a
//! [`Handle`]; [`serve`] puts gRPC in front of it.

#![forbid(unsafe_code)]

mod access;
mod answer;
mod assurance;
mod audit;
mod bitmap;
mod bound;
mod caller;
mod certificate;
mod checkpoint;
mod clock;
mod connections;
mod counted;
mod double_check;
mod encryption;
mod events;
mod follower_file;
mod following;
mod gate;
mod groups;
mod handle;
mod happening;
mod head;
mod keeper;
mod ledger_copy;
mod lock;
mod merge;
mod noted_term;
mod pause;
mod peers;
mod policy;
mod quota;
mod replay;
mod replicated;
mod resumption;
mod retract;
mod secret;
mod server;
mod service;
mod signing;
mod token_bucket;

pub mod core;
pub mod export;
pub mod identities;
pub mod ledger;
pub mod pace;
pub mod run_directory;
pub mod run_file;
pub mod shard;
pub mod standing;
pub mod store;
pub mod verify;

#[cfg(test)]
mod corruption_tests;
#[cfg(test)]
mod durability_tests;
#[cfg(test)]
mod following_tests;
#[cfg(test)]
mod known_run;
#[cfg(test)]
mod known_worker;
#[cfg(test)]
mod status_tests;

pub use access::{Access, Bearers};
pub use answer::{Agreement, Answer};
pub use audit::{Audit, AuditError, audit, audit_each};
pub use bound::CONFIDENCE;
pub use caller::{Caller, Right};
pub use certificate::{Certificate, CertificateError};
pub use counted::{counted, named};
pub use double_check::{DoubleCheck, DoubleCheckError};
pub use encryption::{Encryption, ServerKeys, UnusableKeys};
pub use handle::{Handle, StartError};
pub use head::{HeadError, PublishedHead, PublishedHeads};
pub use keeper::{CallError, Ending, Snapshot, Withheld};
pub use ledger_copy::{CopyError, LedgerCopy};
pub use merge::{Difference, MergeError, Merged, merge};
pub use policy::{MOST_FOLLOWERS, PolicyError};
pub use retract::{NothingToRetract, RetractError, retract};
pub use server::{Guard, ServeError, serve};
pub use signing::{KeyError, SigningKey};
