//! End to end: real processes, real sockets on loopback, real kills.

mod atlas;
mod cluster;
mod count;
mod damage;
mod foreign;
mod harness;
mod kill;
mod kills;
mod liar;
mod network;
mod proxy;
mod scale;
mod shards;
mod wrong_input;
