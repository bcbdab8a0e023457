//! Waiting for a coordinator that does not answer, or does not record: longer and longer, and for as long as it may.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use rand::RngExt;
use thiserror::Error;
use tokio::time::Instant;
use tracing::{info, warn};

/// The first wait; each further one is twice as long.
const FIRST_WAIT: Duration = Duration::from_millis(5);

/// No wait is longer.
const LONGEST_WAIT: Duration = Duration::from_secs(3);

/// The coordinator did not answer, or not record, for as long as the worker was to wait.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("gave up after {}s without {awaited}: {why}", tenths(*after))]
pub struct GaveUp {
    /// How long it was waited for: since the call was made that failed first, or was to be answered.
    pub after: Duration,
    /// The awaited action.
    pub awaited: &'static str,
    /// The last error.
    pub why: String,
}

/// Whole tenths of a second.
fn tenths(time: Duration) -> f64 {
    (time.as_secs_f64() * 10.0).floor() / 10.0
}

/// How many of the workers that share this still wait: as long as one does, no other gives up.
#[derive(Clone, Debug, Default)]
pub struct Hopeful(Arc<AtomicUsize>);

/// Whether calls get through at the moment.
#[derive(Debug)]
pub struct Outage {
    give_up_after: Option<Duration>,
    awaited: &'static str,
    hopeful: Hopeful,
    /// Whether this worker has waited for too long.
    is_hopeless: bool,
    logged: Arc<Mutex<Logged>>,
    /// When a call last got through.
    answered: Option<Instant>,
    current: Option<Current>,
}

/// How many outages last that are logged as one, and why.
#[derive(Debug, Default)]
struct Logged {
    outages: usize,
    why: String,
}

#[derive(Debug)]
struct Current {
    since: Instant,
    wait: Duration,
    /// No call is made until then.
    until: Instant,
}

impl Outage {
    /// No outage. An outage may last for `give_up_after`, or until the last worker that shares `hopeful` gives up.
    pub fn new(give_up_after: Option<Duration>, hopeful: Hopeful) -> Self {
        Self::of(give_up_after, "an answer from the coordinator", hopeful, Arc::default())
    }

    /// Another one, of calls that are answered although nothing can be recorded. Each gives up by itself. While both last, one is
    /// logged.
    #[must_use]
    pub fn of_records(&self, give_up_after: Option<Duration>) -> Self {
        let awaited = "a record of its counts";
        Self::of(give_up_after, awaited, Hopeful::default(), Arc::clone(&self.logged))
    }

    fn of(
        give_up_after: Option<Duration>,
        awaited: &'static str,
        hopeful: Hopeful,
        logged: Arc<Mutex<Logged>>,
    ) -> Self {
        hopeful.0.fetch_add(1, Ordering::Relaxed);
        Self { give_up_after, awaited, hopeful, is_hopeless: false, logged, answered: None, current: None }
    }

    /// A call got through.
    pub fn over(&mut self) {
        if std::mem::take(&mut self.is_hopeless) {
            self.hopeful.0.fetch_add(1, Ordering::Relaxed);
        }
        self.answered = Some(Instant::now());
        let Some(outage) = self.current.take() else { return };
        let mut logged = self.logged.lock();
        logged.outages -= 1;
        if logged.outages == 0 {
            info!(seconds = outage.since.elapsed().as_secs_f64(), "the coordinator answers again");
        }
    }

