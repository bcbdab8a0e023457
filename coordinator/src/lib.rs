//! Hands out units, has them counted again, judges who is wrong, and gives the answer.
//!
//! [`Core`](core::Core) decides; what the records add up to and how they are kept on disk is the crate `records`' part; the keeper thread
//! owns all of it and is reached through a [`Handle`], in front of which the crate `serving` puts gRPC.

#![forbid(unsafe_code)]

mod event;
mod handle;
mod keeper;
mod log_lines;

pub mod core;
pub mod token_bucket;

#[cfg(test)]
mod tests;

pub use handle::{Following, Handle, LedgerSource, StartError};
pub use keeper::{CallError, Ending, Misfit, Snapshot, Withheld};
