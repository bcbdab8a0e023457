//! `diadem worker`: counts for a coordinator.

use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, bail};
use queens::Plan;
use tracing::{Level, info};
use worker::{Config, Remote, fetch_plan};

use crate::access::{JOIN, STATUS, credentials};
use crate::args::{KernelChoice, WorkerArgs};
use crate::{host, log, signals};

/// The connection, and what the process needs besides.
const OPEN_FILES: u64 = 48;

pub fn run(args: WorkerArgs) -> anyhow::Result<ExitCode> {
    log::start(Level::INFO);
    host::ensure_open_files(OPEN_FILES)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let result = runtime.block_on(work(args));
    // A unit that does not stop in time must not hold up the exit.
    runtime.shutdown_background();
    result
}

async fn work(args: WorkerArgs) -> anyhow::Result<ExitCode> {
    let kernel = KernelChoice::try_from(args.kernel)?;
    let remote = Remote::new(&args.coordinator, &credentials(args.keys.as_deref(), [JOIN, STATUS])?)?;
    let fetched = tokio::select! {
        fetched = fetch_plan(&remote, args.give_up_after) => fetched?,
        interrupted = signals::interrupted() => {
            interrupted?;
            return Ok(ExitCode::SUCCESS);
        }
    };
    let (spec, fingerprint) = fetched?;
    let plan = Plan::derive(spec).context("this worker cannot take part in the run")?;
    if *plan.fingerprint() != fingerprint {
        bail!(
            "the coordinator's plan is {fingerprint}, this worker derives {}: use the same release of diadem",
            plan.fingerprint()
        );
    }
    let config = Config {
        name: args.name.unwrap_or_else(default_name),
        machine: args.machine.unwrap_or_else(host::name),
        threads: kernel.threads,
        kernel: kernel.kernel(&spec)?,
        give_up_after: args.give_up_after,
        ahead: args.ahead.unwrap_or(worker::AHEAD),
    };
    let shutdown = async { signals::interrupted().await.unwrap_or(()) };
    let summary = worker::run(Arc::new(remote), Arc::new(plan), config, Box::pin(shutdown)).await?;
    info!(units = summary.units, finished = summary.finished, "leaving");
    Ok(ExitCode::SUCCESS)
}

fn default_name() -> String {
    format!("{}-{}", host::name(), std::process::id())
}
