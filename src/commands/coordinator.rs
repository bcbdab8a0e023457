//! `diadem coordinator`: serves a run to workers.

mod takeover;

use std::io;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow, bail};
use coordinator::admission::Guard;
use coordinator::grpc::serve;
use coordinator::{CheckingOptions, Ending, Handle};
use domain::RunStatus;
use queens::Plan;
use records::SigningKey;
use records::shard::Shard;
use records::store::{OpenOptions, Store};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};
use tracing::{Level, info, warn};

use crate::access::{guard, warn_if_others_may_read};
use crate::args::{ListenAddress, ServedRun, WrongCommand};
use crate::commands::unit::Explainer;
use crate::log::say;
use crate::notification::Notifier;
use crate::signals::Signals;
use crate::{command_line, ending, exit, host, log, output, progress, service_manager};

/// Files of the run, and a few connections.
const OPEN_FILES: u64 = 80;

/// After the end of a run the coordinator answers workers until none has called for this long. Workers renew
/// their leases twice in that time. A worker of an earlier process of the run connects again in less.
const QUIET_TIME: Duration = Duration::from_secs(5);

/// How long browsers may show the end of the run.
const BROWSER_EXIT_DELAY: Duration = Duration::from_secs(3);

/// The longest wait at the end, even if workers still call.
const MAX_EXIT_DELAY: Duration = Duration::from_mins(1);

pub fn run(run: ServedRun) -> anyhow::Result<ExitCode> {
    if run.loss.dry_run {
        return takeover::foresee(&run.path);
    }
    log::start(Level::INFO);
    host::ensure_limits(OPEN_FILES)?;
    let places = places(&run)?;
    let runtime = tokio::runtime::Runtime::new()?;
    let code = runtime.block_on(coordinate(&run, places));
    // A hanging file system, under the keys or the run directory, must not delay the end.
    runtime.shutdown_background();
    code
}

async fn coordinate(run: &ServedRun, places: (SocketAddr, Option<SocketAddr>)) -> anyhow::Result<ExitCode> {
    let (guard, keys) = guard(run.keys.as_deref())?;
    if let Some(own) = run.own.as_ref().filter(|_| !guard.asks()) {
        return Err(WrongCommand::UnknownOperator(own.clone()).into());
    }
    let (workers, http) = places;
    let listener = listen(workers, "--listen").await?;
    let browsers = match http {
        Some(http) => Some(listen_for_browsers(workers, http, &guard).await?),
        None => None,
    };
    let key = run.signing_key.clone().unwrap_or_else(|| SigningKey::file_of_run(&run.path));
    let (store, standing, notices) = Store::open_unsettled(OpenOptions {
        begin: run.plan().map(Plan::derive).transpose()?,
        board: run.board,
        scheme: run.scheme,
        path: run.path.clone(),
        shard: Shard::default(),
        accept_loss: run.loss.here.accept_loss,
        take_over: run.loss.take_over,
        signing_key: Some(key.clone()),
    })?;
    warn_if_others_may_read(&key);
    let plan = store.directory().plan().clone();
    let (n, units, done, term) = (plan.board(), plan.units(), standing.done(), store.term().number);
    let checking = CheckingOptions {
        double_check: output::without_late_share(run.double_check, &standing, done == units),
        require_owners: run.require_owners,
        own_checks: run.own_checks,
        own: run.own.clone(),
        relax_after: run.relax_after,
    };
    let handle = Handle::start_replicated(plan, Shard::default(), standing, checking, store, run.replicas)?;
    output::notices(&notices);
    if run.loss.take_over {
        info!("took over the run with term {term}; {}", takeover::WAY_BACK);
    }
    info!(n = n.n(), units, done, term, listen = %listener.local_addr()?, "serving");
    info!("start workers with: {}", worker_command(listener.local_addr()?, run, guard.encrypts()));
    tokio::spawn(keys.watch(handle.clone()));
    let notifier = Notifier::start(run.notify.clone(), run.notify_url.clone(), handle.snapshots())?;
    let dashboard = browsers.map(|listener| show(listener, &handle, guard.clone(), run.is_public));
    let (shutdown, stopped) = oneshot::channel::<()>();
    let stopped = async {
        stopped.await.ok();
    };
    let mut server = tokio::spawn(serve(listener, handle.clone(), guard, stopped));
    let shown = tokio::spawn(progress::show(handle.snapshots()));
    // Receive signals from here to the end, so that none is lost.
    let mut signals = Signals::new()?;
    service_manager::ready();
    let reconnected_at = Instant::now() + if done > 0 { QUIET_TIME } else { Duration::ZERO };
    let managed = tokio::spawn(service_manager::show(handle.snapshots()));
    let code = tokio::select! {
        code = until_done(run, &handle, reconnected_at, &mut signals) => code,
        ended = &mut server => bail!("the server has ended: {ended:?}"),
    };
    managed.abort();
    service_manager::stopping();
    shown.abort();
    shown.await.ok();
    let code = match ending::close(&handle, &mut signals).await {
        Ok(()) => code,
        Err(hangs) => return code.and(Err(hangs.into())),
    };
    shutdown.send(()).ok();
    timeout(Duration::from_secs(1), server).await.ok();
    if let Some(dashboard) = dashboard {
        timeout(BROWSER_EXIT_DELAY, dashboard).await.ok();
    }
    notifier.close().await;
    code
}

