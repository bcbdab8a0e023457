//! `diadem status --wait`, and when it has begun to wait.

use crate::harness::{Folder, Running};

/// The line of its debug log after it has seen the run.
pub const SEES_RUN: &str = "waiting for the end of the run";

/// Starts it with its debug log.
pub fn start_waiting(folder: &Folder, args: &str, log: &str) -> Running {
    let mut wait = folder.diadem(&format!("status --wait {args}"));
    folder.start_command(wait.env("DIADEM_LOG", "diadem=debug"), log)
}
