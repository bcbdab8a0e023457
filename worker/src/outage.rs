//! Waiting for a coordinator that does not answer: longer and longer, and for as long as it may.

use std::time::Duration;

use rand::RngExt;
use thiserror::Error;
use tokio::time::Instant;
use tracing::{info, warn};

/// The first wait; each further one is twice as long.
const FIRST_WAIT: Duration = Duration::from_millis(5);

/// No wait is longer.
const LONGEST_WAIT: Duration = Duration::from_secs(3);

/// The coordinator did not answer for as long as the worker was to wait.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("gave up after {after:?} without an answer from the coordinator: {why}")]
pub struct GaveUp {
    /// How long it was waited for.
    pub after: Duration,
    /// The last error.
    pub why: String,
}

/// Whether calls get through at the moment.
#[derive(Debug)]
pub struct Outage {
    give_up_after: Option<Duration>,
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
        Self { give_up_after, current: None }
    }

    /// A call got through.
    pub fn over(&mut self) {
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
        let limit = self.give_up_after.filter(|limit| now - since < *limit);
        if let Some(limit) = limit {
            until = until.min(since + limit);
        }
        self.current = Some(Current { since, wait, until });
        match self.give_up_after {
            Some(after) if limit.is_none() => Err(GaveUp { after, why: why.to_owned() }),
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
