//! A run that is watched: its status as it comes, through all that happens to the coordinator meanwhile.

use std::time::Duration;

use domain::{Phase, RunStatus, Term};
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
    /// The address that it came from.
    pub address: String,
    /// That another coordinator than before serves it, and since when that is seen, if it has been so.
    pub news: Option<(Instant, String)>,
    /// Since when the coordinator does not answer, or refuses in a way that may pass, and why, if that is so.
    pub gone: Option<(Instant, String)>,
}

impl Sight {
    /// Whether nothing more will happen.
    pub fn has_ended(&self) -> bool {
        self.phase().is_some_and(|phase| matches!(phase, Phase::Complete | Phase::Withheld))
    }

    /// How far the run had come when it was last seen.
    pub fn phase(&self) -> Option<Phase> {
        self.status.as_ref().map(|status| status.phase)
    }

    /// The coordinator at that address says where its run stands.
    ///
    /// # Errors
    /// It is another run than was shown, which was served elsewhere, and may go on there.
    fn see(&mut self, address: &str, status: RunStatus) -> Result<(), TwoRuns> {
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
    remote.call_highest_term().await?;
    let mut feed = match remote.watch().await {
        Ok(feed) => feed,
        Err(error) => return Ok(error),
    };
    loop {
        match feed.next().await {
            Ok(status) => {
                let mut seen = Ok(());
                sights.send_modify(|sight| seen = sight.see(remote.address(), status));
                seen?;
            }
            Err(error) => return Ok(error),
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
        let mut sight = Sight::default();
        seen.iter().for_each(|(address, status)| sight.see(address, status.clone()).unwrap());
        sight.news.map(|(_, news)| news)
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
        let mut sight = Sight::default();
        assert_eq!(sight.see(a, of_term(4)), Ok(()));
        assert_eq!(sight.see(b, other), Err(TwoRuns(a.into(), b.into())));
    }

    #[test]
    fn lost_coordinator_after_the_end_is_no_news() {
        let of = |phase| Sight { status: Some(RunStatus { phase, ..finished() }), ..Sight::default() };
        for (phase, is_missed) in
            [(Phase::Counting, true), (Phase::Complete, false), (Phase::Withheld, false)]
        {
            let mut sight = of(phase);
            sight.lost("it has ended".into());
            assert_eq!(sight.gone.is_some(), is_missed, "{phase:?}");
        }
    }
}
