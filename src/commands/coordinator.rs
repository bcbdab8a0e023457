//! `diadem coordinator`: serves a run to workers.

use std::io;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{anyhow, bail};
use coordinator::shard::Shard;
use coordinator::store::{OpenOptions, Store};
use coordinator::{Handle, serve};
use queens::Plan;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::time::{sleep, timeout};
use tracing::{Level, info, warn};

use crate::access::guard;
use crate::args::ServedRun;
use crate::command_line::quoted;
use crate::log::say;
use crate::signals::Signals;
use crate::{command_line, ending, host, log, output, progress};

/// Files of the run, and a few connections.
const OPEN_FILES: u64 = 80;

/// Workers are told that all is counted until none has called for this long. They renew their leases twice in that time.
const FAREWELL: Duration = Duration::from_secs(5);

/// Somebody who calls all the same is not waited for any longer.
const LONGEST_FAREWELL: Duration = Duration::from_mins(1);

pub fn run(run: ServedRun) -> anyhow::Result<ExitCode> {
    log::start(Level::INFO);
    host::ensure_open_files(OPEN_FILES)?;
    let runtime = tokio::runtime::Runtime::new()?;
    runtime.block_on(coordinate(&run))
}

async fn coordinate(run: &ServedRun) -> anyhow::Result<ExitCode> {
    let (guard, keys) = guard(run.keys.as_deref())?;
    let listener = listen(run.listen).await?;
    let (store, standing, notices) = Store::open(OpenOptions {
        begin: run.plan().map(Plan::derive).transpose()?,
        board: run.board,
        path: run.path.clone(),
        shard: Shard::default(),
        accept_loss: run.accepts_loss,
        signing_key: run.signing_key.clone(),
    })?;
    output::notices(&notices);
    let plan = store.directory().plan().clone();
    let term = store.term().number;
    info!(n = %plan.board(), units = plan.units(), done = standing.done(), term, listen = %listener.local_addr()?, "serving");
    let handle =
        Handle::start_replicated(plan, Shard::default(), standing, run.double_check, store, run.replicas)?;
    tokio::spawn(keys.watch(handle.clone()));
    let (shutdown, stopped) = oneshot::channel::<()>();
    let stopped = Box::pin(async {
        stopped.await.ok();
    });
    let server = serve(listener, handle.clone(), guard, stopped);
    let mut server = tokio::spawn(server);
    let shown = tokio::spawn(progress::show(handle.snapshots()));
    let code = tokio::select! {
        code = until_done(run, &handle) => code,
        ended = &mut server => bail!("the server has ended: {ended:?}"),
    };
    shown.abort();
    shown.await.ok();
    handle.close().await;
    shutdown.send(()).ok();
    timeout(Duration::from_secs(1), server).await.ok();
    code
}

async fn listen(address: SocketAddr) -> anyhow::Result<TcpListener> {
    TcpListener::bind(address).await.map_err(|error| {
        let hint = match error.kind() {
            io::ErrorKind::AddrInUse => "; another process uses the port, choose one with --listen",
            io::ErrorKind::AddrNotAvailable => "; --listen takes an address of this machine",
            _ => "",
        };
        anyhow!("cannot listen on {address}: {error}{hint}")
    })
}

/// Waits for the answer and prints it, or for an interruption.
async fn until_done(run: &ServedRun, handle: &Handle) -> anyhow::Result<ExitCode> {
    // Listened to from here to the end: a signal between the answer and the wait below must not be lost.
    let mut signals = Signals::new()?;
    let ending = tokio::select! {
        ending = ending::of(handle) => ending?,
        signal = signals.next() => {
            say(format_args!("diadem: stopped; {}", command_line::how_to_go_on()));
            return Ok(signal.exit_code());
        }
    };
    let answer = ending::answer(ending)?;
    let code = output::answer(&answer, run.json)?;
    everybody_left(handle).await;
    if run.stays {
        signals.next().await;
    } else {
        tell_of_followers(handle, run);
    }
    Ok(code)
}

/// Says so where followers have gone away before they had everything: they wait for a coordinator.
fn tell_of_followers(handle: &Handle, run: &ServedRun) {
    let followers = handle.snapshots().borrow().followers_away;
    if followers > 0 {
        let run = quoted(&run.path.to_string_lossy());
        warn!(
            followers,
            "they have not everything; so that they get it: diadem coordinator --run {run} --stay"
        );
    }
}

/// Waits until all workers have left, or those that are still registered are silent; and until all followers have, who do
/// when they have everything; those that are away are waited for, too, as long as for silent workers.
async fn everybody_left(handle: &Handle) {
    let (begun, snapshots) = (Instant::now(), handle.snapshots());
    let mut pause = Duration::from_millis(1);
    while begun.elapsed() < LONGEST_FAREWELL {
        let status = handle.status().await;
        let followers = status.as_ref().map_or(0, |status| status.followers);
        let last_words = status.into_iter().flat_map(|status| status.workers).map(|worker| worker.last_word);
        match last_words.min() {
            _ if followers > 0 => sleep(pause).await,
            _ if snapshots.borrow().followers_away > 0 && begun.elapsed() < FAREWELL => sleep(pause).await,
            Some(last_word) if begun.elapsed() < FAREWELL || last_word < FAREWELL => sleep(pause).await,
            _ => return,
        }
        pause = (2 * pause).min(Duration::from_millis(50));
    }
}
