//! The counting threads, which are separate from the network threads.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use cpu_time::{ProcessTime, ThreadTime};
use domain::{Lease, UnitCount, Variant};
use parking_lot::Mutex;
use std::time::{Duration, Instant};

use queens::kernel::{Count, Isa, Kernel, Stop};
use queens::{Plan, UnitId};
use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};
use tokio::sync::Notify;
use tokio::sync::mpsc::UnboundedSender;

/// A unit, and how it is counted: the same unit may be counted in one way, and then checked in another.
pub type UnitVariant = (UnitId, Variant);

/// The unit of a lease and its variant.
pub fn unit_variant(lease: &Lease) -> UnitVariant {
    (lease.unit, lease.variant)
}

/// The outcome of a unit in the pool.
#[derive(Clone, Copy, Debug)]
pub enum UnitOutcome {
    /// It was counted.
    Counted(UnitCount),
    /// It was not counted, because the pool was stopped or its device has failed.
    Stopped,
    /// It needs the other method, for which this worker has no kernel.
    Beyond(Lease),
}

/// A pool counts units for a worker, in order of arrival, and sends it each outcome.
pub trait Pool: Send + Sync {
    /// Puts a unit in line.
    fn count(&self, lease: Lease);

    /// Fewer units than this will soon be counted.
    fn set_low(&self, units: usize);

    /// Completes when there will soon be nothing to count.
    fn running_dry(&self) -> impl Future<Output = ()> + Send;

    /// The present unit of each thread.
    fn counting(&self) -> Vec<Option<UnitVariant>>;

    /// The processor time that its threads have had in all; none where something else counts, in time by the clock.
    fn processor_time(&self) -> Option<Duration>;

    /// Begins no unit more; those in threads are counted to their ends.
    fn finish(&self);

    /// Ends all units soon, counted or not.
    fn stop(&self);
}

/// The threads of this machine.
pub struct ThreadedPool {
    threads: ThreadPool,
    shared: Arc<Shared>,
}

/// The state shared by the threads and the worker.
struct Shared {
    plan: Arc<Plan>,
    kernels: MethodKernels,
    /// Apart from the numbers below, which threads change: kernels read it all the time.
    stop: Arc<Stop>,
    /// Set if no further unit may start.
    finishes: AtomicBool,
    outcomes: UnboundedSender<UnitOutcome>,
    /// How many units the pool holds.
    units: AtomicUsize,
    /// Fewer units than this will soon be counted.
    low: AtomicUsize,
    /// Notified whenever a unit ends and few are left.
    is_low: Notify,
    /// The present unit of each thread.
    in_thread: Box<[Mutex<Option<UnitVariant>>]>,
}

impl ThreadedPool {
    /// A pool of that many threads that sends each outcome to `outcomes`.
    ///
    /// # Errors
    /// If the system gives no threads.
    pub fn new(
        threads: u32,
        plan: Arc<Plan>,
        kernel: Arc<dyn Kernel>,
        outcomes: UnboundedSender<UnitOutcome>,
    ) -> Result<Self, ThreadPoolBuildError> {
        let shared = Shared {
            plan,
            kernels: MethodKernels { own: kernel, other: OnceLock::new() },
            stop: Arc::new(Stop::new()),
            finishes: AtomicBool::new(false),
            outcomes,
            units: AtomicUsize::new(0),
            low: AtomicUsize::new(0),
            is_low: Notify::new(),
            in_thread: (0..threads).map(|_| Mutex::default()).collect(),
        };
        let name = |index| format!("count-{index}");
        let threads = ThreadPoolBuilder::new().num_threads(threads as usize).thread_name(name).build()?;
        Ok(Self { threads, shared: Arc::new(shared) })
    }
}

impl Shared {
    /// Counts a unit in a thread of the pool.
    fn count(&self, lease: Lease) {
        let own = rayon::current_thread_index().and_then(|index| self.in_thread.get(index));
        let set = |counts| own.into_iter().for_each(|own| *own.lock() = counts);
        // The order matters: if the pool finishes and no thread has the unit, the unit was not started.
        set(Some(unit_variant(&lease)));
        let is_over = self.finishes.load(Ordering::SeqCst) || self.stop.is_stopped();
        let busy = || self.in_thread.iter().filter(|thread| thread.lock().is_some()).count();
        let count = || count(&self.plan, &self.kernels, lease, &self.stop, busy);
        let outcome = if is_over { UnitOutcome::Stopped } else { count() };
        // After the worker has left, no receiver needs the outcome. The outcome is sent before the thread clears its
        // unit, so a counted unit is always found.
        self.outcomes.send(outcome).ok();
        set(None);
        if self.units.fetch_sub(1, Ordering::Relaxed) <= self.low.load(Ordering::Relaxed) {
            self.is_low.notify_one();
        }
    }
}

