//! `diadem count`: a local run, with the coordinator's own code and a worker in one process.

pub mod placed;

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::anyhow;
use coordinator::{CheckingOptions, Ending, Handle};
use gpu::{Device, GpuKernel};
use queens::Plan;
use records::SigningKey;
use records::run_directory::RunDirectory;
use records::shard::Shard;
use records::standing::Standing;
use records::store::{Notice, OpenOptions, Store};
use tokio::sync::watch;
use tokio::time::sleep;
use tracing::Level;
use worker::{Lender, Wish, WorkerError};

use crate::args::{LocalCount, Storage, new_plan, new_plan_for_cards};
use crate::exit::UNSOUND;
use crate::host::memory::fitting_kernel;
use crate::local::Local;
use crate::log::say;
use crate::signals::{Signal, Signals};
use crate::worker_group::GroupMember;
use crate::{command_line, ending, host, log, output, progress, worker_group};

/// A count that cannot record anything for this long ends, because its further counts would be lost.
const RECORDING_TIMEOUT: Duration = Duration::from_secs(10);

/// A run that cannot continue for this long is stuck.
const STUCK_TIME: Duration = Duration::from_secs(5);

/// Files of the run and of the process.
const OPEN_FILES: u64 = 64;

pub fn run(count: LocalCount) -> anyhow::Result<ExitCode> {
    log::start(Level::WARN);
    host::ensure_limits(OPEN_FILES)?;
    host::be_nice(count.limits.nice)?;
    let count = Arc::new(count);
    let what_is_kept = match &count.storage {
        Storage::Memory => "the count was in memory only and is lost".to_owned(),
        Storage::Directory { .. } => command_line::resume_hint(),
    };
    let stopped = |signal: Signal| {
        say(format_args!("diadem: stopped; {what_is_kept}"));
        Ok(signal.exit_code())
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let to_prepare = Arc::clone(&count);
    let (prepared, mut signals) = runtime.block_on(async {
        let mut signals = Signals::new()?.until(count.limits.end());
        let prepared = signals.unless_told(move || Prepared::of(&to_prepare)).await?;
        anyhow::Ok((prepared, signals))
    })?;
    let Prepared { members, handle, is_settled } = match prepared {
        Ok(prepared) => prepared,
        Err(signal) => {
            runtime.shutdown_background();
            return match &count.storage {
                Storage::Directory { path, .. } if !RunDirectory::exists(path)? => {
                    say(format_args!("diadem: stopped; no run was begun"));
                    Ok(signal.exit_code())
                }
                _ => stopped(signal),
            };
        }
    };
    let (kernel, threads) = (members[0].config.kernel.name(), members[0].config.threads);
    let (ending, closed) = runtime.block_on(async {
        let ending = work(&handle, members, &count, &mut signals, is_settled).await;
        (ending, ending::close(&handle, &mut signals).await)
    });
    let status = handle.snapshots().borrow().status.clone();
    let has_nothing = status.done == 0;
    let distrusts = !status.assurance.quarantined.is_empty() || !status.assurance.expelled.is_empty();
    // A kernel that does not stop in time must not delay the answer: all records are on disk.
    runtime.shutdown_background();
    let code = match ending {
        Ok(CountEnd::Run(ending)) => {
            let mut answer = ending::answer(ending)?;
            if answer.units == 0 {
                // Without counts the ledger does not name the kernel.
                answer.kernels.insert(kernel.to_string());
                answer.threads = threads;
            }
            output::answer(&answer, count.json)
        }
        Ok(CountEnd::Interrupted(signal)) => stopped(signal),
        // A new start would not help a machine that the run does not believe.
        Err(error) if distrusts && matches!(error.downcast_ref(), Some(WorkerError::Refused(_))) => {
            say(format_args!("diadem: {}", output::sentence(&error)));
            Ok(ExitCode::from(UNSOUND))
        }
        // A run without records cannot be resumed.
        Err(error) if has_nothing => Err(error),
        Err(error) => Err(anyhow!("{}; {what_is_kept}", output::sentence(&error))),
    }?;
    closed?;
    Ok(code)
}

/// The run and the kernels, before counting begins.
struct Prepared {
    members: Vec<GroupMember>,
    handle: Handle,
    is_settled: bool,
}

impl Prepared {
    fn of(count: &LocalCount) -> anyhow::Result<Self> {
        let kept = existing_run(count)?;
        // A finished run prints its answer without cards.
        let is_finished = kept.as_ref().map_or(Ok(false), |kept| kept.is_settled(count))?;
        let cards = if is_finished { Vec::new() } else { worker_group::cards(&count.gpu.cards)? };
        let run = match kept {
            Some(kept) => FoundRun::Kept(Box::new(kept)),
            None => FoundRun::New(Box::new(new(count, &cards)?)),
        };
        // Before the run directory is made, so that a failing card leaves none behind.
        let cards = if cards.is_empty() {
            Vec::new()
        } else {
            worker_group::kernels(&count.gpu.cards, cards, count.kernel.method, run.plan())?
        };
        let members = members(count, cards, run.plan())?;
        let begun = begin(run, count)?;
        let is_settled = begun.is_settled(count)?;
        let is_counted = begun.standing.is_counted(&begun.plan, count.shard());
        let double_check = output::without_late_share(count.double_check, &begun.standing, is_counted);
        let Begun { plan, standing, store, notices } = begun;
        // No other machine can connect and check.
        let relax_after = Some(Duration::ZERO);
        let checking = CheckingOptions { double_check, relax_after, ..CheckingOptions::default() };
        let handle = Handle::start(plan, count.shard(), standing, checking, store)?;
        output::notices(&notices);
        Ok(Self { members, handle, is_settled })
    }
}

/// The run to count.
enum FoundRun {
    /// It is not begun yet.
    New(Box<Plan>),
    /// It has a directory.
    Kept(Box<Begun>),
}

/// The plan, what has been counted of it, and where more is recorded.
struct Begun {
    plan: Arc<Plan>,
    standing: Standing,
    store: Option<Store>,
    notices: Vec<Notice>,
}

impl Begun {
    /// Whether there is nothing more to count or to check.
    fn is_settled(&self, count: &LocalCount) -> anyhow::Result<bool> {
        let policy = self.standing.policy_at_start(count.double_check)?;
        Ok(self.standing.is_settled(&self.plan, count.shard(), policy))
    }
}

impl FoundRun {
    fn plan(&self) -> &Plan {
        match self {
            Self::New(plan) => plan,
            Self::Kept(kept) => &kept.plan,
        }
    }
}

/// The run in the directory, if there is one.
fn existing_run(count: &LocalCount) -> anyhow::Result<Option<Begun>> {
    match &count.storage {
        Storage::Directory { path, shard } if RunDirectory::exists(path)? => {
            open(count, path, *shard, None).map(Some)
        }
        _ => Ok(None),
    }
}

/// The plan of a run that is not begun yet.
fn new(count: &LocalCount, cards: &[Device]) -> anyhow::Result<Plan> {
    // Shards are counted on several machines and must be parts of one plan.
    let is_for_cards =
        count.shard() == Shard::default() && cards.iter().any(|card| !card.description().is_processor());
    let new_plan = if is_for_cards { new_plan_for_cards } else { new_plan };
    let spec = new_plan(count.board, count.kernel.method, count.scheme);
    Ok(Plan::derive(spec)?)
}

/// The workers of this process.
fn members(count: &LocalCount, cards: Vec<Arc<GpuKernel>>, plan: &Plan) -> anyhow::Result<Vec<GroupMember>> {
    let uses_processor = cards.is_empty() || count.kernel.says_threads;
    let kernel =
        if uses_processor { fitting_kernel(count.kernel, plan.board(), plan.units()) } else { count.kernel };
    let config = worker::Config {
        name: "local".into(),
        machine: count.machine.clone().unwrap_or_else(host::name),
        threads: kernel.threads,
        kernel: kernel.kernel(&plan.spec())?,
        give_up_after: None,
        hopeful: worker::Hopeful::default(),
        give_up_unrecorded_after: Some(RECORDING_TIMEOUT),
        finishes_when_lost: false,
        ahead: worker::AHEAD,
        drain: Duration::ZERO,
    };
    worker_group::members(config, cards, count.kernel.says_threads)
}

fn begin(run: FoundRun, count: &LocalCount) -> anyhow::Result<Begun> {
    match (run, &count.storage) {
        (FoundRun::New(plan), Storage::Memory) => {
            let plan = Arc::<Plan>::from(plan);
            Ok(Begun { standing: Standing::new(&plan), plan, store: None, notices: Vec::new() })
        }
        (FoundRun::New(plan), Storage::Directory { path, shard }) => open(count, path, *shard, Some(*plan)),
        (FoundRun::Kept(kept), _) => Ok(*kept),
    }
}

fn open(count: &LocalCount, path: &Path, shard: Shard, begin: Option<Plan>) -> anyhow::Result<Begun> {
    let options = OpenOptions {
        path: path.to_owned(),
        begin,
        board: Some(count.board),
        scheme: count.scheme,
        shard,
        accept_loss: count.accepts_loss,
        take_over: false,
        signing_key: Some(SigningKey::file_of_run(path)),
    };
    let (store, standing, notices) = Store::open_unsettled(options)?;
    Ok(Begun { plan: Arc::clone(store.directory().plan()), standing, store: Some(store), notices })
}

/// The end of a count.
enum CountEnd {
    /// The run has an ending.
    Run(Ending),
    /// The user has interrupted.
    Interrupted(Signal),
}

/// Counts until there is an ending, or until the user interrupts, also in the audit before the answer.
async fn work(
    handle: &Handle,
    members: Vec<GroupMember>,
    count: &LocalCount,
    signals: &mut Signals,
    is_settled: bool,
) -> anyhow::Result<CountEnd> {
    let shown = count.shows_progress.then(|| tokio::spawn(progress::show(handle.snapshots())));
    let ending = count_and_audit(handle, members, signals, is_settled).await;
    if let Some(shown) = shown {
        shown.abort();
        shown.await.ok();
    }
    ending
}

async fn count_and_audit(
    handle: &Handle,
    members: Vec<GroupMember>,
    signals: &mut Signals,
    is_settled: bool,
) -> anyhow::Result<CountEnd> {
    if !is_settled {
        let (wish, wished) = watch::channel(Wish::Stay);
        let lender: Arc<dyn Lender> = Arc::new(Local(handle.clone()));
        let lenders = Box::new(move || Arc::clone(&lender));
        let mut work = Box::pin(worker_group::run_members(lenders, handle.plan().clone(), members, wished));
        tokio::select! {
            summary = &mut work => {
                summary?;
            }
            // Without an answer observers learn of no end.
            Ok(_) = ending::of(handle) => {
                wish.send_replace(Wish::Leave);
                drop(work.await);
            }
            why = wait_until_stuck(handle) => {
                wish.send_replace(Wish::Leave);
                if !work.await?.finished {
                    return Err(why);
                }
            }
            signal = signals.next() => {
                wish.send_replace(Wish::Leave);
                if !work.await?.finished {
                    return Ok(CountEnd::Interrupted(signal));
                }
            }
        }
    }
    tokio::select! {
        biased;
        ending = ending::of(handle) => Ok(CountEnd::Run(ending?)),
        signal = signals.next() => Ok(CountEnd::Interrupted(signal)),
    }
}

/// Waits until the connected workers are stuck for longer than a moment: no other worker joins a local run.
/// Returns the reason.
async fn wait_until_stuck(handle: &Handle) -> anyhow::Error {
    let mut snapshots = handle.snapshots();
    loop {
        if snapshots.wait_for(|snapshot| snapshot.stuck.is_some()).await.is_err() {
            std::future::pending::<()>().await;
        }
        sleep(STUCK_TIME).await;
        if let Some(why) = snapshots.borrow_and_update().stuck.clone() {
            return anyhow!(why);
        }
    }
}
