//! Shared tools for tests of a run, in this crate and its dependants: a settable clock, a failing disk, a forged
//! checkpoint, and a small run with its counts.

pub mod known_run;

mod faulty_disk;
mod forged_checkpoint;
mod set_clock;

pub use faulty_disk::{Fault, FaultyDisk};
pub use forged_checkpoint::forge_checkpoint;
pub use set_clock::SetClock;