/// The command that starts a worker of the run.
fn worker_command(address: SocketAddr, run: &ServedRun, encrypts: bool) -> String {
    let scheme = if encrypts { "https" } else { "http" };
    let at = if address.ip().is_unspecified() {
        format!("{}:{}", host::name(), address.port())
    } else {
        address.to_string()
    };
    let keys = run.keys.as_ref().map(|keys| keys.with_file_name("worker"));
    let keys = command_line::keys_option(keys.as_deref());
    format!("diadem worker --coordinator {scheme}://{at}{keys}")
}

/// Where to listen for workers, and for browsers.
fn places(run: &ServedRun) -> anyhow::Result<(SocketAddr, Option<SocketAddr>)> {
    let resolved = |address: &ListenAddress, option| {
        address
            .resolve()
            .with_context(|| format!("cannot listen on {address}; {option} takes an address of this machine"))
    };
    let listen = resolved(&run.listen, "--listen")?;
    let http = run.http.as_ref().map(|address| resolved(address, "--http")).transpose()?;
    run.refuse_unguarded(listen, http)?;
    Ok((listen, http))
}

/// The port of the dashboard. A port where a token could be overheard is refused.
async fn listen_for_browsers(
    workers: SocketAddr,
    address: SocketAddr,
    guard: &Guard,
) -> anyhow::Result<TcpListener> {
    let is_everywhere = address.ip().is_unspecified() || workers.ip().is_unspecified();
    let is_one_kind = address.is_ipv4() == workers.is_ipv4();
    let is_one_place = address.ip() == workers.ip() || (is_everywhere && is_one_kind);
    if is_one_place && address.port() == workers.port() && address.port() != 0 {
        return Err(WrongCommand::OnePort(address.port()).into());
    }
    if guard.asks() && !guard.encrypts() && !address.ip().is_loopback() {
        return Err(WrongCommand::ReadableTokens(address).into());
    }
    listen(address, "--http").await
}

/// Serves the dashboard. A failure does not end the run.
fn show(listener: TcpListener, handle: &Handle, guard: Guard, is_public: bool) -> JoinHandle<()> {
    let scheme = if guard.encrypts() { "https" } else { "http" };
    if let Ok(address) = listener.local_addr() {
        info!("the dashboard is at {scheme}://{address}");
    }
    let (statuses, source) = (dashboard::statuses(handle.snapshots()), Explainer::new(handle.clone()));
    let serving = tokio::spawn(dashboard::serve(listener, statuses, source, guard, is_public));
    tokio::spawn(async {
        match serving.await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => warn!("the dashboard has ended, the run continues: {error}"),
            Err(error) => warn!("the dashboard has ended, the run continues: {error}"),
        }
    })
}

