//! The commands one by one: their output, their errors and their exit codes.

#[cfg(feature = "atlas")]
mod atlas;
mod count;
mod estimate;
mod exit_codes;
pub mod external;
mod installed_service;
mod invitations;
mod keys;
mod log;
mod output;
mod placed;
mod published;
mod retract;
mod service_manager;
mod settings;
mod shards;
mod signals;
mod status_wait;
mod terminal;
mod verify;
mod wrong_input;
