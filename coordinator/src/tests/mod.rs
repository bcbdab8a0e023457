//! A whole run, from its files to its answers.

pub mod known_worker;

mod checkpoint;
mod durability;
mod following;
mod status;
