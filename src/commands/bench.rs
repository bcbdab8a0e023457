//! `diadem bench`: how fast the kernels count on this machine, and how long a whole board would take.
//!
//! Units are drawn at random from the plan of each kernel and counted until the time is up; a board that is done
//! sooner is counted whole. Times are processor times of the counting threads, so that other programs hardly enter, and
//! ratios of sums (time to solutions, time to nodes), so units need not be alike; the spread is the standard error of
//! that ratio. The last two columns say how long the middle one of the units takes, and by how much the time of units
//! departs from what the plan expects of them (a relative standard deviation).

use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use cpu_time::ThreadTime;
use queens::kernel::{Isa, Kernel, KernelName, Method, Stop, kernel};
use queens::{Board, Measure, Plan, PlanSpec, Summand, UnitId, known};
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use serde_json::json;

use crate::args::BenchArgs;
use crate::output::{print, span};

/// At most so many units are drawn: more would not be counted in a bench's time.
const MOST_UNITS: u64 = 1 << 20;

pub fn run(args: &BenchArgs) -> anyhow::Result<ExitCode> {
    let methods = args.method.0.map_or(Method::ALL.to_vec(), |method| vec![method]);
    let available = Isa::ALL.into_iter().filter(|isa| isa.is_available()).collect();
    let isas = args.isa.0.map_or(available, |isa| vec![isa]);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut threads = vec![1, cores];
    threads.dedup();
    if !args.json {
        print(&format!(
            "{:>2} {:<16} {:>7} {:>9} {:>8} {:>6} {:>9} {:>8} {:>14} {:>10} {:>6}",
            "n",
            "kernel",
            "threads",
            "units",
            "ns/sol",
            "+- %",
            "nodes/sol",
            "ns/node",
            "whole board",
            "a unit",
            "est. %"
        ))?;
    }
    for &n in &args.n {
        for &method in &methods {
            let plan = Plan::derive(PlanSpec::for_kernel(n, method))?;
            for &isa in &isas {
                let kernel = kernel(method, Some(isa))?;
                for &threads in &threads {
                    let measurement = Measurement::take(&plan, &*kernel, threads, args.seconds, args.seed);
                    let row = Row { board: n, kernel: kernel.name(), threads, plan: &plan, measurement };
                    print(&if args.json { row.json().to_string() } else { row.text() })?;
                }
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// What one unit took.
#[derive(Clone, Copy)]
struct UnitCost {
    nanoseconds: f64,
    completions: f64,
    nodes: f64,
    weight: f64,
}

/// The units that were counted.
struct Measurement {
    units: Vec<UnitCost>,
    /// Whether these are all units of the plan that have completions to count.
    whole: bool,
}

impl Measurement {
    /// Counts units in a random order for that long, and at least one for each thread.
    fn take(plan: &Plan, kernel: &dyn Kernel, threads: usize, seconds: f64, seed: u64) -> Self {
        let ids = draw(plan, seed);
        let next = AtomicUsize::new(0);
        let units = Mutex::new(Vec::new());
        let end = Instant::now() + Duration::from_secs_f64(seconds);
        std::thread::scope(|scope| {
            for _ in 0..threads {
                let (ids, next, units) = (&ids, &next, &units);
                scope.spawn(move || {
                    let mut counted = Vec::new();
                    while let Some(id) = ids.get(next.fetch_add(1, Ordering::Relaxed)) {
                        counted.extend(count(plan, kernel, *id));
                        if Instant::now() >= end {
                            break;
                        }
                    }
                    units.lock().expect("no thread panics with the lock").append(&mut counted);
                });
            }
        });
        let whole = next.into_inner() >= ids.len() && ids.len() as u64 == completion_units(plan);
        Self { units: units.into_inner().expect("all threads have ended"), whole }
    }

    fn sum(&self, of: impl Fn(&UnitCost) -> f64) -> f64 {
        self.units.iter().map(of).sum()
    }

    /// Time over something else of the units, and the relative standard error of that ratio.
    fn ratio(&self, of: impl Fn(&UnitCost) -> f64) -> (f64, f64) {
        let k = self.units.len() as f64;
        let (time, other) = (self.sum(|unit| unit.nanoseconds), self.sum(&of));
        let ratio = time / other;
        let squares = self.sum(|unit| (unit.nanoseconds - ratio * of(unit)).powi(2));
        let error = if self.whole || k < 2.0 { 0.0 } else { (squares * k / (k - 1.0)).sqrt() / time };
        (ratio, error)
    }
}

/// How long units take, and how well the plan foresaw it.
struct Spread {
    /// Seconds of a unit: the tenth, the middle and the ninetieth of a hundred, and the longest.
    seconds: [f64; 4],
    /// The relative standard deviation of time over expected work, units weighted by that work.
    estimate: f64,
}

impl Measurement {
    fn spread(&self) -> Option<Spread> {
        let mut seconds: Vec<f64> = self.units.iter().map(|unit| unit.nanoseconds / 1e9).collect();
        seconds.sort_by(f64::total_cmp);
        let last = seconds.len().checked_sub(1)?;
        let at = |share: f64| seconds[(last as f64 * share) as usize];
        let rate = self.sum(|unit| unit.nanoseconds) / self.sum(|unit| unit.weight);
        let squares = self.sum(|unit| unit.weight * (unit.nanoseconds / unit.weight / rate - 1.0).powi(2));
        let estimate = (squares / self.sum(|unit| unit.weight)).sqrt();
        Some(Spread { seconds: [at(0.1), at(0.5), at(0.9), at(1.0)], estimate })
    }
}

/// Units in a random order: all that have completions to count, or as many as a bench could count at the most.
fn draw(plan: &Plan, seed: u64) -> Vec<UnitId> {
    let mut random = StdRng::seed_from_u64(seed);
    if plan.units() <= MOST_UNITS {
        let mut ids: Vec<_> = (0..plan.units()).map(UnitId).filter(|id| has_completions(plan, *id)).collect();
        ids.shuffle(&mut random);
        return ids;
    }
    let drawn = (0..MOST_UNITS).map(|_| UnitId(random.random_range(0..plan.units())));
    drawn.filter(|id| has_completions(plan, *id)).collect()
}

fn completion_units(plan: &Plan) -> u64 {
    (0..plan.units()).filter(|id| has_completions(plan, UnitId(*id))).count() as u64
}

/// Whether it is the kernel that counts the unit: symmetric counts have a search of their own.
fn has_completions(plan: &Plan, id: UnitId) -> bool {
    matches!(plan.summand(id), Summand::Asymmetric | Summand::Symmetric(_, Measure::Completions))
}

fn count(plan: &Plan, kernel: &dyn Kernel, id: UnitId) -> Option<UnitCost> {
    let begun = ThreadTime::now();
    let count = plan.unit(id).count(kernel, &Stop::new())?;
    Some(UnitCost {
        nanoseconds: begun.elapsed().as_secs_f64() * 1e9,
        completions: count.completions as f64,
        nodes: count.nodes as f64,
        weight: plan.weight(id) as f64,
    })
}

/// One row of the table.
struct Row<'a> {
    board: Board,
    kernel: KernelName,
    threads: usize,
    plan: &'a Plan,
    measurement: Measurement,
}

impl Row<'_> {
    /// Nanoseconds of all threads together for a solution, relative error, nodes a solution, nanoseconds a node.
    fn figures(&self) -> (f64, f64, f64, f64) {
        let (solution, error) = self.measurement.ratio(|unit| unit.completions);
        let (node, _) = self.measurement.ratio(|unit| unit.nodes);
        (solution / self.threads as f64, error, solution / node, node / self.threads as f64)
    }

    /// How long the whole board takes: by its published number of solutions, else by the plan's expected work.
    fn whole_board(&self) -> Option<Duration> {
        let (solution, ..) = self.figures();
        let nanoseconds = if let Some(known) = known::totals(self.board) {
            solution * known.solutions() as f64 / 8.0
        } else {
            let (weight, _) = self.measurement.ratio(|unit| unit.weight);
            weight / self.threads as f64 * self.plan.total_weight() as f64
        };
        Duration::try_from_secs_f64(nanoseconds / 1e9).ok()
    }

    fn text(&self) -> String {
        let (solution, error, nodes, node) = self.figures();
        let spread = self.measurement.spread();
        let units =
            format!("{}{}", self.measurement.units.len(), if self.measurement.whole { "" } else { "*" });
        format!(
            "{:>2} {:<16} {:>7} {units:>9} {solution:>8.2} {:>6.1} {nodes:>9.1} {node:>8.3} {:>14} {:>10} {:>6.1}",
            self.board.n(),
            self.kernel.to_string(),
            self.threads,
            100.0 * error,
            self.whole_board().map_or_else(|| "-".into(), span),
            spread.as_ref().map_or_else(|| "-".into(), |spread| format!("{:.2e} s", spread.seconds[1])),
            100.0 * spread.map_or(0.0, |spread| spread.estimate),
        )
    }

    fn json(&self) -> serde_json::Value {
        let (solution, error, nodes, node) = self.figures();
        let spread = self.measurement.spread();
        json!({
            "n": self.board.n(),
            "kernel": self.kernel.method.to_string(),
            "isa": self.kernel.isa.to_string(),
            "threads": self.threads,
            "units": self.measurement.units.len(),
            "whole": self.measurement.whole,
            "ns_per_solution": solution,
            "relative_error": error,
            "nodes_per_solution": nodes,
            "ns_per_node": node,
            "unit_seconds": spread.as_ref().map(|spread| spread.seconds),
            "estimate_spread": spread.map(|spread| spread.estimate),
            "whole_board_seconds": self.whole_board().map(|whole| whole.as_secs_f64()),
        })
    }
}
