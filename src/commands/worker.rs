//! `diadem worker`: counts for a coordinator.

mod observed;
mod sessions;

use std::env;
use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, anyhow, bail};
use queens::plan::Fingerprint;
use queens::{Plan, PlanSpec};
use records::regular_file;
use tracing::{Level, info};
use worker::{Config, Remote, Summary, fetch_plan};

use crate::access::{Invitation, JOIN, STATUS, refreshed_remote, warn_if_others_may_read};
use crate::args::{CountingArgs, JoinArgs, KernelChoice, OnLost, ServiceArgs, WorkerArgs, WrongCommand};
use crate::external::{ExternalKernel, ExternalProgram};
use crate::host::memory::fitting_kernel;
use crate::idleness::IdleWatch;
use crate::service::{self, Service};
use crate::settings::CompletedLine;
use crate::signals::{Signal, Signals};
use crate::{host, log, service_manager, worker_group};
use sessions::Sessions;

/// The connection, and the other files of the process.
const OPEN_FILES: u64 = 48;

pub fn run(args: WorkerArgs) -> anyhow::Result<ExitCode> {
    let WorkerArgs { coordinator, keys, service, counting } = args;
    let connect = move || refreshed_remote(&coordinator, keys, [JOIN, STATUS]);
    match service {
        ServiceArgs { remove_service: true, .. } => service::remove(),
        ServiceArgs { install_service: true, .. } => {
            if let Some(token) = [JOIN, STATUS].iter().find(|token| env::var_os(token.variable).is_some()) {
                return Err(WrongCommand::Refused(format!(
                    "a service does not see {}: write the token to the file {} in the folder of --keys",
                    token.variable, token.file
                ))
                .into());
            }
            install(vec!["worker".into()], counting, connect, None)
        }
        ServiceArgs { .. } => count(counting, connect),
    }
}

/// `diadem join`: a worker that shows what its invitation holds.
pub fn join(args: JoinArgs) -> anyhow::Result<ExitCode> {
    let JoinArgs { invitation, service, counting } = args;
    let Some(named) = invitation.filter(|_| !service.remove_service) else { return service::remove() };
    let text = invitation_text(named)?;
    let invitation: Invitation = text.parse().map_err(|error| WrongCommand::Refused(format!("{error}")))?;
    let connect = move || invitation.remote();
    if service.install_service {
        let words = vec!["join".into(), service::invitation_file()?.into_os_string()];
        return install(words, counting, connect, Some(&text));
    }
    count(counting, connect)
}

/// The invitation that is named on the command line: itself, or where it stands.
fn invitation_text(named: String) -> anyhow::Result<String> {
    let file = Path::new(&named);
    if named == "-" {
        Ok(first_line()?)
    } else if file.is_file() {
        warn_if_others_may_read(file);
        regular_file::read_to_string(file).with_context(|| format!("cannot read {named}"))
    } else {
        Ok(named)
    }
}

/// Installs a service that begins its command line with these words, after a look at what it will need.
fn install(
    mut words: Vec<OsString>,
    args: CountingArgs,
    connect: impl FnOnce() -> anyhow::Result<Remote>,
    invitation: Option<&str>,
) -> anyhow::Result<ExitCode> {
    host::be_nice(args.limits.nice)?;
    KernelChoice::try_from(args.kernel)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async { connect().map(drop) })?;
    let (line, _) = CompletedLine::read(env::args_os().collect(), env::vars_os())?;
    words.extend(line.options_in_full()?);
    Service::new(words, args.drain)?.install(invitation)
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
    let program =
        args.external.external.clone().map(|command| {
            Arc::new(ExternalKernel::new(ExternalProgram::new(command, args.external.timeout())))
        });
    let uses_processor = cards.is_empty() || kernel.says_threads;
    let kernel = if uses_processor { fitting_kernel(kernel, plan.board(), plan.units()) } else { kernel };
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
    let members = match &program {
        Some(program) => vec![worker_group::external_member(config, Arc::clone(program))?],
        None => worker_group::members(config, cards, kernel.says_threads)?,
    };
    let machine = if args.when_idle { IdleWatch::start() } else { IdleWatch::always_idle() };
    let ended = Sessions { remote, plan, members, machine }.run(&mut signals).await;
    program.iter().for_each(|program| program.end());
    let (summary, ended_by) = ended?;
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