impl Pool for ThreadedPool {
    fn count(&self, lease: Lease) {
        self.shared.units.fetch_add(1, Ordering::Relaxed);
        let shared = Arc::clone(&self.shared);
        self.threads.spawn_fifo(move || shared.count(lease));
    }

    fn set_low(&self, units: usize) {
        self.shared.low.store(units, Ordering::Relaxed);
    }

    async fn running_dry(&self) {
        while self.shared.units.load(Ordering::Relaxed) >= self.shared.low.load(Ordering::Relaxed) {
            self.shared.is_low.notified().await;
        }
    }

    fn counting(&self) -> Vec<Option<UnitVariant>> {
        self.shared.in_thread.iter().map(|thread| *thread.lock()).collect()
    }

    fn processor_time(&self) -> Option<Duration> {
        let own = &*self.shared.kernels.own;
        (!is_elsewhere(own) || own.is_on_processor()).then(|| ProcessTime::now().as_duration())
    }

    fn finish(&self) {
        self.shared.finishes.store(true, Ordering::SeqCst);
    }

    fn stop(&self) {
        self.shared.stop.stop();
    }
}

/// The worker's own kernel, and the one to check others' counts by, made when it is first asked for.
struct MethodKernels {
    own: Arc<dyn Kernel>,
    other: OnceLock<Option<Arc<dyn Kernel>>>,
}

impl MethodKernels {
    fn other(&self) -> Option<&Arc<dyn Kernel>> {
        self.other.get_or_init(|| self.own.other()).as_ref()
    }
}

thread_local! {
    /// When the processor time of the thread was last read: reading it takes a call to the system, which the smallest
    /// units would notice twice. It stands still while the thread waits.
    static LAST_READ: Cell<ThreadTime> = Cell::new(ThreadTime::now());
}

/// The processor time of a unit that OpenCL counts on the processor, in threads of its driver: as much of the process's
/// time as each of the `busy` units has, and at most the time by the clock.
fn share_of_process(process: Duration, busy: usize, by_clock: Duration) -> Duration {
    (process / (busy.max(1) as u32)).min(by_clock)
}

/// Counts the unit in the variant of its lease. The coordinator would reject another variant. `busy` is the number of
/// units that are counted now.
fn count(
    plan: &Plan,
    kernels: &MethodKernels,
    lease: Lease,
    stop: &Stop,
    busy: impl Fn() -> usize,
) -> UnitOutcome {
    let unit = plan.unit(lease.unit);
    let Lease { variant, .. } = lease;
    let is_by_other = variant.wants_other_kernel(unit.summand);
    let Some(kernel) = (if is_by_other { kernels.other() } else { Some(&kernels.own) }) else {
        return UnitOutcome::Beyond(lease);
    };
    let unit = if variant.mirrored { unit.mirrored() } else { unit };
    let (begun, begun_at) = (LAST_READ.get(), Instant::now());
    let process_begun = kernel.is_on_processor().then(ProcessTime::now);
    let count = if variant.other_kernel {
        unit.count_otherwise(&**kernel, stop)
    } else {
        unit.count(&**kernel, stop)
    };
    let Some(Count { completions, nodes }) = count else { return UnitOutcome::Stopped };
    let ended = ThreadTime::now();
    LAST_READ.set(ended);
    let cpu = if let Some(begun) = process_begun {
        share_of_process(begun.elapsed(), busy(), begun_at.elapsed())
    } else if is_elsewhere(&**kernel) {
        begun_at.elapsed()
    } else {
        ended.duration_since(begun)
    };
    UnitOutcome::Counted(UnitCount { lease, completions, nodes, cpu })
}

/// Whether a card or another program counts, while the thread sleeps.
fn is_elsewhere(kernel: &dyn Kernel) -> bool {
    is_card(kernel) || kernel.name().is_external()
}

/// Whether OpenCL counts.
pub fn is_card(kernel: &dyn Kernel) -> bool {
    kernel.name().isa == Isa::OpenCl
}

