//! Several workers in one process: one for the processor's threads, one for each graphics card. They share the way to the
//! coordinator and nothing else, so that a card that fails leaves alone.

use std::sync::Arc;
use std::time::Duration;

use gpu::{Device, GpuError, GpuSearch, devices};
use queens::Plan;
use queens::kernel::Kernel;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::interval;
use tracing::error;
use worker::{Config, Lender, Summary, Wish, WorkerError};

use crate::args::Cards;

/// Counts that a card is given at a time: it goes on with one while the host prepares the other.
const COUNTS_OF_CARD: u32 = 2;

/// How often it is looked at whether a card still does what it is asked.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// One of the workers.
pub struct Member {
    /// What makes it.
    pub config: Config,
    /// The card that it counts on, if it is one.
    pub card: Option<Arc<GpuSearch>>,
}

/// The kernels of the cards that were asked for, ready to count.
///
/// # Errors
/// One of them is not there, or cannot be used; or all were asked for and there is none.
pub fn cards(wished: &Cards) -> Result<Vec<Arc<GpuSearch>>, GpuError> {
    let chosen: Vec<Device> = match wished {
        Cards::These(numbers) if numbers.is_empty() => return Ok(Vec::new()),
        Cards::These(numbers) => {
            let all = devices()?;
            let named = |number: &usize| {
                let missing = || GpuError::NoSuchDevice { number: *number, there: all.len() };
                all.get(*number).cloned().ok_or_else(missing)
            };
            numbers.iter().map(named).collect::<Result<_, _>>()?
        }
        Cards::All => {
            devices()?.into_iter().filter(|device| device.description().unusable.is_none()).collect()
        }
    };
    if chosen.is_empty() {
        return Err(GpuError::NoDevices);
    }
    chosen.into_iter().map(|device| GpuSearch::new(device).map(Arc::new)).collect()
}

/// The processor's worker and one for each card, which is a machine of its own: `host/gpu0`. With cards there is one for
/// the processor only where that is wished.
pub fn members(processor: Config, cards: Vec<Arc<GpuSearch>>, with_processor: bool) -> Vec<Member> {
    let on_card = |card: Arc<GpuSearch>| {
        let number = card.device().number();
        let config = Config {
            name: format!("{}/gpu{number}", processor.name),
            machine: format!("{}/gpu{number}", processor.machine),
            threads: COUNTS_OF_CARD,
            kernel: Arc::clone(&card) as Arc<dyn Kernel>,
            ..processor.clone()
        };
        Member { config, card: Some(card) }
    };
    let mut members: Vec<Member> = cards.into_iter().map(on_card).collect();
    if members.is_empty() || with_processor {
        members.push(Member { config: processor, card: None });
    }
    members
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
