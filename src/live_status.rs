//! The live status of a run, through outages and changes of the coordinator.

use std::collections::BTreeSet;
use std::time::Duration;

use domain::{Phase, RunStatus, Term};
use tokio::sync::watch;
use tokio::time::{Instant, sleep};
use tracing::debug;
use worker::{CoordinatorError, Remote, TwoRuns};

use crate::log::say;

/// The pause between two attempts to reach an absent coordinator.
const RETRY_PAUSE: Duration = Duration::from_secs(1);

/// The last known state of a run.
#[derive(Clone, Debug, Default)]
pub struct LiveStatus {
    /// Its last status.
    pub status: Option<RunStatus>,
    /// The address of the coordinator that sent it.
    pub address: String,
    /// The news that another coordinator serves the run, and when it was noticed.
    pub news: Option<(Instant, String)>,
    /// Since when the coordinator does not answer, or refuses temporarily, and the reason.
    pub gone: Option<(Instant, String)>,
}

impl LiveStatus {
    /// Whether the run has ended.
    pub fn has_ended(&self) -> bool {
        self.phase().is_some_and(|phase| matches!(phase, Phase::Complete | Phase::Withheld))
    }

    /// The last known phase of the run.
    pub fn phase(&self) -> Option<Phase> {
        self.status.as_ref().map(|status| status.phase)
    }

    /// Stores the status from the coordinator at that address.
    ///
    /// # Errors
    /// The status is of another run at another address; the shown run may still be served at its own address.
    fn update(&mut self, address: &str, status: RunStatus) -> Result<(), TwoRuns> {
        if let Some(before) = &self.status {
            let (known, now) = (before.term, status.term);
            let is_another = known
                .zip(now)
                .map_or(self.address != address, |(known, now)| known.coordinator != now.coordinator);
            let is_of_another_run = before.fingerprint != status.fingerprint || before.run != status.run;
            if is_of_another_run && self.address != address {
                return Err(TwoRuns(self.address.clone(), address.to_owned()));
            }
            let in_term = |term: Option<Term>| {
                term.map_or_else(String::new, |term| format!(" in term {}", term.number))
            };
            let news = if is_of_another_run {
                Some(format!("{address} serves another run now, which is shown from now on"))
            } else if is_another {
                let (now, known, before) = (in_term(now), in_term(known), &self.address);
                Some(format!("{address} serves the run{now} now; before it was {before}{known}"))
            } else {
                None
            };
            self.news = news.map(|news| (Instant::now(), news)).or(self.news.take());
        }
        address.clone_into(&mut self.address);
        (self.status, self.gone) = (Some(status), None);
        Ok(())
    }

    /// Notes that the coordinator does not answer; ignored after the end of the run.
    fn mark_lost(&mut self, why: String) {
        if self.has_ended() {
            return;
        }
        let since = self.gone.as_ref().map_or_else(Instant::now, |(since, _)| *since);
        self.gone = Some((since, why));
    }
}

/// Sends all updates until the coordinator refuses. Retries if the coordinator is absent and, after a first
/// status, if its refusal may be temporary. Ends if two runs are found at the addresses.
pub async fn watch(remote: Remote, updates: watch::Sender<LiveStatus>) -> anyhow::Error {
    loop {
        let why = match watch_once(&remote, &updates).await {
            Ok(CoordinatorError::Unavailable(why)) => why,
            Ok(error) => return error.into(),
            Err(error) => return error.into(),
        };
        updates.send_modify(|live| live.mark_lost(why));
        sleep(RETRY_PAUSE).await;
    }
}

/// Sends updates until the call fails, and returns the reason.
async fn watch_once(
    remote: &Remote,
    updates: &watch::Sender<LiveStatus>,
) -> Result<CoordinatorError, TwoRuns> {
    remote.call_highest_term().await?;
    let mut feed = match remote.watch().await {
        Ok(feed) => feed,
        Err(error) => return Ok(error),
    };
    loop {
        match feed.next().await {
            Ok(status) => {
                let mut seen = Ok(());
                updates.send_modify(|live| seen = live.update(&remote.address(), status));
                seen?;
            }
            Err(error) => return Ok(error),
        }
    }
}

