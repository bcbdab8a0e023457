//! Lends units, has them checked, decides disputes, and gives the answer.
//!
//! The layers:
//!
//! - [`Core`](core::Core) decides.
//! - The crate `records` adds the records up and keeps them on disk.
//! - The keeper thread owns both. A [`Handle`] sends it requests.
//! - [`grpc`] connects handles to the network.
//! - [`admission`] decides which callers are accepted.

#![forbid(unsafe_code)]

mod event;
mod handle;
mod keeper;
mod log_lines;
mod token_bucket;

pub mod admission;
pub mod core;
pub mod grpc;

#[cfg(test)]
mod tests;

pub use handle::{CheckingOptions, Following, Handle, LedgerSource, StartError};
pub use keeper::{CallError, Ending, OtherCoordinator, Snapshot, Withheld};
