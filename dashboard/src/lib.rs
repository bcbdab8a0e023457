//! Views of a run: a live page, metrics for Prometheus, and a report in one file.
//!
//! [`serve`] gets the successive states of a run and shows them to browsers. It knows nothing else of the run and
//! cannot change it. [`RunReport`] is a separate page with the results of an audit. A changed section of the page is
//! written once for any number of viewers.

#![forbid(unsafe_code)]

mod broadcast;
mod chart;
mod door;
mod drawing;
mod metrics;
mod page;
mod public;
mod report;
mod routes;
mod sections;
mod server;

pub mod assurance;
pub mod words;

pub use broadcast::Statuses;
pub use report::{Contribution, Intervened, RunReport};
pub use server::{serve, statuses};
