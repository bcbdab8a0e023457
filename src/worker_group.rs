//! Several workers in one process: one for the processor's threads, one for each graphics card. They share the process and
//! nothing else, so that a card that fails or is refused leaves alone.

mod cards;

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use anyhow::ensure;
use domain::{NAME_BYTES, Vendor, card_name, is_name};
use gpu::GpuKernel;
use queens::Plan;
use queens::kernel::Kernel;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::interval;
use tracing::{error, warn};
use worker::{Config, Lender, Summary, Wish, WorkerError};

use crate::external::ExternalKernel;

pub use cards::{cards, kernels, warn_if_no_card};

/// Concurrent counts of a card: it works on one while the host prepares the other.
pub const COUNTS_OF_CARD: u32 = 2;

/// How often a card is checked for failures.
const CARD_CHECK_INTERVAL: Duration = Duration::from_millis(100);

/// A worker of the group.
#[derive(Clone)]
pub struct GroupMember {
    /// The configuration of its worker.
    pub config: Config,
    /// The card that it counts on, if it is one.
    pub card: Option<Arc<GpuKernel>>,
    /// The external program that it counts by, if it is one.
    pub program: Option<Arc<ExternalKernel>>,
}

impl GroupMember {
    /// Why its card or program counts no more, if it has failed.
    fn failure(&self) -> Option<anyhow::Error> {
        let card = self.card.as_ref().and_then(|card| card.failure()).cloned();
        let program = self.program.as_ref().and_then(|program| program.failure()).cloned();
        card.map(anyhow::Error::new).or_else(|| program.map(anyhow::Error::new))
    }
}

/// What the machine of an external program has behind the name of its host. Like a card, a program is a machine of its
/// own: what it gets wrong is held against the program, not against the host.
const PROGRAM_SUFFIX: &str = "-external";

/// The worker of an external program.
///
/// # Errors
/// The name of its machine is too long.
pub fn external_member(host: Config, program: Arc<ExternalKernel>) -> anyhow::Result<GroupMember> {
    let machine = format!("{}{PROGRAM_SUFFIX}", host.machine);
    ensure!(
        is_name(&machine),
        "the program's machine would be called {machine:?}, with {} bytes of at most {NAME_BYTES}: use a shorter --machine",
        machine.len()
    );
    let kernel = Arc::clone(&program) as Arc<dyn Kernel>;
    Ok(GroupMember { config: Config { machine, kernel, ..host }, card: None, program: Some(program) })
}

/// A worker for the processor and one for each card. A card is a machine of its own, `host/nvidia/gpu0`;
/// OpenCL on the processor is the processor's machine. With cards, the processor has a worker only if
/// requested.
///
/// # Errors
/// A name is too long with the card's part of it.
pub fn members(
    processor: Config,
    cards: Vec<Arc<GpuKernel>>,
    with_processor: bool,
) -> anyhow::Result<Vec<GroupMember>> {
    let on_card = |card: Arc<GpuKernel>| {
        let (number, description) = (card.device().number(), card.device().description());
        let vendor = Vendor::of_driver(&description.vendor);
        let own_machine = card_name(&processor.machine, vendor, number);
        let config = Config {
            name: card_name(&processor.name, None, number),
            machine: if description.is_processor() { processor.machine.clone() } else { own_machine },
            threads: COUNTS_OF_CARD,
            kernel: Arc::clone(&card) as Arc<dyn Kernel>,
            ..processor.clone()
        };
        for name in [&config.name, &config.machine] {
            ensure!(
                is_name(name),
                "the card's worker would be called {name:?}, with {} bytes of at most {NAME_BYTES}: use \
                 a shorter --name or --machine",
                name.len()
            );
        }
        Ok(GroupMember { config, card: Some(card), program: None })
    };
    let mut members: Vec<GroupMember> = cards.into_iter().map(on_card).collect::<Result<_, _>>()?;
    if members.is_empty() || with_processor {
        members.push(GroupMember { config: processor, card: None, program: None });
    }
    Ok(members)
}

/// A way of its own to the coordinator for each of them.
pub type LenderFactory = Box<dyn Fn() -> Arc<dyn Lender> + Send>;

