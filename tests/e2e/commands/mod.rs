//! The commands one by one: what they print, what they refuse, and their exit codes.

#[cfg(feature = "atlas")]
mod atlas;
mod count;
mod estimate;
mod exit_codes;
pub mod keys;
mod log;
mod output;
mod published;
mod retract;
mod settings;
mod shards;
pub mod status_wait;
mod terminal;
pub mod verify;
mod wrong_input;
