//! What a worker counts between two pauses. A pause is a drain: the worker finishes or returns its units and leaves, so that
//! it holds no lease while it waits.

use std::sync::Arc;

use parking_lot::Mutex;
use queens::Plan;
use tokio::sync::watch;
use tokio::time::{interval, sleep_until};
use tracing::info;
use worker::{Lender, Remote, Summary, Wish};

use super::observed::{Observed, WorkerNotes};
use crate::idleness::IdleWatch;
use crate::progress::ProgressLine;
use crate::service_manager;
use crate::signals::{Signal, Signals};
use crate::worker_group::{GroupMember, LenderFactory, run_members};

/// A worker that counts whenever its machine is idle.
pub struct Sessions {
    pub remote: Remote,
    pub plan: Arc<Plan>,
    pub members: Vec<GroupMember>,
    pub machine: IdleWatch,
}

/// The end of a session.
struct Ended {
    summary: Summary,
    /// The signal that ended the drain, if one did.
    by: Option<Signal>,
    /// True if the worker counts again when the machine is idle.
    is_pause: bool,
}

impl Sessions {
    /// Counts until all units are counted, or the worker is asked to end. Returns the signal that ended its drain.
    ///
    /// # Errors
    /// No worker could continue.
    pub async fn run(mut self, signals: &mut Signals) -> anyhow::Result<(Summary, Option<Signal>)> {
        let notes = Arc::new(Mutex::new(WorkerNotes::new()));
        let mut line = ProgressLine::new();
        let mut sum = Summary::default();
        loop {
            if self.pause(signals).await.is_some() {
                return Ok((sum, None));
            }
            let Ended { summary, by, is_pause } = self.count(signals, &notes, &mut line).await?;
            sum += summary;
            if !is_pause || sum.finished {
                return Ok((sum, by));
            }
        }
    }

    /// Waits until the machine is idle. Returns a signal that comes before.
    async fn pause(&mut self, signals: &mut Signals) -> Option<Signal> {
        tokio::select! {
            () = self.machine.until_known() => {}
            signal = signals.next() => return Some(signal),
        }
        let mut statuses = interval(service_manager::STATUS_EVERY);
        let mut is_logged = false;
        loop {
            tokio::select! {
                biased;
                () = self.machine.until_idle() => return None,
                signal = signals.next() => return Some(signal),
                _ = statuses.tick() => {
                    let machine_use = self.machine.last();
                    service_manager::status(&format!("waits until the machine is idle: {machine_use}"));
                    if !is_logged {
                        is_logged = true;
                        info!("waiting until the machine is idle: {machine_use}");
                    }
                }
            }
        }
    }

    /// Counts until the machine is used, all units are counted, or the worker is asked to end.
    async fn count(
        &mut self,
        signals: &mut Signals,
        notes: &Arc<Mutex<WorkerNotes>>,
        line: &mut ProgressLine,
    ) -> anyhow::Result<Ended> {
        let (remote, noted) = (self.remote.clone(), Arc::clone(notes));
        let lenders: LenderFactory =
            Box::new(move || Arc::new(Observed::new(remote.beside(), Arc::clone(&noted))) as Arc<dyn Lender>);
        let threads = self.members.iter().map(|member| member.config.threads).sum();
        let (wish, wished) = watch::channel(Wish::Stay);
        let mut work = Box::pin(run_members(lenders, Arc::clone(&self.plan), self.members.clone(), wished));
        let mut statuses = interval(service_manager::STATUS_EVERY);
        let (mut by, mut is_pause, mut is_asked) = (None, false, false);
        let summary = loop {
            tokio::select! {
                summary = &mut work => break summary?,
                () = sleep_until(line.due()) => line.show(|| notes.lock().describe(threads)),
                _ = statuses.tick() => service_manager::status(&notes.lock().describe(threads)),
                machine_use = self.machine.until_used(), if !is_pause && !is_asked => {
                    info!("pausing: {machine_use}");
                    is_pause = true;
                    wish.send_replace(Wish::Drain);
                }
                signal = signals.next() => {
                    // At the first signal the worker drains, at the second it leaves.
                    let is_first = !std::mem::replace(&mut is_asked, true);
                    if !is_first && signal == Signal::TimeIsUp {
                        continue;
                    }
                    by = (!is_first).then_some(signal);
                    wish.send_replace(if is_first { Wish::Drain } else { Wish::Leave });
                }
            }
        };
        Ok(Ended { summary, by, is_pause: is_pause && !is_asked })
    }
}
