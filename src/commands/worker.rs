//! `diadem worker`: counts for a coordinator.

mod observed;

use std::io;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{anyhow, bail};
use parking_lot::Mutex;
use queens::plan::Fingerprint;
use queens::{Plan, PlanSpec};
use tokio::sync::watch;
use tokio::time::{interval, sleep_until};
use tracing::{Level, info};
use worker::{Config, Lender, Remote, Summary, Wish, fetch_plan};

use crate::access::{Invitation, JOIN, STATUS, refreshed_remote};
use crate::args::{CountingArgs, JoinArgs, KernelChoice, OnLost, WorkerArgs, WrongCommand};
use crate::host::memory::fitting_kernel;
use crate::progress::ProgressLine;
use crate::signals::{Signal, Signals};
use crate::{host, log, service_manager, worker_group};
use observed::{Observed, WorkerNotes};

/// The connection, and the other files of the process.
const OPEN_FILES: u64 = 48;

pub fn run(args: WorkerArgs) -> anyhow::Result<ExitCode> {
    let WorkerArgs { coordinator, keys, counting } = args;
    count(counting, move || refreshed_remote(&coordinator, keys, [JOIN, STATUS]))
}

/// `diadem join`: a worker that shows what its invitation holds.
pub fn join(args: JoinArgs) -> anyhow::Result<ExitCode> {
    let text = if args.invitation == "-" { first_line()? } else { args.invitation };
    let invitation: Invitation = text.parse().map_err(|error| WrongCommand::Refused(format!("{error}")))?;
    count(args.counting, move || invitation.remote())
}

/// The first line of the input. A terminal's input has no end.
fn first_line() -> io::Result<String> {
    let mut line = String::new();
    io::stdin().read_line(&mut line)?;
    Ok(line)
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
    let kernel = if uses_processor { fitting_kernel(kernel, &plan) } else { kernel };
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
    let (wish, wished) = watch::channel(Wish::Stay);
    let notes = Arc::new(Mutex::new(WorkerNotes::new()));
    let noted = Arc::clone(&notes);
    let lenders = move || Arc::new(Observed::new(remote.beside(), Arc::clone(&noted))) as Arc<dyn Lender>;
    let threads = members.iter().map(|member| member.config.threads).sum();
    let mut line = ProgressLine::new();
    let mut work = Box::pin(worker_group::run_members(Box::new(lenders), plan, members, wished));
    let mut statuses = interval(service_manager::STATUS_EVERY);
    let mut ended_by = None;
    let summary = loop {
        tokio::select! {
            summary = &mut work => break summary?,
            () = sleep_until(line.due()) => line.show(|| notes.lock().describe(threads)),
            _ = statuses.tick() => service_manager::status(&notes.lock().describe(threads)),
            signal = signals.next() => {
                // At the first signal the worker drains, at the second it leaves.
                let is_first = *wish.borrow() == Wish::Stay;
                if !is_first && signal == Signal::TimeIsUp {
                    continue;
                }
                ended_by = (!is_first).then_some(signal);
                wish.send_replace(if is_first { Wish::Drain } else { Wish::Leave });
            }
        }
    };
    service_manager::stopping();
    drop(line);
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
