//! The life of a worker: register, lease, count, report, and leave.
//!
//! ```text
//! until the worker is to leave, or has drained, or the coordinator says that all is counted:
//!     hold enough units for the time ahead        (one request at a time, waiting at the coordinator)
//!     report what is counted                      (one report at a time, with all that is there)
//!     renew the leases of what is held
//!     if the coordinator does not know the worker: register again, and name what is held
//! stop the pool, report what is counted, give back the rest, leave
//! if another run of the plan is counted there now: begin anew, and hold nothing
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
