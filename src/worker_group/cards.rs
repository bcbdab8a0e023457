//! The graphics cards of a worker: the requested cards, the kernels built for them, and the messages about
//! unusable cards.

use std::collections::BTreeSet;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread::{self, ScopedJoinHandle};
use std::time::Duration;

use gpu::{Device, GpuError, GpuKernel, devices, kernel_for};
use queens::kernel::Method;
use queens::{Board, Plan, self_test};
use tracing::warn;
use worker::{TEST_HANGS, WorkerError};

use crate::args::Cards;

/// The requested cards.
///
/// # Errors
/// A requested card is missing; or all were requested and none exists.
pub fn cards(wished: &Cards) -> Result<Vec<Device>, GpuError> {
    Ok(match wished {
        Cards::These(numbers) if numbers.is_empty() => Vec::new(),
        Cards::These(numbers) => {
            let all = devices()?;
            let named = |number: &usize| {
                let missing = || GpuError::NoSuchDevice { number: *number, there: all.len() };
                all.get(*number).cloned().ok_or_else(missing)
            };
            let numbers: BTreeSet<&usize> = numbers.iter().collect();
            numbers.into_iter().map(named).collect::<Result<_, _>>()?
        }
        Cards::All => {
            let all = devices()?;
            let (usable, others): (Vec<_>, Vec<_>) =
                all.into_iter().partition(|device| device.description().unusable.is_none());
            let (processors, cards): (Vec<_>, Vec<_>) = usable.into_iter().partition(is_processor);
            match (cards.is_empty(), processors.is_empty()) {
                (false, _) => {
                    others.iter().filter_map(Device::unusable).for_each(|error| warn_card_left_out(&error));
                    cards
                }
                // OpenCL on the processor is slower than the processor's own kernel.
                (true, false) => processors,
                // The reason of one unusable card is enough.
                (true, true) => others.into_iter().take(1).collect(),
            }
        }
    })
}

fn is_processor(device: &Device) -> bool {
    device.description().is_processor()
}

fn warn_card_left_out(error: &GpuError) {
    warn!("the other cards count without this one: {error}");
}

/// Kernels of the method on the requested cards, ready to count the plan; without a method the best one for
/// each card. Each kernel has passed the self-test, so a card that fails or miscounts leaves no run behind.
///
/// # Errors
/// A requested card is unusable; or all were requested and none is usable.
pub fn kernels(
    wished: &Cards,
    cards: Vec<Device>,
    method: Option<Method>,
    plan: &Plan,
) -> Result<Vec<Arc<GpuKernel>>, GpuError> {
    let (plan, board) = (Arc::new(plan.clone()), plan.board());
    let kernel = |card: Device| {
        let (plan, on_card) = (Arc::clone(&plan), card.clone());
        let make = move || match method {
            Some(method) => GpuKernel::new(on_card, method),
            None => kernel_for(on_card, &plan),
        };
        tested(&card, make, board, TEST_HANGS)
    };
    // Each driver compiles for a second or more.
    let made = thread::scope(|scope| {
        let kernel = &kernel;
        let made: Vec<_> = cards.into_iter().map(|card| scope.spawn(move || kernel(card))).collect();
        let ended = |made: ScopedJoinHandle<'_, _>| made.join().unwrap_or_else(|panic| resume_unwind(panic));
        made.into_iter().map(ended).collect()
    });
    let kernels = usable(wished, made)?;
    warn_if_no_card(wished, kernels.iter().map(|kernel| kernel.device()));
    Ok(kernels)
}

