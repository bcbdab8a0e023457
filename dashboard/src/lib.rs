//! Views of a run: a live page, metrics for Prometheus, and a report in one file.
//!
//! [`serve`] gets the successive states of a run and shows them to browsers. What else it shows, it asks of a
//! [`RunSource`]. It cannot change the run. [`RunReport`] is a separate page with the results of an audit. A changed section of the page is
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
mod unit_page;

pub mod assurance;
pub mod words;

pub use broadcast::Statuses;
pub use report::{Contribution, Intervened, RunReport};
pub use server::{serve, statuses};
pub use unit_page::{Explaining, NoAccount, RunSource, UnitAccount};
