//! `diadem autoalloc`: submits jobs with workers to a batch engine while the run has work.
//!
//! Every few seconds it lists its jobs, judges those that have ended ([`history`]), and decides ([`decision`]) whether to submit or
//! to cancel. It stores nothing: a new start finds the jobs by their name.

mod decision;
mod history;
mod job_script;
mod queue;
mod slurm;

use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use domain::{Phase, RunStatus, counted};
use humantime::format_duration;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};
use tracing::{Level, info, warn};
use worker::Remote;

use crate::access::{JOIN, STATUS, refreshed_remote};
use crate::args::{AutoallocArgs, Engine, SlurmArgs};
use crate::exit::UNSOUND;
use crate::highest_term::{ask_highest_term, call_highest_term};
use crate::live_status::{self, LiveStatus, Warnings};
use crate::output::print;
use crate::signals::{Signal, Signals};
use crate::{log, service_manager};
use decision::{Demand, Step, Tally, next_step};
use history::{FailedJob, History};
use job_script::JobScript;
use queue::{Job, JobId, Stage};
use slurm::SlurmError;

/// Between two looks at the queue: Slurm's own commands ask no more often than that.
const LOOK_INTERVAL: Duration = Duration::from_secs(10);

/// The most jobs that wait at a time.
const BACKLOG: u32 = 10;

/// After an absence of the coordinator for this long, no job waits any more. A worker that starts without it ends at once.
const LONG_ABSENCE: Duration = Duration::from_mins(10);

pub fn run(args: &AutoallocArgs) -> anyhow::Result<ExitCode> {
    let Engine::Slurm(args) = &args.engine;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    if args.dry_run {
        return runtime.block_on(show(args));
    }
    log::start(Level::INFO);
    let result = runtime.block_on(allocate(args));
    // A command of Slurm, or keys on a file system that hangs, must not hold up the exit.
    runtime.shutdown_background();
    result
}

/// Prints the job.
async fn show(args: &SlurmArgs) -> anyhow::Result<ExitCode> {
    let remote = refreshed_remote(&args.coordinator, args.keys.clone(), [JOIN, STATUS])?;
    let status = ask_highest_term(&remote, async |remote: &Remote| remote.status().await).await?;
    let status = status.with_context(|| format!("no status from {}", args.coordinator.join(", ")))?;
    print(&JobScript::new(args, &status)?.shown())?;
    Ok(ExitCode::SUCCESS)
}

/// Why no more jobs are submitted.
enum End {
    Run(Phase),
    Signal(Signal),
}

async fn allocate(args: &SlurmArgs) -> anyhow::Result<ExitCode> {
    let mut signals = Signals::new()?;
    service_manager::ready();
    let mut allocation = None;
    let end = serve_run(args, &mut signals, &mut allocation).await;
    service_manager::stopping();
    if let Some(allocation) = &allocation {
        allocation.leave(end.as_ref().ok()).await;
    }
    Ok(match end? {
        End::Run(Phase::Withheld) => ExitCode::from(UNSOUND),
        End::Run(_) => ExitCode::SUCCESS,
        End::Signal(signal) => signal.exit_code(),
    })
}

/// Submits jobs until the end.
///
/// # Errors
/// The coordinator refuses, or Slurm refuses the first job.
async fn serve_run(
    args: &SlurmArgs,
    signals: &mut Signals,
    allocation: &mut Option<Allocation>,
) -> anyhow::Result<End> {
    let remote = refreshed_remote(&args.coordinator, args.keys.clone(), [JOIN, STATUS])?;
    call_highest_term(&remote).await?;
    let (sender, mut sights) = watch::channel(LiveStatus::default());
    let watching = live_status::watch(remote, sender);
    tokio::pin!(watching);
    let mut warnings = Warnings::default();
    let mut due = Instant::now();
    loop {
        let sight = sights.borrow_and_update().clone();
        warnings.print_news(&sight);
        if let Some(status) = &sight.status {
            if allocation.is_none() {
                *allocation = Some(Allocation::begin(args, status).await?);
            }
            if sight.has_ended() {
                return Ok(End::Run(status.phase));
            }
            if let Some(allocation) = allocation.as_mut().filter(|_| Instant::now() >= due) {
                allocation.look(demand(&sight, status)).await?;
                due = Instant::now() + LOOK_INTERVAL;
            }
        }
        tokio::select! {
            refused = &mut watching => return Err(refused),
            changed = sights.changed() => changed?,
            signal = signals.next() => return Ok(End::Signal(signal)),
            () = sleep_until(due), if allocation.is_some() => {}
        }
    }
}

fn demand(sight: &LiveStatus, status: &RunStatus) -> Demand {
    match &sight.gone {
        None => Demand::of(status),
        Some((since, _)) if since.elapsed() < LONG_ABSENCE => Demand::Unknown,
        Some(_) => Demand::Nothing(
            "the coordinator has not answered for ten minutes; if the run has ended, end this command",
        ),
    }
}

/// The jobs of one run.
struct Allocation {
    job: JobScript,
    max_workers: u32,
    history: History,
    /// Whether Slurm has ever accepted such a job.
    is_accepted: bool,
    /// Why the queue cannot be listed, as logged.
    trouble: String,
}

