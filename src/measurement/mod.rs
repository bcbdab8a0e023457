//! Measures random positions of a plan: their solutions, and the time to count them.
//!
//! A large position takes minutes or more, so only a part is counted. The part is either a piece, which
//! is narrowed again if it takes too long, or some of the [passes](thinned) of the method meet. So no
//! measurement exceeds its time by much, and its result is unbiased in spite of the abandoned pieces. Times
//! are processor times of the counting threads, which other programs hardly affect. On a graphics card and on
//! Windows they are elapsed times.

mod running;
pub mod sample_sums;
pub mod speed;
mod thinned;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use queens::UnitId;
use queens::kernel::{Count, Kernel, Meet, Method, Stop};
use queens::plan::{Draw, Sampler, Step};
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};

use crate::host::ThreadClock;
use crate::progress::ProgressLine;
use running::ThreadCount;
use thinned::{PassPace, most_queens_away, thinner};

/// How often it is looked at whether a piece takes too long.
const TICK: Duration = Duration::from_millis(2);

/// The least extra time for the counts in progress when the time is up. They may take as long as any piece,
/// because ending them early would leave out the slow ones.
const OVERTIME: Duration = Duration::from_secs(1);

/// The most positions to draw: more would not improve the result, and take memory.
const MOST_SAMPLES: u64 = 1 << 20;

/// Multiples of the golden ratio, as fractions of 2^64, lie evenly over all places from the first few on.
const GOLDEN_RATIO: u64 = 0x9E37_79B9_7F4A_7C15;

/// The count of a position, or an estimate of it from a part.
#[derive(Clone, Debug)]
pub struct UnitSample {
    /// The drawn position.
    pub draw: Draw,
    /// Whether only a part of what was drawn first was counted.
    pub is_part: bool,
    /// Its completions.
    pub completions: f64,
    /// The nodes of the kernel.
    pub nodes: f64,
    /// How long that takes.
    pub nanoseconds: f64,
}

impl UnitSample {
    fn of_count(draw: Draw, count: Count, nanoseconds: f64) -> Self {
        let (completions, nodes) = (count.completions as f64, count.nodes as f64);
        Self { is_part: draw.depth > 0, draw, completions, nodes, nanoseconds }
    }
}

/// The first draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// Each unit once, in a random order.
    EachUnit,
    /// Units, by the expected work of their parts.
    Units,
    /// Whole constellations or families, by their expected work.
    Parts,
}

/// The counted part of a position that takes too long.
#[derive(Clone, Copy, Debug)]
pub enum Portion {
    /// A narrower one, by such steps.
    Piece(Step),
    /// Some of the passes of this kernel.
    Passes(Meet),
}

/// The kind of time that is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timing {
    /// The processor time of the thread that counts.
    Processor,
    /// Elapsed time, for counting on another device.
    Wall,
}

/// A measurement to make.
pub struct Task<'a> {
    /// The source of the positions.
    pub sampler: &'a Sampler<'a>,
    /// The first draw.
    pub start: Start,
    /// The counted part of positions that take too long.
    pub portion: Portion,
    /// The measured kernel.
    pub kernel: &'a dyn Kernel,
    /// The kind of time.
    pub timing: Timing,
    /// On how many threads.
    pub threads: usize,
    /// For how long.
    pub time: Duration,
    /// How long one position may take. Beyond that a smaller part is counted.
    pub limit: Duration,
    /// The seed of the draws.
    pub seed: u64,
    /// Ends it early.
    pub interrupted: &'a AtomicBool,
}

/// The positions that were counted.
pub struct Measurement {
    /// Each of them.
    pub samples: Vec<UnitSample>,
    /// Whether these are all units of the plan that have completions to count.
    pub is_whole: bool,
}

/// The shared state of the threads of a measurement.
struct MeasuredPart<'a> {
    task: &'a Task<'a>,
    /// The units in random order, if each unit is counted once.
    units: Vec<UnitId>,
    begun: Instant,
    next: AtomicUsize,
    /// For each depth, how many pieces more were given up than counted.
    given_up: Mutex<Vec<i64>>,
    /// How many passes are left out.
    pace: Mutex<PassPace>,
    samples: Mutex<Vec<UnitSample>>,
    /// Stops all counts permanently.
    ended: Stop,
}

