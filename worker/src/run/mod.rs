//! The life of a worker: register, lease, count, report, and leave.
//!
//! ```text
//! until the worker must leave, has drained, or learns that all units are counted:
//!     hold enough units for the time ahead        (one request at a time, which waits at the coordinator)
//!     report finished counts                      (one report at a time, with all finished counts)
//!     renew the leases of held units
//!     if the coordinator does not know the worker: register again with the held units
//! stop the pool, report finished counts, return the rest, leave
//! if the coordinator now serves another run of the plan: start over without units
//! ```

mod config;
mod connection;
mod counting;
mod error;
mod held_leases;
mod hung_threads;
mod reporting;
mod self_test;
#[cfg(test)]
mod tests;
mod worker_loop;

pub use config::{Config, Summary, Wish};
pub use error::WorkerError;
pub use self_test::TEST_HANGS;
pub use worker_loop::run;
