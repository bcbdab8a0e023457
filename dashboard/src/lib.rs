//! Views of a run: a live page, metrics for Prometheus, and a report in one file.
//!
//! [`serve`] is given where the run stands, time after time, and shows it to browsers; it knows nothing else of the run and
//! can do nothing to it. [`RunReport`] is a page of its own, of what an audit found. Each section of the page is written once when it has changed, however many watch.

#![forbid(unsafe_code)]

mod broadcast;
mod chart;
mod door;
mod drawing;
mod metrics;
mod report;
mod routes;
mod sections;
mod server;

pub mod assurance;
pub mod words;

pub use broadcast::Statuses;
pub use report::{Contribution, RunReport};
pub use server::{serve, statuses};
