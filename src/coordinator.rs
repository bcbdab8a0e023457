//! `diadem coordinator`: serves a run to workers.

use std::pin::pin;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, bail};
use coordinator::shard::Shard;
use coordinator::store::{OpenOptions, Store};
use coordinator::{Handle, serve};
use queens::Plan;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::time::{sleep, timeout};
use tracing::{Level, info};

use crate::access::guard;
use crate::args::{CoordinatorArgs, new_plan};
use crate::count::{answered, ending};
use crate::{log, output, signals};

/// How long workers are given to notice that all is counted.
const FAREWELL: Duration = Duration::from_secs(5);

pub fn run(args: CoordinatorArgs) -> anyhow::Result<ExitCode> {
    log::start(Level::INFO);
    let runtime = tokio::runtime::Runtime::new()?;
    runtime.block_on(coordinate(args))
}

async fn coordinate(args: CoordinatorArgs) -> anyhow::Result<ExitCode> {
    let guard = guard(&args)?;
    let listener = TcpListener::bind(args.listen).await.with_context(|| {
        format!(
            "cannot listen on {} (another process may use the port; choose one with --listen)",
            args.listen
        )
    })?;
    let (store, standing, notices) = Store::open(OpenOptions {
        begin: args.n.map(|n| Plan::derive(new_plan(n, args.kernel.0, args.families))).transpose()?,
        board: args.n,
        path: args.run.clone(),
        shard: Shard::default(),
    })?;
    for notice in notices {
        eprintln!("diadem: {notice}");
    }
    let plan = store.directory().plan().clone();
    info!(n = %plan.board(), units = plan.units(), done = standing.done(), listen = %listener.local_addr()?, "serving");
    let handle = Handle::start(plan, Shard::default(), standing, args.double_check, Some(store))?;
    let (shutdown, stopped) = oneshot::channel::<()>();
    let server = serve(listener, handle.clone(), guard, async {
        stopped.await.ok();
    });
    let mut server = tokio::spawn(server);
    let code = tokio::select! {
        code = until_done(&args, &handle) => code,
        ended = &mut server => bail!("the server has ended: {ended:?}"),
    };
    handle.close().await;
    shutdown.send(()).ok();
    timeout(Duration::from_secs(1), server).await.ok();
    code
}

/// Waits for the answer and prints it, or for an interruption.
async fn until_done(args: &CoordinatorArgs, handle: &Handle) -> anyhow::Result<ExitCode> {
    // Listened to from here to the end: a signal between the answer and the wait below must not be lost.
    let mut interrupted = pin!(signals::interrupted());
    let ending = tokio::select! {
        ending = ending(handle.snapshots()) => ending?,
        interrupted = &mut interrupted => {
            interrupted?;
            eprintln!(
                "diadem: stopped; all that was recorded is kept, go on with: diadem coordinator --run {}",
                args.run.display()
            );
            return Ok(ExitCode::SUCCESS);
        }
    };
    let answer = answered(ending)?;
    let code = output::answer(&answer, args.json)?;
    timeout(FAREWELL, everybody_left(handle)).await.ok();
    if args.stay {
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
