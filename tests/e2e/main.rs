//! End to end: real processes, real sockets on loopback, real kills.

#[cfg(feature = "atlas")]
mod atlas;
mod attack;
mod cluster;
mod count;
mod damage;
mod foreign;
mod harness;
mod keys;
mod kill;
mod kills;
mod liar;
mod limits;
mod log;
mod network;
mod old_runs;
mod proxy;
mod scale;
mod security;
mod shards;
mod verify;
mod wrong_input;
