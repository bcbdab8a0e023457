//! How fast a kernel counts a board on some threads.
//!
//! A speed is a ratio of sums: time to solutions, or time to nodes. Each position is weighted by the
//! positions that it stands for, so units need not be alike. The error is the standard error of that ratio,
//! from the spread between units. A board that may fit in the time is counted whole.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use gpu::{Device, GpuKernel};
use queens::kernel::{Isa, Kernel, KernelName, Meet, Method, kernel};
use queens::plan::{Sampler, Scheme, Step};
use queens::{Board, Plan, known};

use super::sample_sums::SampleSums;
use super::{Measurement, Portion, Start, Task, Timing, UnitSample};
use crate::args::{cores, new_plan, new_plan_for_cards};
use crate::worker_group::COUNTS_OF_CARD;

/// Nanoseconds of a unit of expected work: boards that take longer by this are not counted whole.
const NANOSECONDS_OF_WORK: f64 = 10.0;

/// The largest part of the time for one position, and the least time for it. A card gets a larger part,
/// because the pieces of a unit take it several times as long as the unit.
const PIECE: f64 = 1.0 / 20.0;
const PIECE_OF_CARD: f64 = 1.0 / 4.0;
const SHORTEST_LIMIT: Duration = Duration::from_millis(20);

/// The time to make lists, for each byte of them. A position with long lists takes at least that time.
const NANOSECONDS_OF_BYTE: f64 = 0.25;

/// How often a measurement is repeated, each time twice as long, if its error is still unknown, as on a busy
/// machine or for a large board.
const MORE_TRIES: usize = 2;

/// The device that counts.
#[derive(Clone, Debug)]
pub enum Counter {
    /// The processor with an instruction set.
    Processor(Isa),
    /// A graphics card.
    Card(Device),
}

impl Counter {
    /// The processor with each of these instruction sets.
    pub fn of_processor(isas: &[Isa]) -> Vec<Self> {
        isas.iter().copied().map(Self::Processor).collect()
    }

    /// Whether it is a card, and not OpenCL on the processor.
    fn is_card(&self) -> bool {
        matches!(self, Self::Card(card) if !card.description().is_processor())
    }

    /// The part of the time that one position may take.
    fn piece(&self) -> f64 {
        match self {
            Self::Processor(_) => PIECE,
            Self::Card(_) => PIECE_OF_CARD,
        }
    }

    /// How many counts it is given at a time. Launches of the search wait for each other, so that of several counts the small
    /// ones would seem to take as long as the large ones beside them.
    fn threads(&self, method: Method) -> usize {
        match (self, method) {
            (Self::Processor(_), _) | (Self::Card(_), Method::Search) => 1,
            (Self::Card(_), Method::Meet) => COUNTS_OF_CARD as usize,
        }
    }
}

/// A kernel to measure, and its share of the time.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// The plan of the drawn units.
    pub plan: Arc<Plan>,
    /// The device and its settings.
    counter: Counter,
    method: Method,
    /// On how many threads.
    pub threads: usize,
    /// Bytes for the lists of each.
    pub lists: usize,
    /// Its share of the board's time, relative to that of the other candidates.
    share: f64,
}

/// Each of these with each method and lists of this many bytes, processors with one thread. The best of them for the board gets as much
/// time as all others together. It is measured once more with all threads if there are several.
pub fn candidates(
    n: Board,
    methods: &[Method],
    counters: &[Counter],
    threads: usize,
    lists: usize,
    scheme: Option<Scheme>,
) -> anyhow::Result<Vec<Candidate>> {
    let (best, others): (Vec<Method>, Vec<Method>) =
        methods.iter().partition(|method| **method == Method::best(n));
    let new_plan = if counters.iter().any(Counter::is_card) { new_plan_for_cards } else { new_plan };
    let mut all = Vec::new();
    for method in best.into_iter().chain(others) {
        let plan = Arc::new(Plan::derive(new_plan(n, Some(method), scheme))?);
        all.extend(counters.iter().map(|counter| Candidate {
            plan: Arc::clone(&plan),
            counter: counter.clone(),
            method,
            threads: counter.threads(method),
            lists,
            share: 1.0,
        }));
    }
    if threads > 1
        && let Some(best) = all.first().cloned()
    {
        all.push(Candidate { threads, ..best });
    }
    let others = all.len() as f64 - 1.0;
    if let Some(best) = all.first_mut() {
        best.share = others.max(1.0);
    }
    let sum: f64 = all.iter().map(|candidate| candidate.share).sum();
    all.iter_mut().for_each(|candidate| candidate.share /= sum);
    Ok(all)
}