/// Runs all workers until each has left, and returns the sum of their work. When one learns that the run is
/// counted, the others do not wait for workers that have not begun.
///
/// # Errors
/// No worker could continue: the reason of the last one.
pub async fn run_members(
    lenders: LenderFactory,
    plan: Arc<Plan>,
    members: Vec<GroupMember>,
    mut wish: watch::Receiver<Wish>,
) -> anyhow::Result<Summary> {
    let (wishes, wished) = watch::channel(Wish::Stay);
    let raise = |wish: Wish| wishes.send_modify(|before| *before = wish.max(*before));
    let mut at_work = JoinSet::new();
    for member in members {
        at_work.spawn(run_member(lenders(), Arc::clone(&plan), member, wished.clone()));
    }
    let (mut sum, mut last_error, mut any) = (Summary::default(), None, false);
    loop {
        let ended = tokio::select! {
            ended = at_work.join_next() => ended,
            Ok(()) = wish.changed() => {
                raise(*wish.borrow_and_update());
                continue;
            }
        };
        match ended.map(|ended| ended.unwrap_or_else(|fault| Err(fault.into()))) {
            None => break,
            Some(Ok(summary)) => {
                any = true;
                sum += summary;
                if summary.finished {
                    raise(Wish::Leave);
                }
            }
            Some(Err(error)) => {
                if !at_work.is_empty() && matches!(error.downcast_ref(), Some(WorkerError::GaveUp(_))) {
                    error!(
                        "a part of this worker has ended: {error}; to use all parts again, restart it \
                         when the others end"
                    );
                }
                last_error = Some(error);
            }
        }
    }
    match last_error {
        Some(error) if !any => Err(error),
        _ => Ok(sum),
    }
}

