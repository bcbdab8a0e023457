//! Leases units, counts them on a rayon pool, and reports.
//!
//! [`run`] is the whole life of a worker. It speaks to its coordinator through a trait, [`Lender`]: over gRPC
//! ([`Remote`]), or within one process where a board is counted without a network.

#![forbid(unsafe_code)]

mod address;
mod coordinator;
mod credentials;
mod outage;
mod pace;
mod pool;
mod refusal;
mod remote;
mod run;

pub use address::AddressError;
pub use coordinator::{CallResult, CoordinatorError, Lender};
pub use credentials::Credentials;
pub use outage::{GaveUp, Hopeful, Outage};
pub use pace::AHEAD;
pub use remote::{
    Announced, ExplainedUnit, FollowStream, LeftAlone, Remote, StatusStream, TwoRuns, fetch_plan,
};
pub use run::{Config, Summary, TEST_HANGS, Wish, WorkerError, run};