async fn listen(address: SocketAddr, option: &str) -> anyhow::Result<TcpListener> {
    TcpListener::bind(address).await.map_err(|error| {
        let hint = match error.kind() {
            io::ErrorKind::AddrInUse => format!("; another process uses the port, choose one with {option}"),
            io::ErrorKind::AddrNotAvailable => format!("; {option} takes an address of this machine"),
            _ => String::new(),
        };
        anyhow!("cannot listen on {address}: {error}{hint}")
    })
}

/// The options of the command line that a policy has changed since it was typed: with them it would be refused, or undo that.
fn outdated(run: &ServedRun, status: &RunStatus) -> Vec<&'static str> {
    let checks = run.double_check.is_some_and(|typed| typed.to_string() != status.double_check);
    let replicas = run.replicas.is_some_and(|typed| typed != status.replicas);
    let owners = run.require_owners.is_some_and(|typed| typed != status.require_owners);
    let in_force = status.assurance.own_checks.as_ref();
    let share = in_force.map_or("none", |own| &own.share);
    let own_checks = run.own_checks.is_some_and(|typed| typed.to_string() != share);
    let own = run.own.as_ref().is_some_and(|typed| in_force.is_none_or(|own| own.owner != *typed));
    [
        ("--double-check", checks),
        ("--replicas", replicas),
        ("--require-owners", owners),
        ("--own-checks", own_checks),
        ("--own", own),
    ]
    .into_iter()
    .filter_map(|(option, is_outdated)| is_outdated.then_some(option))
    .collect()
}

/// Waits for the answer and prints it, or for an interruption. The workers of an earlier process have connected again
/// at `reconnected_at`.
async fn until_done(
    run: &ServedRun,
    handle: &Handle,
    reconnected_at: Instant,
    signals: &mut Signals,
) -> anyhow::Result<ExitCode> {
    // If the run ends together with the signal, the end comes first: a script that sees the end may send a signal at
    // once.
    let ending = tokio::select! {
        biased;
        ending = ending::of(handle) => ending?,
        signal = signals.next() => {
            let how = command_line::resume_hint_without(&outdated(run, &handle.snapshots().borrow().status));
            say(format_args!("diadem: stopped; {how}"));
            return Ok(signal.exit_code());
        }
    };
    let is_withheld = matches!(ending, Ending::Withheld(_));
    let answered = ending::answer(ending).and_then(|answer| output::answer(&answer, run.json));
    // Observers see the answer, also if it is withheld or not printed, but not an error that another start mends.
    let is_mended_by_a_start = |error| is_withheld && !exit::is_unsound(error);
    if run.stays && !answered.as_ref().is_err_and(is_mended_by_a_start) {
        return stay(answered, signals).await;
    }
    // The coordinator reports the end to workers and followers, and waits for them, also without an answer to print.
    tokio::select! {
        () = wait_for_departures(handle, reconnected_at, is_withheld) => {}
        _ = signals.next() => return answered,
    }
    answered
}

/// Shows how the run ended until a signal comes. Prints the answer or the error at once.
async fn stay(answered: anyhow::Result<ExitCode>, signals: &mut Signals) -> anyhow::Result<ExitCode> {
    if let Err(error) = &answered {
        say(format_args!("diadem: {}", output::sentence(error)));
    }
    _ = signals.next().await;
    answered.or_else(|error| Ok(exit::of(&error)))
}

/// Waits until all followers have everything, and all workers have left or are silent. If the answer is withheld, workers
/// wait for another start, and only need time to learn that.
async fn wait_for_departures(handle: &Handle, reconnected_at: Instant, is_withheld: bool) {
    let begun = Instant::now();
    let mut pause = Duration::from_millis(1);
    let longest = if is_withheld { QUIET_TIME } else { MAX_EXIT_DELAY };
    while begun.elapsed() < longest {
        let status = handle.status().await;
        let followers = status.as_ref().map_or(0, |status| status.followers);
        let last_words = status.into_iter().flat_map(|status| status.workers).map(|worker| worker.last_word);
        match last_words.min() {
            _ if followers > 0 || Instant::now() < reconnected_at => sleep(pause).await,
            Some(last_word) if begun.elapsed() < QUIET_TIME || last_word < QUIET_TIME => sleep(pause).await,
            _ => return,
        }
        pause = (2 * pause).min(Duration::from_millis(50));
    }
}
