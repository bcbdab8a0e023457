//! `diadem coordinator`: serves a run to workers.

use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{anyhow, bail};
use coordinator::shard::Shard;
use coordinator::store::{OpenOptions, Store};
use coordinator::{Handle, serve};
use queens::Plan;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::time::{sleep, timeout};
use tracing::{Level, info};

use crate::access::guard;
use crate::args::ServedRun;
use crate::{command_line, ending, log, output, signals};

/// How long workers are given to notice that all is counted.
const FAREWELL: Duration = Duration::from_secs(5);

pub fn run(run: ServedRun) -> anyhow::Result<ExitCode> {
    log::start(Level::INFO);
    let runtime = tokio::runtime::Runtime::new()?;
    runtime.block_on(coordinate(&run))
}

async fn coordinate(run: &ServedRun) -> anyhow::Result<ExitCode> {
    let guard = guard(run.keys.as_deref())?;
    let listener = listen(run.listen).await?;
    let (store, standing, notices) = Store::open(OpenOptions {
        begin: run.plan().map(Plan::derive).transpose()?,
        board: run.board,
        path: run.path.clone(),
        shard: Shard::default(),
    })?;
    output::notices(&notices);
    let plan = store.directory().plan().clone();
    info!(n = %plan.board(), units = plan.units(), done = standing.done(), listen = %listener.local_addr()?, "serving");
    let handle = Handle::start(plan, Shard::default(), standing, run.double_check, Some(store))?;
    let (shutdown, stopped) = oneshot::channel::<()>();
    let server = serve(listener, handle.clone(), guard, async {
        stopped.await.ok();
    });
    let mut server = tokio::spawn(server);
    let code = tokio::select! {
        code = until_done(run, &handle) => code,
        ended = &mut server => bail!("the server has ended: {ended:?}"),
    };
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
    let mut interrupted = pin!(signals::interrupted());
    let ending = tokio::select! {
        ending = ending::of(handle) => ending?,
        interrupted = &mut interrupted => {
            interrupted?;
            eprintln!("diadem: stopped; {}", command_line::how_to_go_on());
            return Ok(ExitCode::SUCCESS);
        }
    };
    let answer = ending::answer(ending)?;
    let code = output::answer(&answer, run.json)?;
    timeout(FAREWELL, everybody_left(handle)).await.ok();
    if run.stays {
        interrupted.await?;
    }
    Ok(code)
}

async fn everybody_left(handle: &Handle) {
    let mut pause = Duration::from_millis(1);
    while handle.status().await.is_ok_and(|status| !status.workers.is_empty()) {
        sleep(pause).await;
        pause = (2 * pause).min(Duration::from_millis(50));
    }
}