/// The warnings printed so far, so that none is repeated.
#[derive(Default)]
pub struct Warnings {
    coordinator: Option<String>,
    /// Why the coordinator does not answer: several addresses may fail for several reasons, in turn.
    reasons: BTreeSet<String>,
    has_seen_run: bool,
}

impl Warnings {
    /// Prints what is new: the coordinator does not answer, or answers again, or another coordinator serves the run.
    pub fn print_news(&mut self, sight: &LiveStatus) {
        match &sight.gone {
            Some((_, why)) if self.reasons.insert(why.clone()) => {
                say(format_args!("diadem: warning: no status, trying again: {why}"));
            }
            None if !self.reasons.is_empty() => {
                self.reasons.clear();
                say(format_args!("diadem: the coordinator answers again"));
            }
            _ => {}
        }
        let news = sight.news.as_ref().map(|(_, news)| news.clone());
        if let Some(news) = news.as_ref().filter(|news| self.coordinator.as_ref() != Some(*news)) {
            say(format_args!("diadem: warning: {news}"));
        }
        self.coordinator = news;
        if !self.has_seen_run && sight.status.is_some() {
            self.has_seen_run = true;
            debug!("waiting for the end of the run at {}", sight.address);
        }
    }
}

#[cfg(test)]
mod tests {
    use domain::{CoordinatorId, RunId};

    use super::*;
    use crate::samples::{finished, running};

    const PLACES: [&str; 2] = ["http://a:1", "http://b:1"];

    fn of_term(number: u64) -> RunStatus {
        let coordinator = CoordinatorId(u128::from(number));
        RunStatus { term: Some(Term { number, coordinator, proof: 0 }), ..running() }
    }

    fn news(seen: &[(&str, RunStatus)]) -> Option<String> {
        let mut live = LiveStatus::default();
        seen.iter().for_each(|(address, status)| live.update(address, status.clone()).unwrap());
        live.news.map(|(_, news)| news)
    }

    #[test]
    fn new_coordinator_is_news_but_new_address_is_not() {
        let [a, b] = PLACES;
        assert_eq!(news(&[(a, of_term(1)), (a, of_term(1)), (b, of_term(1))]), None);
        let taken_over = "http://b:1 serves the run in term 2 now; before it was http://a:1 in term 1";
        assert_eq!(news(&[(a, of_term(1)), (b, of_term(2)), (b, of_term(2))]).unwrap(), taken_over);
        let again = "http://a:1 serves the run in term 2 now; before it was http://a:1 in term 1";
        assert_eq!(news(&[(a, of_term(1)), (a, of_term(2))]).unwrap(), again);
        let nameless = || RunStatus { term: None, ..running() };
        assert_eq!(news(&[(a, nameless()), (a, nameless())]), None);
        let unsaid = "http://b:1 serves the run now; before it was http://a:1";
        assert_eq!(news(&[(a, nameless()), (b, nameless())]).unwrap(), unsaid);
    }

    #[test]
    fn new_run_is_shown_only_at_the_address_of_the_old() {
        let [a, b] = PLACES;
        let other = RunStatus { run: Some(RunId(1)), ..of_term(1) };
        assert!(news(&[(a, of_term(4)), (a, other.clone())]).unwrap().contains("another run now"));
        let mut live = LiveStatus::default();
        assert_eq!(live.update(a, of_term(4)), Ok(()));
        assert_eq!(live.update(b, other), Err(TwoRuns(a.into(), b.into())));
    }

    #[test]
    fn lost_coordinator_after_the_end_is_no_news() {
        let of =
            |phase| LiveStatus { status: Some(RunStatus { phase, ..finished() }), ..LiveStatus::default() };
        for (phase, is_missed) in
            [(Phase::Counting, true), (Phase::Complete, false), (Phase::Withheld, false)]
        {
            let mut live = of(phase);
            live.mark_lost("it has ended".into());
            assert_eq!(live.gone.is_some(), is_missed, "{phase:?}");
        }
    }
}
