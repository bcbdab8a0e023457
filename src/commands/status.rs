//! `diadem status`: how far a coordinator's run is, or runs that no coordinator serves.

mod json;
mod shares;
mod text;
mod watch;

use std::process::ExitCode;

use anyhow::Context;
use proto::{Phase, RunStatus};
use worker::Remote;

use crate::access::{JOIN, STATUS, credentials, lasting_remote};
use crate::args::StatusArgs;
use crate::exit::UNSOUND;
use crate::output::{listing, verdict};

pub fn run(args: &StatusArgs) -> anyhow::Result<ExitCode> {
    if !args.runs.is_empty() {
        return listing(shares::show(&args.runs, args.json));
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (addresses, keys) = (&args.observer.coordinator, &args.observer.keys);
    if args.watch {
        let shown = runtime
            .block_on(async { watch::show(lasting_remote(addresses, keys.clone(), [STATUS, JOIN])?).await });
        // Keys that lie where nothing answers must not hold up the exit.
        runtime.shutdown_background();
        return shown;
    }
    let credentials = credentials(keys.as_deref(), [STATUS, JOIN])?;
    let status = runtime.block_on(async {
        let remote = Remote::new(addresses, &credentials)?;
        let mut status = remote.status().await;
        for _ in 1..remote.addresses() {
            if status.is_err() {
                status = remote.status().await;
            }
        }
        Ok::<_, anyhow::Error>(status)
    })?;
    let status = status.with_context(|| format!("no status from {}", addresses.join(", ")))?;
    let text = if args.json { json::value(&status).to_string() } else { text::text(&status) };
    listing(verdict(&text, (status.phase == Phase::Withheld).then_some(ExitCode::from(UNSOUND))))
}

/// Units that are neither counted nor lent.
fn open(status: &RunStatus) -> u64 {
    status.units.saturating_sub(status.done + status.leased)
}