/// How fast a kernel counts a board.
#[derive(Clone, Debug)]
pub struct KernelSpeed {
    /// The board.
    pub board: Board,
    /// The measured kernel.
    pub kernel: KernelName,
    /// The number of the card that counts, if it is one.
    pub card: Option<usize>,
    /// On how many threads.
    pub threads: usize,
    /// How many of these count at a time.
    pub at_a_time: usize,
    /// How many positions were counted.
    pub positions: usize,
    /// The units of which only a part was counted.
    pub pieces: usize,
    /// Whether they are the whole board.
    pub is_whole: bool,
    /// Nanoseconds for a solution of all threads together.
    pub ns_per_solution: f64,
    /// Its relative standard error; `None` for a single position, whose spread is unknown.
    pub error: Option<f64>,
    /// Nodes for a solution.
    pub nodes_per_solution: f64,
    /// Nanoseconds for a node of all threads together.
    pub ns_per_node: f64,
    /// Seconds of all threads together for the whole board: by its published number of solutions, else by what the positions
    /// stand for.
    pub board_seconds: f64,
    /// Seconds of a unit, on average.
    pub unit_seconds: f64,
    /// The relative standard deviation of time over expected work, units weighted by that work; none of pieces.
    pub estimate: Option<f64>,
}

impl fmt::Display for Candidate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "n = {}, {}/", self.plan.board(), self.method)?;
        match &self.counter {
            Counter::Processor(isa) => isa.fmt(f),
            Counter::Card(card) => write!(f, "gpu{}", card.number()),
        }
    }
}

impl Candidate {
    /// Measures it for its share of these seconds, and for longer if the error is still unknown. `None` if no
    /// solution is found at all.
    ///
    /// # Errors
    /// There is no such kernel here, or the card fails.
    pub fn measure(
        &self,
        seconds: f64,
        seed: u64,
        interrupted: &AtomicBool,
    ) -> anyhow::Result<Option<KernelSpeed>> {
        match &self.counter {
            Counter::Processor(isa) => {
                let kernel = kernel(self.method, Some(*isa))?;
                let portion = match self.method {
                    Method::Meet => Portion::Passes(Meet::with_memory(*isa, self.lists_within(seconds))?),
                    Method::Search => Portion::Piece(Step::Queens),
                };
                Ok(self.measure_with(&*kernel, portion, Timing::Processor, seconds, seed, interrupted))
            }
            Counter::Card(card) => {
                let kernel = GpuKernel::new(card.clone(), self.method)?;
                let step = if self.method == Method::Meet { Step::Sides } else { Step::Queens };
                let portion = Portion::Piece(step);
                let speed = self.measure_with(&kernel, portion, Timing::Wall, seconds, seed, interrupted);
                kernel.failure().map_or(Ok(speed), |failure| Err(failure.clone().into()))
            }
        }
    }

    /// The bytes for lists in a measurement of so many seconds: making them must not exceed the time for a position.
    fn lists_within(&self, seconds: f64) -> usize {
        let most = seconds * self.share * PIECE * 1e9 / NANOSECONDS_OF_BYTE;
        self.lists.min((most as usize).max(Meet::DEFAULT_MEMORY))
    }

    /// How many of the threads count at a time: no more than there are cores, whose time they share. The cores are
    /// assumed to be idle otherwise. A card works on all its counts at once.
    fn at_a_time(&self) -> usize {
        match self.counter {
            Counter::Processor(_) => self.threads.min(cores() as usize),
            Counter::Card(_) => self.threads,
        }
    }

    fn measure_with(
        &self,
        kernel: &dyn Kernel,
        portion: Portion,
        timing: Timing,
        seconds: f64,
        seed: u64,
        interrupted: &AtomicBool,
    ) -> Option<KernelSpeed> {
        let sampler = Sampler::new(&self.plan);
        let measure = |seconds: f64| {
            let nanoseconds = 1e9 * seconds * self.at_a_time() as f64;
            let is_small = sampler.expected_work() * NANOSECONDS_OF_WORK < nanoseconds;
            let task = Task {
                sampler: &sampler,
                start: if is_small { Start::EachUnit } else { Start::Units },
                portion,
                kernel,
                timing,
                threads: self.threads,
                time: Duration::from_secs_f64(seconds),
                limit: Duration::from_secs_f64(seconds * self.counter.piece()).max(SHORTEST_LIMIT),
                seed,
                interrupted,
            };
            task.run()
        };
        let mut tries_left = MORE_TRIES;
        let mut seconds = seconds * self.share;
        loop {
            let measurement = measure(seconds);
            let speed = KernelSpeed::of(self, kernel.name(), &measurement);
            let tells_its_error = speed.as_ref().is_some_and(|speed| speed.error.is_some());
            if tells_its_error
                || measurement.is_whole
                || tries_left == 0
                || interrupted.load(Ordering::Relaxed)
            {
                return speed;
            }
            tries_left -= 1;
            seconds *= 2.0;
        }
    }
}

