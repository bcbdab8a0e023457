//! End to end: real processes, real sockets on loopback, real kills.

#[cfg(feature = "atlas")]
mod atlas;
#[cfg(feature = "atlas")]
mod atlas_page;
mod attack;
mod book;
mod checkpoint;
mod client;
mod cluster;
mod count;
mod damage;
mod dashboard;
mod ends;
mod estimate;
mod exit_codes;
mod follow;
mod foreign;
mod forgery;
mod gpu;
mod hanging_disk;
mod harness;
mod held_file;
mod histories;
mod keys;
mod keys_half_made;
mod kill;
mod kills;
mod liar;
mod lies;
mod limits;
mod log;
mod malice;
mod network;
mod noting;
mod other_runs;
mod output;
mod owner_lies;
mod owners;
mod passing_refusals;
mod proxy;
mod published;
mod relay;
mod report;
mod retract;
mod scale;
mod second_verifier;
mod security;
mod settings;
mod shards;
mod status_wait;
mod steering;
mod terminal;
mod verify;
mod withheld;
mod wrong_input;

#[cfg(feature = "atlas")]
use test_support::{look, webdriver};
use test_support::{pages, tools};
