//! The dashboard from outside: by bytes, by a real browser, by Prometheus' own checker.

mod browser;
mod door;
mod grafana;
mod load;
mod look;
mod made_up;
mod metrics;
mod site;
mod tools;
mod webdriver;
