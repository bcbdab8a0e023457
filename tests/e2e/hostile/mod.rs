//! Participants and files that mean harm.

mod attack;
mod histories;
mod liar;
mod limits;
mod malice;
pub mod second_verifier;
pub mod security;
