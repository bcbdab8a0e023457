//! `diadem status`: how far a coordinator's run is, or runs that no coordinator serves.

mod json;
mod shares;
mod text;
mod watch;

use std::process::ExitCode;

use anyhow::Context;
use proto::RunStatus;
use worker::Remote;

use crate::access::{JOIN, STATUS, credentials};
use crate::args::StatusArgs;
use crate::output::{listing, print};

pub fn run(args: &StatusArgs) -> anyhow::Result<ExitCode> {
    if !args.runs.is_empty() {
        return listing(shares::show(&args.runs, args.json));
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let credentials = credentials(args.observer.keys.as_deref(), [STATUS, JOIN])?;
    if args.watch {
        return runtime
            .block_on(async { watch::show(Remote::new(&args.observer.coordinator, &credentials)?).await });
    }
    let status = runtime.block_on(async {
        let remote = Remote::new(&args.observer.coordinator, &credentials)?;
        let mut status = remote.status().await;
        for _ in 1..remote.addresses() {
            if status.is_err() {
                status = remote.status().await;
            }
        }
        Ok::<_, anyhow::Error>(status)
    })?;
    let status =
        status.with_context(|| format!("no status from {}", args.observer.coordinator.join(", ")))?;
    listing(print(&if args.json { json::value(&status).to_string() } else { text::text(&status) }))?;
    Ok(ExitCode::SUCCESS)
}

/// Units that are neither counted nor lent.
fn open(status: &RunStatus) -> u64 {
    status.units.saturating_sub(status.done + status.leased)
}
