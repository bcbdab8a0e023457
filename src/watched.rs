//! A run that is watched: its status as it comes, through all that happens to the coordinator meanwhile.

use std::time::Duration;

use proto::{Phase, RunStatus};
use tokio::sync::watch;
use tokio::time::{Instant, sleep};
use worker::{CoordinatorError, Remote, TwoRuns};

/// Between two attempts to reach a coordinator that is gone.
const AGAIN: Duration = Duration::from_secs(1);

/// What is seen of a run.
#[derive(Clone, Debug, Default)]
pub struct Sight {
    /// Its last status.
    pub status: Option<RunStatus>,
    /// Since when the coordinator does not answer, or refuses in a way that may pass, and why, if that is so.
    pub gone: Option<(Instant, String)>,
}

impl Sight {
    /// Whether anything has been seen yet, if only that nobody answers.
    pub fn is_something(&self) -> bool {
        self.status.is_some() || self.gone.is_some()
    }

    /// Whether nothing more will happen.
    pub fn has_ended(&self) -> bool {
        self.phase().is_some_and(|phase| matches!(phase, Phase::Complete | Phase::Withheld))
    }

    /// How far the run had come when it was last seen.
    pub fn phase(&self) -> Option<Phase> {
        self.status.as_ref().map(|status| status.phase)
    }

    /// The coordinator does not answer; after the end of the run that is no news.
    fn lost(&mut self, why: String) {
        if self.has_ended() {
            return;
        }
        let since = self.gone.as_ref().map_or_else(Instant::now, |(since, _)| *since);
        self.gone = Some((since, why));
    }
}

/// Tells all that is seen until the coordinator refuses; one that is gone is called again and again, and, once something was seen, one
/// whose refusal may pass by itself. Or until two runs are met at the addresses.
pub async fn watch(remote: Remote, sights: watch::Sender<Sight>) -> anyhow::Error {
    loop {
        let why = match one_call(&remote, &sights).await {
            Ok(CoordinatorError::Unavailable(why)) => why,
            Ok(error) => return error.into(),
            Err(error) => return error.into(),
        };
        sights.send_modify(|sight| sight.lost(why));
        sleep(AGAIN).await;
    }
}

/// Tells what is seen until the call fails, and why it does.
async fn one_call(remote: &Remote, sights: &watch::Sender<Sight>) -> Result<CoordinatorError, TwoRuns> {
    remote.call_youngest().await?;
    let mut feed = match remote.watch().await {
        Ok(feed) => feed,
        Err(error) => return Ok(error),
    };
    loop {
        match feed.next().await {
            Ok(status) => sights.send_replace(Sight { status: Some(status), gone: None }),
            Err(error) => return Ok(error),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::finished;

    #[test]
    fn a_coordinator_that_leaves_after_the_end_of_the_run_is_not_missed() {
        let of = |phase| Sight { status: Some(RunStatus { phase, ..finished() }), gone: None };
        for (phase, is_missed) in
            [(Phase::Counting, true), (Phase::Complete, false), (Phase::Withheld, false)]
        {
            let mut sight = of(phase);
            sight.lost("it has ended".into());
            assert_eq!(sight.gone.is_some(), is_missed, "{phase:?}");
        }
    }
}