    /// A call failed that should have been answered at `due`. One failed call ends nothing: a suspended worker has not waited. If the
    /// caller continues after an outage that lasted too long, each further call fails the same way.
    ///
    /// # Errors
    /// The outage has lasted as long as it may.
    pub fn failed(&mut self, due: Instant, why: &str) -> Result<(), GaveUp> {
        let now = Instant::now();
        let (since, wait) = match &self.current {
            None => {
                self.log(why);
                let since = self.answered.map_or(due, |answered| answered.max(due)).min(now);
                self.current = Some(Current { since, wait: FIRST_WAIT, until: now + FIRST_WAIT });
                return Ok(());
            }
            // A call from before the outage was noticed has no news.
            Some(outage) if now < outage.until => return Ok(()),
            Some(outage) => (outage.since, (outage.wait * 2).min(LONGEST_WAIT)),
        };
        let jitter = rand::rng().random_range(0.75..1.25);
        let mut until = now + wait.mul_f64(jitter);
        let limit = self.give_up_after.filter(|limit| now - since < *limit);
        if let Some(limit) = limit {
            until = until.min(since + limit);
        }
        self.current = Some(Current { since, wait, until });
        if self.give_up_after.is_none() || limit.is_some() {
            return Ok(());
        }
        self.stop_waiting();
        match self.hopeful.0.load(Ordering::Relaxed) {
            0 => Err(GaveUp { after: now - since, awaited: self.awaited, why: why.to_owned() }),
            _ => Ok(()),
        }
    }

    /// Logs that an outage begins, unless another one lasts for the same reason.
    fn log(&self, why: &str) {
        let mut logged = self.logged.lock();
        if logged.outages == 0 || logged.why != why {
            warn!("waiting for the coordinator: {why}");
            why.clone_into(&mut logged.why);
        }
        logged.outages += 1;
    }

    fn stop_waiting(&mut self) {
        if !std::mem::replace(&mut self.is_hopeless, true) {
            self.hopeful.0.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Whether the last call failed.
    pub fn is_on(&self) -> bool {
        self.current.is_some()
    }

    /// Whether a call has got through since then.
    pub fn is_answered_since(&self, then: Instant) -> bool {
        self.answered.is_some_and(|answered| answered >= then)
    }

    /// The time since the last successful call.
    pub fn lasts(&self) -> Duration {
        self.current.as_ref().map_or(Duration::ZERO, |outage| outage.since.elapsed())
    }

    /// The time before which no call should be made.
    pub fn until(&self) -> Option<Instant> {
        self.current.as_ref().map(|outage| outage.until).filter(|until| *until > Instant::now())
    }
}

/// A worker that has left does not wait.
impl Drop for Outage {
    fn drop(&mut self) {
        self.stop_waiting();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn outage_lasts_since_the_first_failed_call_was_made() {
        let limit = Duration::from_secs(3);
        let outage = || Outage::new(Some(limit), Hopeful::default());
        let made = Instant::now();
        tokio::time::advance(Duration::from_millis(24_060)).await;
        let mut suspended = outage();
        assert_eq!(suspended.failed(made, "no answer in time"), Ok(()), "it may have been suspended");
        tokio::time::advance(FIRST_WAIT).await;
        let gave_up = suspended.failed(Instant::now(), "nobody there").unwrap_err();
        assert_eq!(
            gave_up.to_string(),
            "gave up after 24s without an answer from the coordinator: nobody there"
        );
        let mut answered = outage();
        answered.over();
        assert_eq!(answered.failed(made, "no answer in time"), Ok(()));
        assert_eq!(answered.lasts(), Duration::ZERO);
        let mut to_come = outage();
        assert_eq!(to_come.failed(Instant::now() + limit, "the connection was cut"), Ok(()));
        assert_eq!(to_come.lasts(), Duration::ZERO, "it was not to be answered yet");
    }

    #[tokio::test]
    async fn two_outages_for_one_reason_are_logged_once() {
        let mut outage = Outage::new(None, Hopeful::default());
        let mut of_records = outage.of_records(None);
        let logged = Arc::clone(&outage.logged);
        let on = || logged.lock().outages;
        of_records.failed(Instant::now(), "nobody there").unwrap();
        outage.failed(Instant::now(), "nobody there").unwrap();
        assert_eq!(on(), 2, "the second one is not logged");
        outage.over();
        outage.over();
        assert_eq!(on(), 1, "nor its end");
        of_records.over();
        assert_eq!(on(), 0);
    }
}
