//! A run as a whole, from its files to what it answers.

pub mod known_worker;

mod checkpoint;
mod durability;
mod following;
mod status;
