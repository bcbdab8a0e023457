//! What tests of a run share, in this crate and in those above it: a clock that is set, a disk that fails, a checkpoint that lies, a small run with its counts.

pub mod known_run;

mod faulty_disk;
mod forged_checkpoint;
mod set_clock;

pub use faulty_disk::{Fault, FaultyDisk};
pub use forged_checkpoint::forge_checkpoint;
pub use set_clock::SetClock;