impl Task<'_> {
    /// Counts until the time is up, all is counted, or it is interrupted.
    pub fn run(&self) -> Measurement {
        let mut units = Vec::new();
        if self.start == Start::EachUnit {
            units.extend(self.sampler.unit_ids());
            units.shuffle(&mut StdRng::seed_from_u64(self.seed));
        }
        let progress = MeasuredPart {
            task: self,
            units,
            begun: Instant::now(),
            next: AtomicUsize::new(0),
            given_up: Mutex::default(),
            pace: Mutex::new(PassPace::new(self.time, self.start == Start::EachUnit)),
            samples: Mutex::default(),
            ended: Stop::new(),
        };
        let running: Vec<ThreadCount> = (0..self.threads).map(|_| ThreadCount::default()).collect();
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let progress = &progress;
            let counting: Vec<_> =
                running.iter().map(|running| scope.spawn(move || progress.count(running))).collect();
            scope.spawn(|| progress.watch(&running, &done));
            for thread in counting {
                thread.join().expect("kernels do not panic");
            }
            done.store(true, Ordering::Relaxed);
        });
        let samples = progress.samples.into_inner();
        let is_whole = self.start == Start::EachUnit
            && samples.len() == progress.units.len()
            && samples.iter().all(|sample| !sample.is_part);
        Measurement { samples, is_whole }
    }
}

