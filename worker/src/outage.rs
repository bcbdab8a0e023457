//! Waiting for a coordinator that does not answer, or does not record: longer and longer, and for as long as it may.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
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
#[error("gave up after {}s without {awaited}: {why}", after.as_secs_f64())]
pub struct GaveUp {
    /// How long it was waited for.
    pub after: Duration,
    /// What was waited for.
    pub awaited: &'static str,
    /// The last error.
    pub why: String,
}

/// How many of the workers that share this have not waited for too long: as long as one has not, no other gives up.
#[derive(Clone, Debug, Default)]
pub struct Hopeful(Arc<AtomicUsize>);

/// Whether calls get through at the moment.
#[derive(Debug)]
pub struct Outage {
    give_up_after: Option<Duration>,
    awaited: &'static str,
    hopeful: Hopeful,
    /// Whether it is no longer one of them.
    is_hopeless: bool,
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
    /// No outage; with a limit for how long one may be, for one of those that give up together.
    pub fn new(give_up_after: Option<Duration>, hopeful: Hopeful) -> Self {
        Self::of(give_up_after, "an answer from the coordinator", hopeful)
    }

    /// As [`new`](Self::new), of calls that are answered in vain: nothing can be recorded. Each gives up by itself.
    pub fn of_records(give_up_after: Option<Duration>) -> Self {
        Self::of(give_up_after, "what was counted being recorded", Hopeful::default())
    }

    fn of(give_up_after: Option<Duration>, awaited: &'static str, hopeful: Hopeful) -> Self {
        hopeful.0.fetch_add(1, Ordering::Relaxed);
        Self { give_up_after, awaited, hopeful, is_hopeless: false, current: None }
    }

    /// A call got through.
    pub fn over(&mut self) {
        if std::mem::take(&mut self.is_hopeless) {
            self.hopeful.0.fetch_add(1, Ordering::Relaxed);
        }
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
        let Some(after) = self.give_up_after.filter(|_| limit.is_none()) else { return Ok(()) };
        self.lose_hope();
        match self.hopeful.0.load(Ordering::Relaxed) {
            0 => Err(GaveUp { after, awaited: self.awaited, why: why.to_owned() }),
            _ => Ok(()),
        }
    }

    fn lose_hope(&mut self) {
        if !std::mem::replace(&mut self.is_hopeless, true) {
            self.hopeful.0.fetch_sub(1, Ordering::Relaxed);
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

/// Who has left waits for nothing.
impl Drop for Outage {
    fn drop(&mut self) {
        self.lose_hope();
    }
}
