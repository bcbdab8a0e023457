//! Recounts units of a finished run, by other means than the first count.

use std::error::Error;
use std::sync::Arc;

use queens::kernel::{KernelError, KernelName, Method, Stop, kernel};
use queens::orbit_search::count_fixed_again;
use queens::symmetric::Turn;
use queens::{Measure, Summand};
use queens::{Plan, Unit, UnitId};
use rayon::prelude::*;
use thiserror::Error;

use super::sample::{Sampled, StandingCount};
use crate::ledger::Location;

/// A unit that was counted again with another outcome, or that cannot be counted here.
#[derive(Debug, Error)]
pub enum RecountError {
    /// The two counts differ.
    #[error(
        "unit {unit}: the ledger says {recorded} ({location}, counted by {machine} with {kernel}), {by} finds {found}"
    )]
    Differs {
        /// The unit.
        unit: UnitId,
        /// Its standing count.
        recorded: u64,
        /// The line that has it.
        location: Location,
        /// The machine that counted it.
        machine: Arc<str>,
        /// The kernel of the standing count.
        kernel: Arc<str>,
        /// The means of the recount.
        by: Means,
        /// The result of the recount.
        found: u64,
    },
    /// The other program does not count.
    #[error(transparent)]
    Program(Box<dyn Error + Send + Sync>),
    /// This machine lacks the kernel.
    #[error(transparent)]
    Kernel(#[from] KernelError),
    /// The system gives no threads.
    #[error(transparent)]
    Threads(#[from] rayon::ThreadPoolBuildError),
}

/// The means of a recount.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Means {
    /// The search by orbits, for symmetric counts.
    SecondAlgorithm,
    /// A kernel, on the mirrored unit.
    Mirrored(KernelName),
    /// A program that shares no code with diadem.
    Program,
}

impl std::fmt::Display for Means {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::SecondAlgorithm => f.write_str("the second algorithm"),
            Self::Mirrored(kernel) => write!(f, "{kernel} on the mirrored unit"),
            Self::Program => f.write_str("the external program"),
        }
    }
}

/// How the completions of units are recounted.
#[derive(Clone, Copy)]
pub enum RecountBy<'a> {
    /// By this method, or else by the one that the unit was not counted with.
    Kernel(Option<Method>),
    /// By a program that shares no code with diadem.
    Program(&'a ProgramCount<'a>),
}

/// Counts the completions of a unit by another program. Returns nothing if the count is no longer wanted.
pub type ProgramCount<'a> =
    dyn Fn(&Unit, &Stop) -> Result<Option<u64>, Box<dyn Error + Send + Sync>> + Sync + 'a;

/// Recounts every unit on this number of threads, and calls `advance` after each. Stops at the first difference. Returns
/// the number of units.
///
/// # Errors
/// A count differs, or cannot be made here.
pub fn recount(
    plan: &Plan,
    sampled: &Sampled,
    by: RecountBy<'_>,
    threads: u32,
    advance: &(dyn Fn() + Sync),
) -> Result<u64, RecountError> {
    let counted = sampled.counted();
    let stop = Stop::new();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads as usize).build()?;
    let check = |(unit, standing): &(UnitId, &StandingCount)| {
        let result = check(plan, *unit, standing, by, &stop);
        advance();
        // A thread that this error stops returns no result.
        result.inspect_err(|_| stop.stop())
    };
    pool.install(|| counted.par_iter().map(check).find_any(Result::is_err)).unwrap_or(Ok(()))?;
    Ok(counted.len() as u64)
}

fn check(
    plan: &Plan,
    id: UnitId,
    standing: &StandingCount,
    by: RecountBy<'_>,
    stop: &Stop,
) -> Result<(), RecountError> {
    let unit = plan.unit(id);
    let image = unit.position.mirrored();
    let (found, by) = match unit.summand {
        Summand::Symmetric(_, Measure::HalfTurn) => {
            (count_fixed_again(&image, Turn::Half, stop), Means::SecondAlgorithm)
        }
        Summand::Symmetric(_, Measure::QuarterTurn) => {
            (count_fixed_again(&image, Turn::Quarter, stop), Means::SecondAlgorithm)
        }
        Summand::Asymmetric | Summand::Symmetric(_, Measure::Completions) => match by {
            RecountBy::Kernel(method) => {
                let kernel = kernel(method.unwrap_or_else(|| other_method(&standing.kernel)), None)?;
                let found = kernel.count(&image, stop).map(|count| count.completions);
                (found, Means::Mirrored(kernel.name()))
            }
            RecountBy::Program(count) => (count(&unit, stop).map_err(RecountError::Program)?, Means::Program),
        },
    };
    match found {
        Some(found) if found != standing.count => Err(RecountError::Differs {
            unit: id,
            recorded: standing.count,
            location: standing.location,
            machine: Arc::clone(&standing.machine),
            kernel: Arc::clone(&standing.kernel),
            by,
            found,
        }),
        _ => Ok(()),
    }
}

/// Another method than that of the kernel that counted.
fn other_method(counted_by: &str) -> Method {
    match counted_by.parse::<KernelName>() {
        Ok(KernelName { method: Method::Search, .. }) => Method::Meet,
        Ok(KernelName { method: Method::Meet, .. }) | Err(_) => Method::Search,
    }
}
