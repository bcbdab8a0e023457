//! The dashboard from outside: by bytes, by a real browser, by Prometheus' own checker.

mod browser;
mod door;
mod grafana;
mod layout;
mod load;
mod made_up_report;
mod metrics;
mod public;
mod site;

use test_support::{look, made_up, tools, webdriver};