impl KernelSpeed {
    /// The speed from the measurement. `None` without counts or without solutions.
    fn of(candidate: &Candidate, kernel: KernelName, measurement: &Measurement) -> Option<Self> {
        let Candidate { ref plan, threads, .. } = *candidate;
        let at_a_time = candidate.at_a_time();
        let Measurement { samples, is_whole } = measurement;
        let sums = SampleSums(samples);
        let time = |sample: &UnitSample| sample.nanoseconds;
        let solutions = |sample: &UnitSample| sample.completions;
        let found = sums.of(solutions);
        if found <= 0.0 {
            return None;
        }
        let nodes = sums.of(|sample| sample.nodes);
        let together = at_a_time as f64;
        let solution = sums.of(time) / found / together;
        let whole = sums.of(time) / samples.len() as f64 / 1e9;
        let known =
            known::totals(plan.board()).map(|totals| solution * totals.solutions() as f64 / 8.0 / 1e9);
        Some(Self {
            board: plan.board(),
            kernel,
            card: match &candidate.counter {
                Counter::Processor(_) => None,
                Counter::Card(card) => Some(card.number()),
            },
            threads,
            at_a_time,
            positions: samples.len(),
            pieces: samples.iter().filter(|sample| sample.is_part).count(),
            is_whole: *is_whole,
            ns_per_solution: solution,
            error: if *is_whole { Some(0.0) } else { sums.error(time, solutions) },
            nodes_per_solution: nodes / found,
            ns_per_node: sums.of(time) / nodes / together,
            board_seconds: known.unwrap_or(whole / together),
            unit_seconds: whole / plan.units() as f64,
            estimate: spread(plan, samples),
        })
    }
}

/// How far the times of units, measured or estimated from their passes, depart from the plan's estimates.
/// Pieces do not count.
fn spread(plan: &Plan, samples: &[UnitSample]) -> Option<f64> {
    if samples.len() < 2 || samples.iter().any(|sample| sample.draw.unit.is_none()) {
        return None;
    }
    let expected = |sample: &UnitSample| sample.draw.unit.map_or(0, |unit| plan.weight_alone(unit)) as f64;
    let sums = SampleSums(samples);
    let work = sums.of(expected);
    let rate = sums.of(|sample| sample.nanoseconds) / work;
    let squares = sums.of(|sample| {
        let expected = expected(sample);
        expected * (sample.nanoseconds / expected / rate - 1.0).powi(2)
    });
    Some((squares / work).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use queens::Position;
    use queens::plan::Draw;

    #[test]
    fn shared_core_is_not_faster_than_own_core() {
        let board = Board::new(12).unwrap();
        let portable = Counter::of_processor(&[Isa::Portable]);
        let candidate =
            candidates(board, &[Method::Search], &portable, 1, Meet::DEFAULT_MEMORY, None).unwrap().remove(0);
        let name = kernel(Method::Search, Some(Isa::Portable)).unwrap().name();
        let draw = Draw { position: Position::empty(board), factor: 1.0, images: 8, unit: None, depth: 0 };
        let sample = UnitSample { draw, is_part: true, completions: 10.0, nodes: 100.0, nanoseconds: 1000.0 };
        let measurement = Measurement { samples: vec![sample], is_whole: false };
        let speed = |threads| {
            let candidate = Candidate { threads, ..candidate.clone() };
            KernelSpeed::of(&candidate, name, &measurement).unwrap()
        };
        let cores = cores() as usize;
        let (one, all, more) = (speed(1), speed(cores), speed(32 * cores));
        assert!((one.ns_per_solution - 100.0).abs() < 1e-9, "{one:?}");
        assert!((one.ns_per_solution / all.ns_per_solution - cores as f64).abs() < 1e-9, "{all:?}");
        assert_eq!((more.threads, more.at_a_time), (32 * cores, cores));
        for time in [
            |speed: &KernelSpeed| speed.ns_per_solution,
            |speed: &KernelSpeed| speed.ns_per_node,
            |speed: &KernelSpeed| speed.board_seconds,
        ] {
            assert!((time(&more) / time(&all) - 1.0).abs() < 1e-9, "{more:?}");
        }
    }
}
