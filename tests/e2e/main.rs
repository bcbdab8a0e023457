//! End to end: real processes, real sockets on loopback, real kills.

mod cluster;
mod commands;
mod crash;
mod hostile;
/// How pages are looked at, here as in the tests of the dashboard.
#[cfg(feature = "atlas")]
#[path = "../../dashboard/tests/page/look.rs"]
mod look;
/// How the book is read, here as in the tests of the arguments.
#[path = "../../src/documented/pages.rs"]
mod pages;
mod support;
/// What some tests need, here as in those of the dashboard.
#[path = "../../dashboard/tests/page/tools.rs"]
mod tools;
mod web;
#[cfg(feature = "atlas")]
#[path = "../../dashboard/tests/page/webdriver.rs"]
mod webdriver;

use support::{
    check, client, credentials, forgery, harness, held_file, http, lies, noting, owner_lies, proxy, relay,
    waiting,
};