impl MeasuredPart<'_> {
    fn is_over(&self) -> bool {
        self.begun.elapsed() >= self.task.time || self.task.interrupted.load(Ordering::Relaxed)
    }

    /// Counts one draw after the other.
    fn count(&self, running: &ThreadCount) {
        while !self.is_over() {
            let number = self.next.fetch_add(1, Ordering::Relaxed) as u64;
            if number >= MOST_SAMPLES {
                break;
            }
            let mut random = StdRng::seed_from_u64(self.task.seed ^ number.wrapping_mul(GOLDEN_RATIO));
            let Some(draw) = self.draw(number, &mut random) else { break };
            let sample = match self.task.portion {
                Portion::Piece(step) => self.count_piece(draw, step, &mut random, running),
                Portion::Passes(meet) => self.count_passes(draw, meet, &mut random, running),
            };
            let Some(sample) = sample else { break };
            self.samples.lock().push(sample);
        }
        running.end();
    }

    /// The draw of that number, narrowed as far as earlier draws required. `None` after the last unit.
    fn draw(&self, number: u64, random: &mut StdRng) -> Option<Draw> {
        let sampler = self.task.sampler;
        // One place after the other by the golden ratio: so the parts are drawn more evenly than at random.
        let place = self.task.seed.wrapping_add(number).wrapping_mul(GOLDEN_RATIO);
        let mut draw = match self.task.start {
            Start::EachUnit => {
                let unit = sampler.unit(*self.units.get(number as usize)?);
                return Some(Draw { factor: self.units.len() as f64, ..unit });
            }
            Start::Units => self.near_its_cuts(sampler.draw_unit(place, random.random()), random),
            Start::Parts => sampler.draw_part(place),
        };
        let depth = {
            let given_up = self.given_up.lock();
            given_up.iter().position(|more| *more <= 0).unwrap_or(given_up.len())
        };
        while draw.depth < depth
            && let Portion::Piece(step) = self.task.portion
            && let Some(narrower) = sampler.narrow(&draw, step, random.random())
        {
            draw = narrower;
        }
        Some(draw)
    }

    /// Counts the draw, or a piece of it if that takes too long. `None` if the measurement ends earlier, or
    /// the kernel fails.
    fn count_piece(
        &self,
        mut draw: Draw,
        step: Step,
        random: &mut StdRng,
        running: &ThreadCount,
    ) -> Option<UnitSample> {
        loop {
            let stop = running.begin();
            let (begun, begun_here) = (Instant::now(), ThreadClock::now());
            let count = self.task.kernel.count(&draw.position, &stop);
            let time = match self.task.timing {
                Timing::Processor => begun_here.elapsed(),
                Timing::Wall => begun.elapsed(),
            };
            let nanoseconds = time.as_secs_f64() * 1e9;
            if count.is_none() && !stop.is_stopped() {
                // The kernel has failed.
                return None;
            }
            self.learn(draw.depth, count.is_some());
            if let Some(count) = count {
                return Some(UnitSample::of_count(draw, count, nanoseconds));
            }
            if self.ended.is_stopped() {
                return None;
            }
            match self.task.sampler.narrow(&draw, step, random.random()) {
                Some(narrower) => draw = narrower,
                None => return Some(UnitSample::of_count(draw, Count::default(), 0.0)),
            }
        }
    }

    /// The draw, narrowed until halves that meet are not many queens away.
    fn near_its_cuts(&self, mut draw: Draw, random: &mut StdRng) -> Draw {
        let rows = usize::from(draw.position.board().n());
        let most = most_queens_away(rows as u8);
        while self.task.kernel.name().method == Method::Meet
            && rows - draw.position.queens().len() > most
            && let Some(narrower) = self.task.sampler.narrow(&draw, Step::Queens, random.random())
        {
            draw = narrower;
        }
        draw
    }

    /// Counts some passes of the draw. `None` if the measurement ends earlier.
    fn count_passes(
        &self,
        draw: Draw,
        meet: Meet,
        random: &mut StdRng,
        running: &ThreadCount,
    ) -> Option<UnitSample> {
        let mut thinning = self.pace.lock().thinning(random.random());
        loop {
            let stop = running.begin();
            let (begun, begun_here) = (Instant::now(), ThreadClock::now());
            let clock = || begun_here.elapsed().as_secs_f64() * 1e9;
            let projection = meet.project(&draw.position, thinning, &clock, &stop, &self.ended);
            if self.task.start != Start::EachUnit {
                // Without a draw the time is that of the way there, which a greater distance does not shorten.
                let is_empty = projection.is_some_and(|projection| projection.nodes == 0.0);
                self.pace.lock().learn(if is_empty { Duration::ZERO } else { begun.elapsed() }, projection);
            }
            if let Some(projection) = projection {
                return Some(UnitSample {
                    is_part: thinning.stride() > 1 || draw.depth > 0,
                    draw,
                    completions: projection.completions,
                    nodes: projection.nodes,
                    nanoseconds: projection.time,
                });
            }
            if self.ended.is_stopped() {
                return None;
            }
            thinning = thinner(thinning, random.random());
        }
    }

    /// Remembers whether a piece of that depth was counted in time.
    fn learn(&self, depth: usize, in_time: bool) {
        let mut given_up = self.given_up.lock();
        if given_up.len() <= depth {
            given_up.resize(depth + 1, 0);
        }
        given_up[depth] += if in_time { -1 } else { 1 };
    }

    /// Stops counts that take too long, and all counts after an interruption or long after the end. Shows the
    /// progress.
    fn watch(&self, running: &[ThreadCount], done: &AtomicBool) {
        let mut line = ProgressLine::new();
        while !done.load(Ordering::Relaxed) {
            let elapsed = self.begun.elapsed();
            let most = self.task.time + self.task.limit.max(OVERTIME);
            let ends = self.task.interrupted.load(Ordering::Relaxed) || elapsed > most;
            if ends {
                self.ended.stop();
            }
            let takes_long = |since: &Instant| ends || since.elapsed() > self.task.limit;
            running.iter().for_each(|running| running.stop_if(takes_long));
            line.show(|| self.describe(elapsed));
            std::thread::sleep(TICK);
        }
    }

    /// How far it is after that time.
    fn describe(&self, elapsed: Duration) -> String {
        let (kernel, time) = (self.task.kernel.name(), self.task.time);
        let percent = 100.0 * elapsed.div_duration_f64(time).min(1.0);
        let counted = self.samples.lock().len();
        let left = time.saturating_sub(elapsed).as_secs();
        format!("{kernel}: {percent:.0} %, {counted} counted, {left} s left")
    }
}
