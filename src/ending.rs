//! The ending of a run: waited for, turned into its answer, and the run let go of.

use std::pin::pin;
use std::time::Duration;

use anyhow::Context;
use coordinator::{Ending, Handle};
use records::Answer;
use thiserror::Error;
use tokio::time::{sleep, timeout};

use crate::log::say;
use crate::signals::Signals;

/// A run that is closed within this time is not reported as hanging; a checkpoint may take as long.
const PROMPT_CLOSE_TIME: Duration = Duration::from_secs(5);

/// How much longer a hanging disk is awaited. Service managers kill after thirty seconds.
const HANGING_DISK_TIMEOUT: Duration = Duration::from_secs(15);

/// The disk of a run hangs, and is not waited for any more.
#[derive(Debug, Error)]
#[error("ended without the disk of the run, which does not answer; nothing that was acknowledged is lost")]
pub struct DiskHangs;

/// Waits for the ending of a run.
pub async fn of(handle: &Handle) -> anyhow::Result<Ending> {
    let mut snapshots = handle.snapshots();
    let snapshot = snapshots
        .wait_for(|snapshot| snapshot.ending.is_some())
        .await
        .context("the coordinator has ended")?;
    snapshot.ending.clone().context("the run has no ending")
}

/// The answer of a run, if it has one.
pub fn answer(ending: Ending) -> anyhow::Result<Box<Answer>> {
    match ending {
        Ending::Answered(answer) => Ok(answer),
        Ending::Withheld(why) => Err(anyhow::Error::new(why).context("the answer is withheld")),
    }
}

/// Saves and closes the run.
///
/// # Errors
/// Its disk still hangs after [`HANGING_DISK_TIMEOUT`], or a signal came after the hang was reported.
pub async fn close(handle: &Handle, signals: &mut Signals) -> Result<(), DiskHangs> {
    close_or_give_up(handle.close(), signals.next_sent()).await
}

async fn close_or_give_up(closing: impl Future<Output = ()>, signal: impl Future) -> Result<(), DiskHangs> {
    let mut closing = pin!(closing);
    if timeout(PROMPT_CLOSE_TIME, &mut closing).await.is_ok() {
        return Ok(());
    }
    say(format_args!(
        "diadem: waiting for the disk of the run, which does not answer; nothing that was acknowledged is lost; ends without it in \
         {} s, or at once on another signal",
        HANGING_DISK_TIMEOUT.as_secs()
    ));
    tokio::select! {
        biased;
        () = &mut closing => Ok(()),
        _ = signal => Err(DiskHangs),
        () = sleep(HANGING_DISK_TIMEOUT) => Err(DiskHangs),
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};

    use tokio::time::Instant;

    use super::*;

    async fn ends(closing: impl Future<Output = ()>, signal: impl Future) -> (bool, Duration) {
        let begun = Instant::now();
        (close_or_give_up(closing, signal).await.is_ok(), begun.elapsed())
    }

    #[tokio::test(start_paused = true)]
    async fn hanging_disk_is_awaited_for_a_bounded_time() {
        assert_eq!(ends(ready(()), ready(())).await, (true, Duration::ZERO));
        assert_eq!(ends(sleep(PROMPT_CLOSE_TIME / 2), ready(())).await, (true, PROMPT_CLOSE_TIME / 2));
        assert_eq!(ends(pending(), ready(())).await, (false, PROMPT_CLOSE_TIME));
        assert_eq!(ends(sleep(2 * PROMPT_CLOSE_TIME), pending::<()>()).await, (true, 2 * PROMPT_CLOSE_TIME));
        assert_eq!(ends(pending(), pending::<()>()).await, (false, PROMPT_CLOSE_TIME + HANGING_DISK_TIMEOUT));
    }
}
