//! `diadem count`: a local run, with the coordinator's own code and a worker in one process.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use coordinator::run_directory::RunDirectory;
use coordinator::standing::Standing;
use coordinator::store::{OpenOptions, Store};
use coordinator::{Answer, Ending, Handle, Snapshot};
use queens::Plan;
use tokio::sync::watch;
use tracing::Level;

use crate::args::CountArgs;
use crate::local::Local;
use crate::worker::host_name;
use crate::{log, output, progress, signals};

/// A count that could not record anything for this long ends: what it counts on would be lost.
const PATIENCE: Duration = Duration::from_secs(10);

/// The exit code after Ctrl-C, as shells have it.
const INTERRUPTED: u8 = 130;

pub fn run(args: CountArgs) -> anyhow::Result<ExitCode> {
    log::start(Level::WARN);
    args.kernel.check()?;
    let path = directory(&args);
    let (plan, standing, store) = if args.in_memory {
        let plan = Arc::new(Plan::derive(args.kernel.plan(args.n, args.families))?);
        let standing = Standing::new(&plan);
        (plan, standing, None)
    } else {
        let (store, standing) = open(&args, path.clone())?;
        (store.directory().plan().clone(), standing, Some(store))
    };
    let config = worker::Config {
        name: "local".into(),
        machine: host_name(),
        threads: args.kernel.threads(),
        kernel: args.kernel.kernel(&plan.spec())?,
        give_up_after: Some(PATIENCE),
    };
    let (kernel, threads) = (config.kernel.name(), config.threads);
    let complete = standing.is_settled(&plan, args.shard.unwrap_or_default(), args.double_check);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let ending = runtime.block_on(async {
        let handle = Handle::start(plan, args.shard.unwrap_or_default(), standing, args.double_check, store)?;
        let ending = count(&handle, config, args.quiet || args.json, complete).await;
        handle.close().await;
        ending
    });
    match ending
        .with_context(|| if args.in_memory { "the count is lost".into() } else { how_to_go_on(&args) })?
    {
        Some(ending) => {
            let mut answer = answered(ending)?;
            if answer.units == 0 {
                // Nothing was there to be counted, so the ledger does not tell with what.
                answer.kernels.insert(kernel.to_string());
                answer.threads = threads;
            }
            output::answer(&answer, args.json)
        }
        None if args.in_memory => {
            eprintln!("diadem: stopped; the count was in memory only and is lost");
            Ok(ExitCode::from(INTERRUPTED))
        }
        None => {
            eprintln!("diadem: stopped; {}", how_to_go_on(&args));
            Ok(ExitCode::from(INTERRUPTED))
        }
    }
}

fn directory(args: &CountArgs) -> PathBuf {
    let default = || match args.shard {
        Some(shard) => {
            PathBuf::from(format!("diadem-{}-{}", args.n, shard.to_string().replace([' ', '/'], "-")))
        }
        None => PathBuf::from(format!("diadem-{}", args.n)),
    };
    args.run.clone().unwrap_or_else(default)
}

fn how_to_go_on(args: &CountArgs) -> String {
    let run = args.run.as_ref().map(|run| format!(" --run {}", run.display())).unwrap_or_default();
    let shard = args.shard.map(|shard| format!(" --{shard}")).unwrap_or_default();
    format!("all that was recorded is kept, go on with: diadem count {}{run}{shard}", args.n)
}

fn open(args: &CountArgs, path: PathBuf) -> anyhow::Result<(Store, Standing)> {
    let new = || Plan::derive(args.kernel.plan(args.n, args.families));
    let begin = if RunDirectory::exists(&path) { None } else { Some(new()?) };
    let shard = args.shard.unwrap_or_default();
    let (store, standing, notices) = Store::open(OpenOptions { path, begin, board: Some(args.n), shard })?;
    for notice in notices {
        eprintln!("diadem: {notice}");
    }
    Ok((store, standing))
}

/// Counts until there is an ending, or until the user interrupts: then there is none.
async fn count(
    handle: &Handle,
    config: worker::Config,
    quiet: bool,
    complete: bool,
) -> anyhow::Result<Option<Ending>> {
    let shown = (!quiet).then(|| tokio::spawn(progress::show(handle.snapshots())));
    let result = if complete {
        Ok(Some(ending(handle.snapshots()).await?))
    } else {
        let shutdown = async { signals::interrupted().await.unwrap_or(()) };
        match worker::run(Local(handle.clone()), handle.plan().clone(), config, shutdown).await {
            Ok(summary) if summary.finished => Ok(Some(ending(handle.snapshots()).await?)),
            Ok(_) => Ok(None),
            Err(error) => Err(error),
        }
    };
    if let Some(shown) = shown {
        shown.abort();
        shown.await.ok();
    }
    Ok(result?)
}

/// Waits for the ending of a run.
pub async fn ending(mut snapshots: watch::Receiver<Snapshot>) -> anyhow::Result<Ending> {
    let snapshot = snapshots
        .wait_for(|snapshot| snapshot.ending.is_some())
        .await
        .context("the coordinator has ended")?;
    snapshot.ending.clone().context("the run has no ending")
}

/// The answer of a run, if it has one.
pub fn answered(ending: Ending) -> anyhow::Result<Box<Answer>> {
    match ending {
        Ending::Answered(answer) => Ok(answer),
        Ending::Withheld(why) => bail!("the answer is withheld: {why}"),
    }
}
