//! A coordinator, workers, followers and operators as separate processes.

mod autoalloc;
mod ends;
mod explained;
mod external;
mod follow;
mod foreign;
mod gpu;
mod moves;
mod network;
mod notifications;
mod other_runs;
mod owners;
mod passing_refusals;
mod scale;
mod steering;
mod workers;
