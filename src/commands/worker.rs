//! `diadem worker`: counts for a coordinator.

mod observed;
mod sessions;

use std::io;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{anyhow, bail};
use queens::plan::Fingerprint;
use queens::{Plan, PlanSpec};
use tracing::{Level, info};
use worker::{Config, Remote, Summary, fetch_plan};

use crate::access::{Invitation, JOIN, STATUS, refreshed_remote};
use crate::args::{CountingArgs, JoinArgs, KernelChoice, OnLost, WorkerArgs, WrongCommand};
use crate::host::memory::fitting_kernel;
use crate::idleness::IdleWatch;
use crate::signals::{Signal, Signals};
use crate::{host, log, service_manager, worker_group};
use sessions::Sessions;

/// The connection, and the other files of the process.
const OPEN_FILES: u64 = 48;

pub fn run(args: WorkerArgs) -> anyhow::Result<ExitCode> {
    let WorkerArgs { coordinator, keys, counting } = args;
    count(counting, move || refreshed_remote(&coordinator, keys, [JOIN, STATUS]))
}

/// `diadem join`: a worker that shows what its invitation holds.
pub fn join(args: JoinArgs) -> anyhow::Result<ExitCode> {
    let text = if args.invitation == "-" { io::read_to_string(io::stdin())? } else { args.invitation };
    let invitation: Invitation = text.parse().map_err(|error| WrongCommand::Refused(format!("{error}")))?;
    count(args.counting, move || invitation.remote())
}

/// Counts for the coordinator to which `connect` leads.
fn count(
    args: CountingArgs,
    connect: impl FnOnce() -> anyhow::Result<Remote> + Send + 'static,
) -> anyhow::Result<ExitCode> {
    log::start(Level::INFO);
    host::ensure_limits(OPEN_FILES)?;
    host::be_nice(args.limits.nice)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let result = runtime.block_on(work(args, connect));
    // A unit that does not stop in time must not delay the exit.
    runtime.shutdown_background();
    result
}

async fn work(
    args: CountingArgs,
    connect: impl FnOnce() -> anyhow::Result<Remote> + Send + 'static,
) -> anyhow::Result<ExitCode> {
    let give_up_after = args.give_up_after();
    let mut signals = Signals::new()?.until(args.limits.end());
    service_manager::ready();
    let wished = args.gpu.cards;
    let asked = wished.clone();
    // It holds nothing: it has drained.
    let Ok(cards) = signals.unless_told(move || worker_group::cards(&asked)).await? else {
        return Ok(ExitCode::SUCCESS);
    };
    let kernel = KernelChoice::try_from(args.kernel)?;
    // It holds no units here either; the keys may be on a file system that does not answer.
    let Ok(remote) = signals.unless_told(connect).await? else { return Ok(ExitCode::SUCCESS) };
    let remote = remote.giving_up_after(give_up_after);
    let fetched = tokio::select! {
        fetched = fetch_plan(&remote, give_up_after) => fetched?,
        // It holds nothing: it has drained.
        _ = signals.next() => return Ok(ExitCode::SUCCESS),
    };
    let (spec, fingerprint) = fetched?;
    let derived = signals.unless_told(move || derived(spec, &fingerprint).map(Arc::new));
    let Ok(plan) = derived.await? else { return Ok(ExitCode::SUCCESS) };
    let (method, to_count) = (kernel.method, Arc::clone(&plan));
    let made = signals.unless_told(move || worker_group::kernels(&wished, cards, method, &to_count));
    let Ok(cards) = made.await? else { return Ok(ExitCode::SUCCESS) };
    let uses_processor = cards.is_empty() || kernel.says_threads;
    let kernel = if uses_processor { fitting_kernel(kernel, plan.units()) } else { kernel };
    let config = Config {
        name: args.name.unwrap_or_else(default_name),
        machine: args.machine.unwrap_or_else(host::name),
        threads: kernel.threads,
        kernel: kernel.kernel(&spec)?,
        give_up_after,
        hopeful: worker::Hopeful::default(),
        give_up_unrecorded_after: None,
        finishes_when_lost: args.on_coordinator_lost == Some(OnLost::Finish),
        ahead: args.ahead.unwrap_or(worker::AHEAD),
        drain: args.drain,
    };
    let members = worker_group::members(config, cards, kernel.says_threads)?;
    let machine = if args.when_idle { IdleWatch::start() } else { IdleWatch::always_idle() };
    let (summary, ended_by) = Sessions { remote, plan, members, machine }.run(&mut signals).await?;
    service_manager::stopping();
    let Summary { units, finished, broken_off, unacknowledged } = summary;
    info!(units, finished, broken_off, unacknowledged, "leaving");
    Ok(ended_by.map_or(ExitCode::SUCCESS, Signal::exit_code))
}

/// The coordinator's plan.
fn derived(spec: PlanSpec, fingerprint: &Fingerprint) -> anyhow::Result<Plan> {
    // Another release may know it, so the command line is not wrong.
    let plan =
        Plan::derive(spec).map_err(|error| anyhow!("this worker cannot take part in the run: {error}"))?;
    if plan.fingerprint() != fingerprint {
        bail!(
            "the coordinator's plan is {fingerprint}, this worker derives {}: use the same release of diadem",
            plan.fingerprint()
        );
    }
    Ok(plan)
}

fn default_name() -> String {
    format!("{}-{}", host::name(), std::process::id())
}
