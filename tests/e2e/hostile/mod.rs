//! Participants and files that mean harm.

mod attack;
mod histories;
mod liar;
mod limits;
mod liveness;
mod malice;
mod second_verifier;
mod security;
mod wrong_invitations;
