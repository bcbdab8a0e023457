//! A run as a whole, from its files to what it answers.

pub mod known_run;
pub mod known_worker;

mod accepted_loss;
mod corruption;
mod durability;
mod following;
mod status;
