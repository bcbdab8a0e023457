//! Hands out units, keeps the ledger and the checkpoint, and gives the answer.
//!
//! [`Core`](core::Core) decides; [`Standing`](standing::Standing) is what the records add up to; the
//! [`Store`](store::Store) keeps them on disk; the keeper thread owns all three and is reached through a
//! [`Handle`]; [`serve`] puts gRPC in front of it.

#![forbid(unsafe_code)]

mod answer;
mod audit;
mod bitmap;
mod checkpoint;
mod clock;
mod double_check;
mod handle;
mod keeper;
mod merge;
mod server;
mod service;
mod worth;

pub mod core;
pub mod ledger;
pub mod run_directory;
pub mod shard;
pub mod standing;
pub mod store;

pub use answer::{Agreement, Answer};
pub use audit::{Audit, AuditError, audit};
pub use double_check::{DoubleCheck, DoubleCheckError};
pub use handle::{CallError, Handle};
pub use keeper::{Ending, News};
pub use merge::{MergeError, Merged, merge};
pub use server::{ServeError, serve};
