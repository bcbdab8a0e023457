//! The ending of a run: waited for, and turned into its answer.

use anyhow::Context;
use coordinator::{Answer, Ending, Handle};

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
