//! Chooses the method by which a card counts a plan's units, unless the user does. The faster method depends
//! on the card and is found in a short trial.
//!
//! ```text
//! both count a unit, and are warm
//! for units spread over the plan, until the look is over:
//!     how long does the plan's own method take?
//!     how long does the other one take, if no longer than twice that?
//! the other one, if it took less for all of them together
//! ```
//!
//! If a unit takes longer than the trial by both methods, the plan's own method is used.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use queens::kernel::{Kernel, Stop};
use queens::{Plan, Position, UnitId};

use crate::device::Device;
use crate::error::GpuError;
use crate::kernel::GpuKernel;

/// Nanoseconds of expected work on one core, ten minutes, which a card does in some ten seconds. A shorter
/// run is over before a trial of the methods pays off.
const MIN_WORK_FOR_TRIAL: u128 = 600_000_000_000;

/// How long a look may take each method.
const TRIAL_TIME: Duration = Duration::from_millis(500);

/// How long a unit may take each method before that: some drivers compile when something is launched for the first time.
const WARM_UP_TIME: Duration = Duration::from_secs(5);

/// The most units in a trial.
const MAX_TRIAL_UNITS: u64 = 32;

/// The least time limit of the other method for a unit: timers are no finer.
const MIN_UNIT_TIME: Duration = Duration::from_millis(5);

/// The other method is taken if it is clearly faster: it takes less than this part of the time.
const MAX_TIME_RATIO: f64 = 0.9;

/// The kernel that counts the plan's units on that device: of the plan's own method, or of the other method
/// if it was faster in the trial.
///
/// # Errors
/// The device cannot be used, its driver does not build the code of the plan's own method, or it hangs in the look.
pub fn kernel_for(device: Device, plan: &Plan) -> Result<GpuKernel, GpuError> {
    let planned = GpuKernel::new(device, plan.spec().method())?;
    if plan.total_weight() < MIN_WORK_FOR_TRIAL { Ok(planned) } else { faster_kernel(planned, plan) }
}

/// That kernel, or the kernel of the other method if it is faster in a trial.
fn faster_kernel(planned: GpuKernel, plan: &Plan) -> Result<GpuKernel, GpuError> {
    // A driver may build one method and not the other.
    let Ok(other) = planned.beside(planned.name().other().method) else { return Ok(planned) };
    warm_up(&planned, plan);
    if let Some(failure) = planned.failure() {
        return Err(failure.clone());
    }
    let is_faster = is_faster(&other, &planned, plan);
    choose_kernel(planned, other, is_faster)
}

/// That kernel, or the other one if it is faster. If the device failed in the trial, the other kernel is the
/// cause: the device had counted by its own method before.
fn choose_kernel(planned: GpuKernel, other: GpuKernel, is_faster: bool) -> Result<GpuKernel, GpuError> {
    match planned.failure() {
        None => Ok(if is_faster { other } else { planned }),
        Some(hangs @ GpuError::Hangs { .. }) => Err(hangs.clone()),
        Some(failure) => planned.without_other(failure.clone()),
    }
}

/// Lets a kernel count once before it is timed.
fn warm_up(kernel: &dyn Kernel, plan: &Plan) {
    if let Some(unit) = units(plan).next() {
        time(kernel, &unit, WARM_UP_TIME);
    }
}

/// Whether a kernel is clearly faster on the plan's units than the one that the plan is made for, which is warm.
fn is_faster(other: &dyn Kernel, planned: &dyn Kernel, plan: &Plan) -> bool {
    warm_up(other, plan);
    let (mut own, mut others) = (Duration::ZERO, Duration::ZERO);
    for unit in units(plan) {
        match time(planned, &unit, TRIAL_TIME.saturating_sub(own)) {
            Some(taken) => {
                own += taken;
                let most = MIN_UNIT_TIME.max(taken * 2);
                others += time(other, &unit, most).unwrap_or(most);
            }
            None if own.is_zero() => return time(other, &unit, TRIAL_TIME / 2).is_some(),
            None => break,
        }
    }
    others < own.mul_f64(MAX_TIME_RATIO)
}

/// The positions of some units of the plan, far apart.
fn units(plan: &Plan) -> impl Iterator<Item = Position> + '_ {
    let apart = (plan.units() / MAX_TRIAL_UNITS).max(1);
    let ids = (0..plan.units().min(MAX_TRIAL_UNITS)).map(move |k| UnitId(k * apart));
    let units = ids.map(|id| plan.unit(id)).filter(|unit| !unit.summand.is_symmetric_count());
    units.map(|unit| unit.position)
}