/// The kernel, built and self-tested within the time `hangs`. A hanging driver cannot be interrupted, also in
/// the trial that chooses a method, so its thread is abandoned.
fn tested(
    card: &Device,
    make: impl FnOnce() -> Result<GpuKernel, GpuError> + Send + 'static,
    board: Board,
    hangs: Duration,
) -> Result<Arc<GpuKernel>, GpuError> {
    let title = card.title();
    let unusable = move |why: String| GpuError::Unusable { device: title.clone(), why };
    let hangs_so_long = unusable(WorkerError::SelfTestHangs(hangs.as_secs() / 60).to_string());
    let (ends, is_ended) = channel::<()>();
    let test = thread::spawn(move || {
        let _ends = ends;
        let kernel = Arc::new(make()?);
        let found = self_test::run(&*kernel, board);
        match (kernel.failure(), found) {
            (Some(failure), _) => Err(failure.clone()),
            (None, Err(fault)) => Err(unusable(fault.to_string())),
            (None, Ok(_)) => Ok(kernel),
        }
    });
    match is_ended.recv_timeout(hangs) {
        Err(RecvTimeoutError::Timeout) => Err(hangs_so_long),
        _ => test.join().unwrap_or_else(|panic| resume_unwind(panic)),
    }
}

/// Warns if all cards were requested and OpenCL finds only the processor.
pub fn warn_if_no_card<'a>(wished: &Cards, mut cards: impl Iterator<Item = &'a Device>) {
    if *wished == Cards::All && cards.all(is_processor) {
        warn!("OpenCL finds no card here and counts on the processor, slower than diadem does without --gpu");
    }
}

/// The usable ones. If all cards were requested, an unusable card does not stop the others.
fn usable<K>(wished: &Cards, made: Vec<Result<K, GpuError>>) -> Result<Vec<K>, GpuError> {
    if *wished != Cards::All || made.iter().all(Result::is_err) {
        return made.into_iter().collect();
    }
    Ok(made.into_iter().filter_map(|made| made.inspect_err(warn_card_left_out).ok()).collect())
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// All cards; `None` if OpenCL is missing and not required.
    pub fn cards_to_test() -> Option<Vec<Device>> {
        let found = cards(&Cards::All).ok();
        if found.is_none() {
            assert!(std::env::var_os("DIADEM_TEST_TOOLS").is_none(), "there is no OpenCL");
            println!("skipped: there is no OpenCL");
        }
        found
    }

    #[test]
    fn card_failing_the_self_test_is_unusable() {
        let Some(cards) = cards_to_test() else { return };
        let board = Board::new(12).unwrap();
        for card in cards {
            let own = card.clone();
            let kernel = move || GpuKernel::new(own, Method::Search);
            assert!(tested(&card, kernel.clone(), board, TEST_HANGS).is_ok());
            let fails = move || kernel().inspect(|kernel| kernel.fail(GpuError::NoDevices));
            assert_eq!(tested(&card, fails, board, TEST_HANGS).err(), Some(GpuError::NoDevices));
        }
    }

    #[test]
    fn hanging_driver_makes_the_card_unusable() {
        let Some(cards) = cards_to_test() else { return };
        for card in cards {
            let (_ends, is_ended) = channel::<()>();
            let hangs = move || is_ended.recv().map_err(|_| GpuError::NoDevices).and(Err(GpuError::NoOpenCl));
            let unusable = tested(&card, hangs, Board::new(12).unwrap(), Duration::from_millis(10)).err();
            assert!(matches!(unusable, Some(GpuError::Unusable { .. })), "{unusable:?}");
        }
    }

    #[test]
    fn named_cards_must_all_work_and_all_cards_need_not() {
        let (all, some) = (Cards::All, Cards::These(vec![0, 1]));
        let made = [Ok(0), Err(GpuError::NoOpenCl), Ok(2)];
        assert_eq!(usable(&all, made.into()), Ok(vec![0, 2]));
        assert_eq!(usable(&some, vec![Ok(0), Err(GpuError::NoOpenCl)]), Err(GpuError::NoOpenCl));
        let none = vec![Err::<u8, _>(GpuError::NoOpenCl), Err(GpuError::NoDevices)];
        assert_eq!(usable(&all, none), Err(GpuError::NoOpenCl));
        assert_eq!(usable::<u8>(&Cards::These(Vec::new()), Vec::new()), Ok(Vec::new()));
    }
}
