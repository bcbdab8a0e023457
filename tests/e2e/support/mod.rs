//! Shared parts of the tests: folders, processes, forged ledgers, clients and faulty networks.

pub mod check;
pub mod client;
pub mod credentials;
pub mod eavesdropper;
pub mod forgery;
pub mod harness;
pub mod held_file;
pub mod http;
pub mod lies;
pub mod noting;
pub mod owner_lies;
pub mod proxy;
pub mod relay;
pub mod small_disk;
pub mod waiting;