/// Runs one worker. If it leaves while others continue, the reason is logged at once.
async fn run_member(
    lender: Arc<dyn Lender>,
    plan: Arc<Plan>,
    member: GroupMember,
    mut wish: watch::Receiver<Wish>,
) -> anyhow::Result<Summary> {
    // Leave it to the end of the process: a driver that has failed may hang or panic in a release.
    std::mem::forget(member.card.clone());
    let (config, card) = (member.config.clone(), member.card.clone());
    let machine = config.machine.clone();
    let (own_wish, wished) = watch::channel(Wish::Stay);
    let mut work = pin!(worker::run(lender, plan, config, wished));
    let (mut looks, mut is_told) = (interval(CARD_CHECK_INTERVAL), false);
    let ended = loop {
        tokio::select! {
            ended = &mut work => break ended,
            Ok(()) = wish.changed() => drop(own_wish.send_replace(*wish.borrow_and_update())),
            _ = looks.tick() => {
                if member.failure().is_some() {
                    own_wish.send_replace(Wish::Leave);
                }
                if !is_told && let Some(error) = card.as_ref().and_then(|card| card.lacks_other()) {
                    is_told = true;
                    warn!(machine, "this worker counts by one method only, others check by the other: \
                                    {error}");
                }
            }
        }
    };
    let ended = match (ended, member.failure()) {
        (_, Some(failure)) => Err(failure),
        (ended, None) => ended.map_err(anyhow::Error::new),
    };
    if let Err(error) = &ended
        && !matches!(error.downcast_ref(), Some(WorkerError::GaveUp(_)))
    {
        error!(machine, "leaves: {error}");
    }
    ended
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::cards::tests::cards_to_test;
    use super::*;
    use crate::args::Cards;
    use crate::local::Local;
    use coordinator::Handle;
    use gpu::GpuError;
    use queens::kernel::{Count, Isa, KernelName, Method, Stop, kernel};
    use queens::{Board, PlanSpec, Position};
    use records::shard::Shard;
    use records::standing::Standing;
    use tokio::time::timeout;

    fn plan_of_20() -> Plan {
        Plan::derive(PlanSpec::new(Board::new(20).unwrap())).unwrap()
    }

    fn config() -> Config {
        Config {
            name: "test".into(),
            machine: "host".into(),
            threads: 1,
            kernel: kernel(Method::Search, None).unwrap(),
            give_up_after: None,
            hopeful: worker::Hopeful::default(),
            give_up_unrecorded_after: None,
            finishes_when_lost: false,
            ahead: worker::AHEAD,
            drain: Duration::ZERO,
        }
    }

    #[tokio::test]
    async fn failing_card_leaves_and_returns_its_units() {
        for method in Method::ALL {
            let Some(cards) = cards_to_test() else { return };
            fails_in_the_middle(kernels(&Cards::All, cards, Some(method), &plan_of_20()).unwrap()).await;
        }
    }

    #[test]
    fn too_long_card_name_is_refused_with_the_name() {
        let Some(cards) = cards_to_test() else { return };
        let kernels = kernels(&Cards::All, cards, Some(Method::Search), &plan_of_20()).unwrap();
        let named = |bytes| {
            let config = Config { name: "x".repeat(bytes), ..config() };
            members(config, kernels.clone(), false).map(|members| members.len())
        };
        assert_eq!(named(190).unwrap(), kernels.len());
        let refused = named(NAME_BYTES).unwrap_err().to_string();
        assert!(refused.contains("xx/gpu") && refused.contains("205 bytes of at most 200"), "{refused}");
    }

    fn lenders(handle: &Handle) -> LenderFactory {
        let lender: Arc<dyn Lender> = Arc::new(Local(handle.clone()));
        Box::new(move || Arc::clone(&lender))
    }

    fn started(plan: &Arc<Plan>) -> Handle {
        Handle::start(Arc::clone(plan), Shard::default(), Standing::new(plan), None, None).unwrap()
    }

    /// Does that whenever it is to count.
    struct Faulty(Box<dyn Fn() + Send + Sync>);

    impl Kernel for Faulty {
        fn name(&self) -> KernelName {
            KernelName { method: Method::Search, isa: Isa::OpenCl }
        }

        fn count(&self, _: &Position, _: &Stop) -> Option<Count> {
            self.0();
            None
        }
    }

    #[tokio::test]
    async fn panic_or_hang_of_a_worker_stops_no_other() {
        let (_ends, is_ended) = std::sync::mpsc::channel::<()>();
        let is_ended = Mutex::new(is_ended);
        let hangs = move || is_ended.lock().unwrap().recv().unwrap_or_default();
        let faults: [Box<dyn Fn() + Send + Sync>; 2] =
            [Box::new(|| panic!("what a driver answers to no call")), Box::new(hangs)];
        for fault in faults {
            let plan = Arc::new(Plan::derive(PlanSpec::new(Board::new(10).unwrap())).unwrap());
            let faulty = Config { kernel: Arc::new(Faulty(fault)), ..config() };
            let members = [faulty, config()].map(|config| GroupMember { config, card: None, program: None });
            let (_wish, wished) = watch::channel(Wish::Stay);
            let work = run_members(lenders(&started(&plan)), plan, members.into(), wished);
            let sum = timeout(Duration::from_mins(1), work).await.expect("it ends").unwrap();
            assert!(sum.finished && sum.units > 0, "{sum:?}");
        }
    }

    #[tokio::test]
    async fn a_wish_of_before_they_began_is_heeded() {
        let plan = Arc::new(plan_of_20());
        let (wish, wished) = watch::channel(Wish::Stay);
        wish.send_replace(Wish::Leave);
        let work = run_members(
            lenders(&started(&plan)),
            plan,
            members(config(), Vec::new(), false).unwrap(),
            wished,
        );
        let sum = timeout(Duration::from_secs(10), work).await.expect("it leaves").unwrap();
        assert!(!sum.finished, "{sum:?}");
    }

    async fn fails_in_the_middle(cards: Vec<Arc<GpuKernel>>) {
        let plan = Arc::new(plan_of_20());
        let handle = started(&plan);
        let card = Arc::clone(&cards[0]);
        let (_wish, wished) = watch::channel(Wish::Stay);
        let work = tokio::spawn(run_members(
            lenders(&handle),
            plan,
            members(config(), cards, false).unwrap(),
            wished,
        ));
        while handle.status().await.unwrap().leased == 0 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        card.fail(GpuError::NoDevices);
        let ended = timeout(Duration::from_secs(20), work).await.expect("it leaves").unwrap();
        assert_eq!(ended.unwrap_err().downcast_ref(), Some(&GpuError::NoDevices));
        let status = handle.status().await.unwrap();
        assert_eq!((status.leased, status.workers_total), (0, 0));
    }

    #[test]
    fn machine_name_takes_optional_owner_and_card() {
        let named = |text| crate::args::machine(text);
        let is = |owner: &str, name: &str| (owner.to_owned(), name.to_owned());
        assert_eq!(named("rack-3"), is("", "rack-3"));
        assert_eq!(named("ada/rack-3"), is("ada", "rack-3"));
        assert_eq!(named("rack-3/gpu0"), is("", "rack-3/gpu0"));
        assert_eq!(named("ada/rack-3/gpu12"), is("ada", "rack-3/gpu12"));
        assert_eq!(named("rack-3/nvidia/gpu0"), is("", "rack-3/nvidia/gpu0"));
        assert_eq!(named("ada/rack-3/amd/gpu1"), is("ada", "rack-3/amd/gpu1"));
    }
}
