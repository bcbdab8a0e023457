//! `diadem status --wait`: waits for the end of the run, for scripts.

use std::future::pending;
use std::time::Duration;

use anyhow::{anyhow, bail};
use domain::RunStatus;
use tokio::sync::watch;
use tokio::time::sleep_until;
use worker::Remote;

use crate::live_status::{self, LiveStatus, Warnings};

/// Waits until the run has ended, and returns its last status. Meanwhile it prints warnings only: that the coordinator does
/// not answer, or that another one serves the run.
///
/// # Errors
/// The coordinator refuses, or has not answered for `give_up_after`: it waits at the end for workers and followers, but
/// not for observers, so it may have left.
pub async fn until_ended(remote: Remote, give_up_after: Duration) -> anyhow::Result<RunStatus> {
    let (sender, mut sights) = watch::channel(LiveStatus::default());
    let watching = live_status::watch(remote, sender);
    tokio::pin!(watching);
    let mut warnings = Warnings::default();
    loop {
        let sight = sights.borrow_and_update().clone();
        warnings.print_news(&sight);
        if sight.has_ended() {
            return sight.status.ok_or_else(|| anyhow!("a run that has ended has a status"));
        }
        let gives_up = async {
            match &sight.gone {
                Some((since, _)) => sleep_until(*since + give_up_after).await,
                None => pending().await,
            }
        };
        tokio::select! {
            refused = &mut watching => return Err(refused),
            changed = sights.changed() => changed?,
            () = gives_up => {
                let why = sight.gone.map(|(_, why)| why).unwrap_or_default();
                bail!(
                    "gave up after {}s without a status: {why}; if the run has ended, its directory has the answer: diadem verify RUN",
                    give_up_after.as_secs()
                );
            }
        }
    }
}
