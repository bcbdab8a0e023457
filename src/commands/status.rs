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
use crate::youngest::{ask_youngest, call_youngest};

pub fn run(args: &StatusArgs) -> anyhow::Result<ExitCode> {
    if !args.runs.is_empty() {
        return listing(shares::show(&args.runs, args.json, args.families));
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (addresses, keys) = (&args.observer.coordinator, &args.observer.keys);
    if args.watch {
        let shown = runtime.block_on(async {
            let remote = lasting_remote(addresses, keys.clone(), [STATUS, JOIN])?;
            call_youngest(&remote).await?;
            watch::show(remote.giving_up_after(Some(args.give_up_after)), args.give_up_after).await
        });
        // Keys that lie where nothing answers must not hold up the exit.
        runtime.shutdown_background();
        return shown;
    }
    let credentials = credentials(keys.as_deref(), [STATUS, JOIN])?;
    let status = runtime.block_on(async {
        let remote = Remote::new(addresses, &credentials)?;
        Ok::<_, anyhow::Error>(ask_youngest(&remote, async |remote| remote.status().await).await?)
    })?;
    let status = status.with_context(|| format!("no status from {}", addresses.join(", ")))?;
    let text = if args.json { json::value(&status).to_string() } else { text::text(&status) };
    listing(verdict(&text, (status.phase == Phase::Withheld).then_some(ExitCode::from(UNSOUND))))
}

/// Units that are neither counted nor lent.
fn open(status: &RunStatus) -> u64 {
    status.units.saturating_sub(status.done + status.leased)
}