impl Drop for ThreadedPool {
    /// Stops the threads: no receiver takes outcomes any more.
    fn drop(&mut self) {
        self.stop();
    }
}

#[cfg(test)]
mod tests {
    use domain::Token;
    use queens::kernel::{KernelName, Method, kernel};
    use queens::{Board, PlanSpec, Position};
    use tokio::sync::mpsc::unbounded_channel;

    use super::*;

    /// A kernel of which there is no other.
    struct Lone(Arc<dyn Kernel>);

    impl Kernel for Lone {
        fn name(&self) -> KernelName {
            self.0.name()
        }

        fn count(&self, position: &Position, stop: &Stop) -> Option<Count> {
            self.0.count(position, stop)
        }

        fn other(&self) -> Option<Arc<dyn Kernel>> {
            None
        }
    }

    #[test]
    fn symmetric_check_needs_no_other_kernel() {
        let plan = Plan::derive(PlanSpec::new(Board::new(8).unwrap())).unwrap();
        let own = kernel(Method::Search, Some(Isa::Portable)).unwrap();
        let kernels = MethodKernels { own: Arc::new(Lone(own)), other: OnceLock::new() };
        let variant = Variant { mirrored: true, other_kernel: true };
        for unit in (0..plan.units()).map(UnitId) {
            let lease = Lease { unit, token: Token(0), variant };
            let outcome = count(&plan, &kernels, lease, &Stop::new(), || 1);
            let is_counted = matches!(outcome, UnitOutcome::Counted(_));
            assert_eq!(is_counted, plan.summand(unit).is_symmetric_count(), "{outcome:?}");
        }
    }

    #[test]
    fn opencl_on_a_busy_processor_reports_processor_time() {
        let seconds = Duration::from_secs;
        // Other programs have most of the processor: the driver's threads get 8 s in 50 s, for two units.
        assert_eq!(share_of_process(seconds(8), 2, seconds(50)), seconds(4));
        assert_eq!(share_of_process(seconds(100), 2, seconds(50)), seconds(50));
        assert_eq!(share_of_process(seconds(90), 1, seconds(50)), seconds(50), "other threads count, too");
    }

    /// A kernel of OpenCL that needs nothing of the processor.
    struct Sleeping {
        is_on_processor: bool,
    }

    impl Kernel for Sleeping {
        fn name(&self) -> KernelName {
            KernelName { method: Method::Search, isa: Isa::OpenCl }
        }

        fn count(&self, _: &Position, _: &Stop) -> Option<Count> {
            std::thread::sleep(Duration::from_millis(50));
            Some(Count::default())
        }

        fn is_on_processor(&self) -> bool {
            self.is_on_processor
        }
    }

    #[test]
    fn units_of_a_card_take_time_by_the_clock() {
        let plan = Plan::derive(PlanSpec::new(Board::new(8).unwrap())).unwrap();
        let unit = UnitId(plan.units() - 1);
        let lease = Lease { unit, token: Token(0), variant: Variant::default() };
        let time = |is_on_processor| {
            let own = Arc::new(Sleeping { is_on_processor });
            let kernels = MethodKernels { own, other: OnceLock::new() };
            // As of so many units that each has next to nothing of the process's time.
            match count(&plan, &kernels, lease, &Stop::new(), || 1_000_000) {
                UnitOutcome::Counted(count) => count.cpu,
                other => panic!("{other:?}"),
            }
        };
        assert!(time(false) >= Duration::from_millis(50));
        assert!(time(true) < Duration::from_millis(50));
    }

    #[test]
    fn dropped_pool_stops_counting() {
        let plan =
            Arc::new(Plan::derive(PlanSpec::for_kernel(Board::new(32).unwrap(), Method::Search)).unwrap());
        let kernel = kernel(Method::Search, Some(Isa::Portable)).unwrap();
        let (outcomes_in, mut outcomes) = unbounded_channel();
        let pool = ThreadedPool::new(1, plan, kernel, outcomes_in).unwrap();
        // Units of years.
        for unit in [500, 501] {
            pool.count(Lease { unit: UnitId(unit), token: Token(unit), variant: Variant::default() });
        }
        drop(pool);
        for _ in 0..2 {
            assert!(matches!(outcomes.blocking_recv(), Some(UnitOutcome::Stopped)));
        }
        assert!(outcomes.blocking_recv().is_none(), "all threads have ended");
    }
}
