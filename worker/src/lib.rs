//! Leases units, counts them on a rayon pool, and reports.
//!
//! [`run`] is the whole life of a worker. It speaks to its coordinator through a trait, [`Lender`]: over gRPC
//! ([`Remote`]), or within one process where a board is counted without a network.

#![forbid(unsafe_code)]

mod address;
mod asking;
mod coordinator;
mod credentials;
mod feed;
mod joining;
mod met_terms;
mod outage;
mod pace;
mod places;
mod pool;
mod refusal;
mod remote;
mod run;
mod sites;
mod watching;
mod youngest;

pub use address::AddressError;
pub use coordinator::{CoordinatorError, Lender};
pub use credentials::Credentials;
pub use feed::Feed;
pub use joining::{Announced, fetch_plan};
pub use outage::{GaveUp, Hopeful, Outage};
pub use pace::AHEAD;
pub use remote::Remote;
pub use run::{Config, Summary, TEST_HANGS, Wish, WorkerError, run};
pub use watching::StatusFeed;
pub use youngest::{LeftAlone, TwoRuns};
