//! End to end: real processes, real sockets on loopback, real kills.

mod cluster;
mod commands;
mod crash;
mod hostile;
mod support;
mod web;

use support::{
    check, client, credentials, eavesdropper, forgery, harness, held_file, http, lies, noting, owner_lies,
    proxy, relay, small_disk, waiting,
};
#[cfg(feature = "atlas")]
use test_support::{look, webdriver};
use test_support::{pages, tools};
