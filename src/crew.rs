//! Several workers in one process: one for the processor's threads, one for each graphics card. They share the way to the
//! coordinator and nothing else, so that a card that fails leaves alone.

use std::sync::Arc;
use std::time::Duration;

use gpu::GpuSearch;
use queens::Plan;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::interval;
use tracing::error;
use worker::{Config, Lender, Summary, Wish, WorkerError};

/// Counts that a card is given at a time: it goes on with one while the host prepares the other.
pub const COUNTS_OF_CARD: u32 = 2;

/// How often it is looked at whether a card still does what it is asked.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// One of the workers.
pub struct Member {
    /// What makes it.
    pub config: Config,
    /// The card that it counts on, if it is one.
    pub card: Option<Arc<GpuSearch>>,
}

/// Runs all of them until each has left; what they have done, together.
///
/// # Errors
/// None of them could go on: why the last one left.
pub async fn work(
    lender: Arc<dyn Lender>,
    plan: Arc<Plan>,
    members: Vec<Member>,
    wish: watch::Receiver<Wish>,
) -> anyhow::Result<Summary> {
    let mut at_work = JoinSet::new();
    for member in members {
        at_work.spawn(one(Arc::clone(&lender), Arc::clone(&plan), member, wish.clone()));
    }
    let (mut sum, mut last_error, mut any) = (Summary::default(), None, false);
    while let Some(ended) = at_work.join_next().await {
        match ended? {
            Ok(Summary { units, finished, broken_off }) => {
                any = true;
                sum.units += units;
                sum.finished |= finished;
                sum.broken_off += broken_off;
            }
            Err(error) => last_error = Some(error),
        }
    }
    match last_error {
        Some(error) if !any => Err(error),
        _ => Ok(sum),
    }
}

/// Runs one of them. What makes it leave for good while others go on is said at once.
async fn one(
    lender: Arc<dyn Lender>,
    plan: Arc<Plan>,
    Member { config, card }: Member,
    mut wish: watch::Receiver<Wish>,
) -> anyhow::Result<Summary> {
    let machine = config.machine.clone();
    let (own_wish, wished) = watch::channel(*wish.borrow_and_update());
    let mut work = worker::run(lender, plan, config, wished);
    let mut looks = interval(LOOK_EVERY);
    let ended = loop {
        tokio::select! {
            ended = &mut work => break ended,
            Ok(()) = wish.changed() => drop(own_wish.send_replace(*wish.borrow_and_update())),
            _ = looks.tick(), if has_failed(card.as_deref()) => drop(own_wish.send_replace(Wish::Leave)),
        }
    };
    let failure = card.as_ref().and_then(|card| card.failure());
    let ended = match (ended, failure) {
        (_, Some(failure)) => Err(anyhow::Error::new(failure.clone())),
        (ended, None) => ended.map_err(anyhow::Error::new),
    };
    if let Err(error) = &ended
        && !matches!(error.downcast_ref(), Some(WorkerError::GaveUp(_)))
    {
        error!(machine, "leaves, its units are given back: {error}");
    }
    ended
}

fn has_failed(card: Option<&GpuSearch>) -> bool {
    card.is_some_and(|card| card.failure().is_some())
}