/// The time of the kernel for a position; `None` if it takes longer than `most`.
fn time(kernel: &dyn Kernel, position: &Position, most: Duration) -> Option<Duration> {
    let stop = Stop::new();
    let (ended, is_ended) = channel::<()>();
    thread::scope(|scope| {
        let stop = &stop;
        scope.spawn(move || {
            if is_ended.recv_timeout(most) == Err(RecvTimeoutError::Timeout) {
                stop.stop();
            }
        });
        let begun = Instant::now();
        let count = kernel.count(position, stop);
        drop(ended);
        count.map(|_| begun.elapsed())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::devices;
    use queens::kernel::{Count, Isa, KernelName, Method};
    use queens::{Board, PlanSpec};

    /// Takes that long for everything, and ends within a millisecond when it is stopped.
    struct Sleeper(Method, Duration);

    impl Kernel for Sleeper {
        fn name(&self) -> KernelName {
            KernelName { method: self.0, isa: Isa::OpenCl }
        }

        fn count(&self, _: &Position, stop: &Stop) -> Option<Count> {
            let begun = Instant::now();
            while begun.elapsed() < self.1 {
                if stop.is_stopped() {
                    return None;
                }
                thread::sleep(Duration::from_millis(1));
            }
            Some(Count { completions: 0, nodes: 0 })
        }
    }

    #[test]
    fn faster_method_is_chosen_unless_trial_is_too_short() {
        let plan = Plan::derive(PlanSpec::new(Board::new(12).unwrap())).unwrap();
        let is_faster = |other: u64, planned: u64| {
            let [other, planned] = [(Method::Meet, other), (Method::Search, planned)]
                .map(|(method, millis)| Sleeper(method, Duration::from_millis(millis)));
            let begun = Instant::now();
            let is_faster = is_faster(&other, &planned, &plan);
            assert!(begun.elapsed() < 2 * WARM_UP_TIME + 8 * TRIAL_TIME, "{:?}", begun.elapsed());
            is_faster
        };
        assert!(is_faster(5, 40));
        assert!(!is_faster(40, 5));
        assert!(!is_faster(20, 20));
        assert!(!is_faster(1_000_000, 40), "it is broken off");
        assert!(is_faster(5, 1_000_000), "it is through before the other is");
        assert!(!is_faster(1_000_000, 1_000_000), "nobody knows what either takes");
    }

    #[test]
    fn card_takes_the_method_measured_faster() {
        let Ok(devices) = devices() else {
            assert!(std::env::var_os("DIADEM_TEST_TOOLS").is_none(), "there is no OpenCL");
            println!("skipped: there is no OpenCL");
            return;
        };
        let board = Board::new(18).unwrap();
        for device in devices.into_iter().filter(|device| device.description().unusable.is_none()) {
            for spec in [PlanSpec::new(board), PlanSpec::families(board)] {
                let plan = Plan::derive(spec).unwrap();
                let unseen = kernel_for(device.clone(), &plan).unwrap();
                assert_eq!(
                    unseen.name().method,
                    spec.method(),
                    "it is over before a look has brought anything"
                );
                let seen = faster_kernel(unseen, &plan).unwrap();
                // On PoCL halves that meet take less than half of the time where units are made for them, and about as
                // long as the search where they are not.
                let is_known = seen.device().description().is_processor() && spec.method() == Method::Meet;
                assert!(!is_known || seen.name().method == Method::Meet, "{}", seen.name());
                let unit = plan.unit(UnitId(181)).position;
                let processor = queens::kernel::kernel(seen.name().method, None).unwrap();
                assert_eq!(seen.count(&unit, &Stop::new()), processor.count(&unit, &Stop::new()));
            }
        }
    }

    #[test]
    fn card_keeps_plan_method_after_failed_trial() {
        let Ok(devices) = devices() else {
            assert!(std::env::var_os("DIADEM_TEST_TOOLS").is_none(), "there is no OpenCL");
            println!("skipped: there is no OpenCL");
            return;
        };
        let plan = Plan::derive(PlanSpec::new(Board::new(18).unwrap())).unwrap();
        for device in devices.into_iter().filter(|device| device.description().unusable.is_none()) {
            let looked = |failure: &GpuError| {
                let failed = GpuKernel::new(device.clone(), Method::Search).unwrap();
                let other = failed.beside(Method::Meet).unwrap();
                failed.fail(failure.clone());
                choose_kernel(failed, other, true)
            };
            let failure = GpuError::TooSmall { device: device.title(), mebibytes: 1 };
            let alone = looked(&failure).unwrap();
            assert_eq!((alone.failure(), alone.lacks_other()), (None, Some(&failure)));
            assert_eq!(alone.name().method, Method::Search);
            let unit = plan.unit(UnitId(181)).position;
            let processor = queens::kernel::kernel(Method::Search, None).unwrap();
            assert_eq!(alone.count(&unit, &Stop::new()), processor.count(&unit, &Stop::new()));
            assert!(alone.other().is_none(), "that one has failed");
            let hangs = GpuError::Hangs { device: device.title(), seconds: 30 };
            assert_eq!(looked(&hangs).err(), Some(hangs));
            let failed = GpuKernel::new(device, Method::Search).unwrap();
            failed.fail(failure.clone());
            assert_eq!(
                faster_kernel(failed, &plan).err(),
                Some(failure),
                "its own method has failed before the look"
            );
        }
    }
}
