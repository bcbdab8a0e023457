//! `diadem follow`: keeps a verified copy of a coordinator's run, which can take the run over.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow};
use domain::{FollowReply, quoted};
use records::{CopyError, LedgerCopy};
use tokio::task::block_in_place;
use tokio::time::sleep_until;
use tracing::{Level, info, warn};
use worker::{CoordinatorError, Hopeful, Outage, Remote};

use crate::access::{ADMIN, FOLLOW, refreshed_remote};
use crate::args::FollowArgs;
use crate::highest_term::call_highest_term;
use crate::signals::Signals;
use crate::{host, log, service_manager};

/// The ledger, the connection, and the other files of the process.
const OPEN_FILES: u64 = 48;

/// Between two lines about how far the copy is.
const PROGRESS_INTERVAL: Duration = Duration::from_mins(1);

/// The pause between two hints on how to continue without the coordinator.
const REMINDER_INTERVAL: Duration = Duration::from_mins(10);

/// A complete copy waits at most this long for an absent coordinator before it reports its end.
const MAX_EXIT_DELAY: Duration = Duration::from_mins(1);

pub fn run(args: FollowArgs) -> anyhow::Result<ExitCode> {
    log::start(Level::INFO);
    host::ensure_limits(OPEN_FILES)?;
    let runtime = tokio::runtime::Runtime::new()?;
    let result = runtime.block_on(async {
        // The signal alone ends this, whatever the disk does.
        let mut signals = Signals::new()?;
        service_manager::ready();
        let following = tokio::spawn(follow(args));
        tokio::select! {
            followed = following => followed.context("following panicked")?.map(|()| ExitCode::SUCCESS),
            signal = signals.next() => Ok(signal.exit_code()),
        }
    });
    runtime.shutdown_background();
    result
}

/// Follows until the run is complete, over as many calls as it takes.
async fn follow(args: FollowArgs) -> anyhow::Result<()> {
    let remote = refreshed_remote(args.addresses(), args.keys.clone(), [FOLLOW, ADMIN])?
        .giving_up_after(args.give_up_after);
    let mut copy = block_in_place(|| LedgerCopy::open(&args.run))?;
    call_highest_term(&remote).await?;
    let mut outage = Outage::new(args.give_up_after, Hopeful::default());
    let mut reminders = 0;
    loop {
        let made = tokio::time::Instant::now();
        match one_call(&remote, &mut copy, &mut outage).await {
            Ok(()) => {
                info!(records = copy.records(), "the run is complete, and so is the copy");
                return Ok(());
            }
            Err(CallFailure::Later(why)) => {
                // A call that has lasted for hours was answered all the time.
                let due = if outage.is_answered_since(made) { tokio::time::Instant::now() } else { made };
                let gave_up = outage.failed(due, &why);
                if copy.finish().is_ok() && (gave_up.is_err() || outage.lasts() >= MAX_EXIT_DELAY) {
                    info!(records = copy.records(), "the coordinator is gone, and the copy is complete");
                    return Ok(());
                }
                gave_up.map_err(|gave_up| anyhow!("{gave_up}; {}", takeover_hint(&args, &copy)))?;
                let due = outage.lasts().as_secs() / REMINDER_INTERVAL.as_secs();
                if due > reminders {
                    warn!("{}", takeover_hint(&args, &copy));
                }
                reminders = due;
            }
            Err(CallFailure::Never(error)) => return Err(error),
        }
        if let Some(until) = outage.until() {
            sleep_until(until).await;
        }
    }
}

/// How to continue while the coordinator is away.
fn takeover_hint(args: &FollowArgs, copy: &LedgerCopy) -> String {
    let records = copy.records();
    let copied = format!("the copy has {records} records and is not complete");
    let ended = "if the run has ended, start its coordinator again with --stay and follow it";
    if records == 0 {
        return format!("{copied}; {ended}");
    }
    let run = quoted(&args.run.to_string_lossy());
    let keys = if args.keys.is_some() { " --keys keys/coordinator" } else { "" };
    // This follower is one of those that the coordinator would wait for.
    let replicas = copy.replicas().checked_sub(1).map(|others| format!(" --replicas {others}"));
    let replicas = replicas.unwrap_or_default();
    format!(
        "{copied}; {ended}; if its machine is gone, continue here: diadem coordinator --run {run} \
         --take-over --listen ADDRESS:7227{keys}{replicas}"
    )
}

/// Why a call has ended before the run.
enum CallFailure {
    /// A later coordinator may continue this copy.
    Later(String),
    /// None would.
    Never(anyhow::Error),
}

impl From<CoordinatorError> for CallFailure {
    fn from(error: CoordinatorError) -> Self {
        match error {
            CoordinatorError::Refused(why) => {
                CallFailure::Never(anyhow::anyhow!("the coordinator refuses this follower: {why}"))
            }
            CoordinatorError::Unavailable(_)
            | CoordinatorError::Unregistered
            | CoordinatorError::OtherRun => CallFailure::Later(error.to_string()),
        }
    }
}

impl From<CopyError> for CallFailure {
    fn from(error: CopyError) -> Self {
        match error {
            CopyError::NotWritten(_) | CopyError::File { .. } => CallFailure::Later(error.to_string()),
            _ => CallFailure::Never(error.into()),
        }
    }
}

/// Follows until the run is complete, or the call ends.
async fn one_call(remote: &Remote, copy: &mut LedgerCopy, outage: &mut Outage) -> Result<(), CallFailure> {
    let first = block_in_place(|| copy.request())?;
    let mut feed = remote.follow(first).await?;
    let mut told: Option<Instant> = None;
    loop {
        match feed.next().await? {
            FollowReply::Run(run) => {
                let greeted = block_in_place(|| copy.greet(&run));
                if let Err(error) = greeted {
                    let is_passed_over = matches!(error, CopyError::Older { .. }) && remote.addresses() > 1;
                    return Err(if is_passed_over {
                        feed.leave(error.to_string()).into()
                    } else {
                        error.into()
                    });
                }
                feed.taken_in();
                outage.over();
                info!(records = copy.records(), term = run.term.number, "following");
            }
            FollowReply::Piece(piece) => {
                if let Some(has) = block_in_place(|| copy.take(&piece))? {
                    feed.say(has).await;
                }
                if told.is_none_or(|told| told.elapsed() >= PROGRESS_INTERVAL) {
                    let (done, units) = copy.progress();
                    info!(records = copy.records(), done, units, "on disk");
                    told = Some(Instant::now());
                }
            }
            FollowReply::Finished => return block_in_place(|| copy.finish()).map_err(CallFailure::from),
        }
    }
}
