//! End to end: real processes, real sockets on loopback, real kills.

#[cfg(feature = "atlas")]
mod atlas;
mod attack;
mod cluster;
mod count;
mod damage;
mod dashboard;
mod estimate;
mod exit_codes;
mod follow;
mod foreign;
mod forgery;
mod harness;
mod keys;
mod kill;
mod kills;
mod liar;
mod lies;
mod limits;
mod log;
mod network;
mod noting;
mod old_runs;
mod owner_lies;
mod proxy;
mod published;
mod releases;
mod retract;
mod scale;
mod second_verifier;
mod security;
mod shards;
mod steering;
mod terminal;
mod verify;
mod wrong_input;
