//! Hands out units, has them counted again, judges who is wrong, and gives the answer.
//!
//! [`Core`](core::Core) decides; what the records add up to and how they are kept on disk is the crate `records`' part; the keeper thread
//! owns all of it and is reached through a [`Handle`], in front of which [`grpc`] puts the network; [`admission`] says who is let in.

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
