//! Units of a finished run counted once more, by other means than the first time.

use std::collections::HashMap;
use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::bail;
use coordinator::ledger::{Location, Record};
use indicatif::{ProgressBar, ProgressStyle};
use queens::kernel::{Kernel, KernelName, Method, Stop, kernel};
use queens::orbit_search::count_fixed_again;
use queens::symmetric::Turn;
use queens::tally::{Measure, Summand};
use queens::{Plan, UnitId};
use rayon::prelude::*;

use crate::log::say;

/// Between two plain lines of progress.
const LINE_EVERY: Duration = Duration::from_secs(30);

/// Where the ledger has the standing count of a unit, and what counted it.
#[derive(Clone, Debug)]
pub struct Counted {
    /// The count.
    pub count: u64,
    /// The line.
    pub location: Location,
    /// The kernel, as in `search/portable`.
    pub kernel: Arc<str>,
}

/// What the ledger says about the units that are to be counted again.
#[derive(Debug)]
pub struct Standing {
    units: HashMap<UnitId, Option<Counted>>,
    kernels: Vec<Arc<str>>,
}

impl Standing {
    /// Nothing yet.
    pub fn of(units: impl Iterator<Item = UnitId>) -> Self {
        Self { units: units.map(|unit| (unit, None)).collect(), kernels: Vec::new() }
    }

    /// Takes note of a record.
    pub fn note(&mut self, location: Location, record: &Record) {
        match record {
            Record::Count(r) => {
                if let Some(counted) = self.units.get_mut(&r.unit) {
                    let known = self.kernels.iter().find(|name| ***name == *r.kernel).cloned();
                    let kernel = known.unwrap_or_else(|| {
                        self.kernels.push(r.kernel.as_str().into());
                        self.kernels[self.kernels.len() - 1].clone()
                    });
                    *counted = Some(Counted { count: r.count, location, kernel });
                }
            }
            Record::Retract(r) => {
                if let Some(counted) = self.units.get_mut(&r.unit) {
                    *counted = None;
                }
            }
            Record::Check(_) | Record::Conflict(_) | Record::Mark(_) => {}
        }
    }

    /// The units with a standing count, in the order of their numbers.
    fn counted(&self) -> Vec<(UnitId, &Counted)> {
        let counted = self.units.iter().filter_map(|(unit, counted)| Some((*unit, counted.as_ref()?)));
        let mut counted: Vec<_> = counted.collect();
        counted.sort_by_key(|(unit, _)| *unit);
        counted
    }
}

/// Counts every unit again on so many threads, and stops at the first that differs.
pub fn recount(plan: &Plan, standing: &Standing, threads: u32, what: &str) -> anyhow::Result<u64> {
    let counted = standing.counted();
    let progress = Progress::new(what, counted.len() as u64);
    let stop = Stop::new();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads as usize).build()?;
    let check = |(unit, counted): &(UnitId, &Counted)| {
        let result = check(plan, *unit, counted, &stop);
        progress.advance();
        // Whoever is stopped by this one finds nothing.
        result.inspect_err(|_| stop.stop())
    };
    pool.install(|| counted.par_iter().map(check).find_any(Result::is_err)).unwrap_or(Ok(()))?;
    Ok(counted.len() as u64)
}

fn check(plan: &Plan, id: UnitId, counted: &Counted, stop: &Stop) -> anyhow::Result<()> {
    let unit = plan.unit(id);
    let image = unit.position.mirrored();
    let (found, by) = match unit.summand {
        Summand::Symmetric(_, Measure::HalfTurn) => {
            (count_fixed_again(&image, Turn::Half, stop), "the second algorithm".to_owned())
        }
        Summand::Symmetric(_, Measure::QuarterTurn) => {
            (count_fixed_again(&image, Turn::Quarter, stop), "the second algorithm".to_owned())
        }
        Summand::Asymmetric | Summand::Symmetric(_, Measure::Completions) => {
            let kernel = other_kernel(&counted.kernel)?;
            let found = kernel.count(&image, stop).map(|count| count.completions);
            (found, format!("{} on the mirrored unit", kernel.name()))
        }
    };
    match found {
        Some(found) if found != counted.count => bail!(
            "unit {id}: the ledger says {} ({}, counted by {}), {by} finds {found}",
            counted.count,
            counted.location,
            counted.kernel
        ),
        _ => Ok(()),
    }
}

/// A kernel of another method than the one that counted.
fn other_kernel(counted_by: &str) -> anyhow::Result<Arc<dyn Kernel>> {
    let method = match counted_by.parse::<KernelName>() {
        Ok(KernelName { method: Method::Search, .. }) => Method::Meet,
        Ok(KernelName { method: Method::Meet, .. }) | Err(_) => Method::Search,
    };
    Ok(kernel(method, None)?)
}

/// How far it is, on stderr.
struct Progress {
    what: String,
    bar: ProgressBar,
    done: AtomicU64,
    units: u64,
    begun: Instant,
    /// Plain lines written.
    lines: AtomicU64,
}

impl Progress {
    fn new(what: &str, units: u64) -> Self {
        let bar =
            if std::io::stderr().is_terminal() { ProgressBar::new(units) } else { ProgressBar::hidden() };
        let style = ProgressStyle::with_template("{msg}: {bar:30} {pos}/{len} units, {eta} left");
        let bar = bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.set_message(what.to_owned());
        let (done, lines) = (AtomicU64::new(0), AtomicU64::new(0));
        Self { what: what.to_owned(), bar, done, units, begun: Instant::now(), lines }
    }

    fn advance(&self) {
        self.bar.inc(1);
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        let due = self.begun.elapsed().as_secs() / LINE_EVERY.as_secs();
        if self.bar.is_hidden() && self.lines.fetch_max(due, Ordering::Relaxed) < due {
            say(format_args!("{}: {done}/{} units", self.what, self.units));
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