impl Allocation {
    /// Finds the jobs of an earlier start.
    async fn begin(args: &SlurmArgs, status: &RunStatus) -> anyhow::Result<Self> {
        let job = JobScript::new(args, status)?;
        let jobs = slurm::list(job.name()).await?;
        let Tally { waiting, running, .. } = Tally::of(&jobs);
        let mut history = History::default();
        history.pass_over(&jobs);
        info!(waiting, running, "submitting workers for n = {} as jobs {}", status.board.n(), job.name());
        let is_accepted = !jobs.is_empty();
        Ok(Self { job, max_workers: args.max_workers, history, is_accepted, trouble: String::new() })
    }

    /// Looks at the queue, and takes the next step.
    async fn look(&mut self, demand: Demand) -> Result<(), SlurmError> {
        let jobs = match slurm::list(self.job.name()).await {
            Ok(jobs) => jobs,
            Err(error) => {
                let trouble = error.to_string();
                if trouble != self.trouble {
                    warn!("{trouble}; trying again");
                }
                self.trouble = trouble;
                return Ok(());
            }
        };
        self.trouble.clear();
        if let Demand::Units(_) = demand {
            if let Some(failed) = self.history.judge(&jobs, Instant::now()) {
                warn!("{}", failure(&failed).await);
            }
        } else {
            self.history.pass_over(&jobs);
        }
        let tally = Tally::of(&jobs);
        let backlog = self.history.backlog(BACKLOG, Instant::now());
        match (next_step(demand, tally, backlog, self.max_workers), demand) {
            (Step::Submit(count), _) => self.submit(count, tally).await?,
            (Step::CancelWaiting, Demand::Nothing(why)) => {
                match slurm::cancel_waiting(&waiting(&jobs)).await {
                    Ok(()) => info!("cancelled {}: {why}", counted(tally.waiting, "waiting job")),
                    Err(error) => warn!("{error}; trying again"),
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Submits so many jobs, or fewer if Slurm accepts no more for now.
    ///
    /// # Errors
    /// Slurm refuses the first job: the options for sbatch are wrong.
    async fn submit(&mut self, count: u32, Tally { waiting, running, .. }: Tally) -> Result<(), SlurmError> {
        let mut submitted = 0;
        let mut refused = None;
        while submitted < count && refused.is_none() {
            match slurm::submit(&self.job).await {
                Ok(id) => {
                    self.is_accepted = true;
                    self.history.submitted(id);
                    submitted += 1;
                }
                Err(error) if !self.is_accepted => return Err(error),
                Err(error) => refused = Some(error),
            }
        }
        if submitted > 0 {
            info!(waiting = waiting + submitted, running, "submitted {}", counted(submitted, "job"));
        }
        if let Some(error) = refused {
            let delay = self.history.fail(Instant::now());
            warn!("{error}; trying again in {}", format_duration(delay));
        }
        Ok(())
    }

    /// Cancels the jobs that wait, and logs what becomes of the others.
    async fn leave(&self, end: Option<&End>) {
        let name = self.job.name();
        let cancelled = async {
            let jobs = slurm::list(name).await?;
            let ids = waiting(&jobs);
            if !ids.is_empty() {
                slurm::cancel_waiting(&ids).await?;
            }
            Ok::<_, SlurmError>(Tally::of(&jobs))
        };
        let (waiting, running) = match cancelled.await {
            Ok(tally) => (counted(tally.waiting, "waiting job"), counted(tally.running, "running job")),
            Err(error) => {
                warn!("{error}; to cancel the jobs that wait: scancel --state=PENDING --name={name}");
                return;
            }
        };
        match end {
            Some(End::Run(Phase::Withheld)) => warn!(
                "the answer is withheld; cancelled {waiting}; left {running} to wait for the next start of the coordinator; \
                 to end them: scancel --name={name}"
            ),
            Some(End::Run(_)) => info!("the run is complete; cancelled {waiting}; left {running} to end"),
            Some(End::Signal(_)) | None => {
                info!(
                    "cancelled {waiting}; left {running} to count until the time limit; to end them: scancel --name={name}"
                );
            }
        }
    }
}

fn waiting(jobs: &[Job]) -> Vec<JobId> {
    jobs.iter().filter(|job| job.stage == Stage::Waiting).map(|job| job.id).collect()
}

/// What happened to the job, and when the next job follows.
async fn failure(FailedJob { id, used, delay }: &FailedJob) -> String {
    let end = slurm::job_end(*id).await.unwrap_or_default();
    let how = used.map_or_else(
        || "is no longer listed by Slurm".to_owned(),
        |used| format!("ended after {} s ({}, exit code {})", used.as_secs(), end.state, end.exit_code),
    );
    let last_line = end.last_line().map(|line| format!(": {line}")).unwrap_or_default();
    let log = end.log.map(|log| format!("; its log is {}", log.display())).unwrap_or_default();
    let next = format!(
        "the next job is submitted in {}, then one at a time until a job works",
        format_duration(*delay)
    );
    format!("job {} {how}{last_line}{log}; {next}", id.0)
}
