//! Waiting for a coordinator that does not answer, or does not record: longer and longer, and for as long as it may.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

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
#[error("gave up after {after:?} without {awaited}: {why}")]
pub struct GaveUp {
    /// How long it was waited for.
    pub after: Duration,
    /// What was waited for.
    pub awaited: &'static str,
    /// The last error.
    pub why: String,
}

/// When a call got through last, of all that share this.
#[derive(Clone, Debug, Default)]
pub struct LastAnswer(Arc<Mutex<Option<Instant>>>);

impl LastAnswer {
    fn note(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }

    fn get(&self) -> Option<Instant> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether calls get through at the moment.
#[derive(Debug)]
pub struct Outage {
    give_up_after: Option<Duration>,
    awaited: &'static str,
    last_answer: LastAnswer,
    /// Since when they do not, and until when none is made.
    current: Option<Current>,
}

#[derive(Debug)]
struct Current {
    since: Instant,
    wait: Duration,
    until: Instant,
}

impl Outage {
    /// No outage; with a limit for how long one may be.
    pub fn new(give_up_after: Option<Duration>) -> Self {
        Self::shared(give_up_after, LastAnswer::default())
    }

    /// As [`new`](Self::new), but it has not lasted long where others that share the last answer have just had one.
    pub fn shared(give_up_after: Option<Duration>, last_answer: LastAnswer) -> Self {
        Self { give_up_after, awaited: "an answer from the coordinator", last_answer, current: None }
    }

    /// As [`new`](Self::new), of calls that are answered in vain: nothing can be recorded.
    pub fn of_records(give_up_after: Option<Duration>) -> Self {
        Self { awaited: "what was counted being recorded", ..Self::new(give_up_after) }
    }

    /// A call got through.
    pub fn over(&mut self) {
        self.last_answer.note();
        if let Some(outage) = self.current.take() {
            info!(seconds = outage.since.elapsed().as_secs_f64(), "the coordinator answers again");
        }
    }

    /// A call did not get through. Whoever goes on all the same when an outage has lasted too long is told so by each
    /// further call.
    ///
    /// # Errors
    /// If the outage has lasted as long as one may.
    pub fn failed(&mut self, why: &str) -> Result<(), GaveUp> {
        let now = Instant::now();
        let (since, wait) = match &self.current {
            None => {
                warn!("waiting for the coordinator: {why}");
                (now, FIRST_WAIT)
            }
            // Calls made before the outage was noticed fail too; they say nothing new.
            Some(outage) if now < outage.until => return Ok(()),
            Some(outage) => (outage.since, (outage.wait * 2).min(LONGEST_WAIT)),
        };
        let jitter = rand::rng().random_range(0.75..1.25);
        let mut until = now + wait.mul_f64(jitter);
        let silent_since = self.last_answer.get().map_or(since, |answered| since.max(answered));
        let limit = self.give_up_after.filter(|limit| now - silent_since < *limit);
        if let Some(limit) = limit {
            until = until.min(silent_since + limit);
        }
        self.current = Some(Current { since, wait, until });
        match self.give_up_after {
            Some(after) if limit.is_none() => Err(GaveUp { after, awaited: self.awaited, why: why.to_owned() }),
            _ => Ok(()),
        }
    }

    /// Whether the last call did not get through.
    pub fn is_on(&self) -> bool {
        self.current.is_some()
    }

    /// For how long no call has got through.
    pub fn lasts(&self) -> Duration {
        self.current.as_ref().map_or(Duration::ZERO, |outage| outage.since.elapsed())
    }

    /// Until when no call is to be made.
    pub fn until(&self) -> Option<Instant> {
        self.current.as_ref().map(|outage| outage.until).filter(|until| *until > Instant::now())
    }
}
