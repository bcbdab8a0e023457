//! The records of a run and their evidence, without network or leases.
//!
//! The parts:
//!
//! - A [`RunDirectory`](run_directory::RunDirectory) has a [`ledger`] and a checkpoint.
//! - [`Standing`](standing::Standing) is the result of all records.
//! - The [`Store`](store::Store) combines the three for a writing process.
//! - The other modules need only the ledger. They [audit](audit()), [verify], [certify](Certificate),
//!   [export] and [merge](merge()) runs.

#![forbid(unsafe_code)]

mod answer;
mod assurance;
mod audit;
mod bound;
mod certificate;
mod checkpoint;
mod clock;
mod double_check;
mod families;
mod groups;
mod interventions;
mod ledger_copy;
mod merge;
mod own_checks;
mod retract;
mod signing;
mod system;
mod takeover;

pub mod export;
pub mod ledger;
pub mod pace;
pub mod policy;
pub mod regular_file;
pub mod replay;
pub mod run_directory;
pub mod shard;
pub mod standing;
pub mod store;
#[cfg(any(test, feature = "test-support"))]
pub mod testing;
pub mod verify;

#[cfg(test)]
mod tests;

pub use answer::{Agreement, Answer, WrongSymmetric};
pub use assurance::assess;
pub use audit::{Audit, AuditError, audit, audit_each, audit_until};
pub use bound::CONFIDENCE;
pub use certificate::{
    Certificate, CertificateError, HeadError, PublishedHead, PublishedHeads, stamped_hash,
};
pub use checkpoint::is_checkpoint_thread;
pub use clock::{Clock, SystemClock};
pub use double_check::{DoubleCheck, DoubleCheckError};
pub use families::{Families, FamilyProgress};
pub use interventions::{Intervention, Interventions};
pub use ledger_copy::{CopyError, LedgerCopy};
pub use merge::{Difference, Disbelief, MergeError, Merged, merge};
pub use own_checks::OwnChecks;
pub use retract::{Extent, NothingToRetract, RetractError, Retracted, retract, retractions};
pub use signing::{KeyError, SigningKey};
pub use takeover::{Takeover, TakeoverError};
