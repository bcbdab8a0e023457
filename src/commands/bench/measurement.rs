//! The time that positions drawn at random take to be counted.
//!
//! A board that a line's seconds may suffice for is drawn unit by unit without repetition, until all are counted. Of larger
//! ones units are drawn by their expected work, and narrowed until a piece takes a small part of the time: a piece that
//! takes too long is given up and narrowed once more, so that no line takes much longer than it may, and what is counted
//! is without bias whatever was given up. Times are processor times of the counting threads, so that other programs hardly
//! enter.

use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use cpu_time::ThreadTime;
use indicatif::{ProgressBar, ProgressStyle};
use queens::UnitId;
use queens::kernel::{Count, Kernel, Stop};
use queens::plan::{Draw, Sampler};
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};

/// Nanoseconds of expected work: boards that take longer by this are not counted whole.
const NANOSECONDS_OF_WORK: f64 = 10.0;

/// The part of a line's time that one piece may take, and the least that is allowed it in any case.
const PIECE: f64 = 1.0 / 60.0;
const SHORTEST_LIMIT: Duration = Duration::from_millis(20);

/// How often it is looked at whether a piece takes too long.
const TICK: Duration = Duration::from_millis(2);

/// Multiples of the golden ratio, as fractions of 2^64, lie evenly over all places from the first few on.
const GOLDEN_RATIO: u64 = 0x9E37_79B9_7F4A_7C15;

/// A position that was counted.
#[derive(Clone, Debug)]
pub struct Sample {
    /// What was drawn.
    pub draw: Draw,
    /// What was found.
    pub count: Count,
    /// How long that took.
    pub nanoseconds: f64,
}

/// The positions that were counted.
pub struct Measurement {
    /// Each of them.
    pub samples: Vec<Sample>,
    /// Whether these are all units of the plan that have completions to count.
    pub is_whole: bool,
}

/// What all threads of a line share.
struct Line<'a> {
    sampler: &'a Sampler<'a>,
    /// The units in a random order where the board may be counted whole.
    units: Option<Vec<UnitId>>,
    kernel: &'a dyn Kernel,
    seed: u64,
    end: Instant,
    /// The longest that a piece may take.
    limit: Duration,
    next: AtomicUsize,
    /// For each depth, how many pieces more were given up than counted.
    given_up: Mutex<Vec<i64>>,
    samples: Mutex<Vec<Sample>>,
    interrupted: &'a AtomicBool,
}

impl Measurement {
    /// Counts with so many threads for that long, or until it is interrupted.
    pub fn take(
        sampler: &Sampler,
        kernel: &dyn Kernel,
        threads: usize,
        seconds: f64,
        seed: u64,
        interrupted: &AtomicBool,
    ) -> Self {
        let whole = sampler.expected_work() * NANOSECONDS_OF_WORK < 1e9 * seconds * threads as f64;
        let line = Line {
            sampler,
            units: whole.then(|| shuffled(sampler, seed)),
            kernel,
            seed,
            end: Instant::now() + Duration::from_secs_f64(seconds),
            limit: Duration::from_secs_f64(seconds * PIECE).max(SHORTEST_LIMIT),
            next: AtomicUsize::new(0),
            given_up: Mutex::default(),
            samples: Mutex::default(),
            interrupted,
        };
        let running: Vec<Running> = (0..threads).map(|_| Running::default()).collect();
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let counting: Vec<_> =
                running.iter().map(|running| scope.spawn(|| line.count(running))).collect();
            scope.spawn(|| line.watch(&running, &done));
            for thread in counting {
                thread.join().expect("kernels do not panic");
            }
            done.store(true, Ordering::Relaxed);
        });
        let samples = line.samples.into_inner().unwrap_or_else(PoisonError::into_inner);
        let is_whole = line.units.is_some_and(|units| samples.len() == units.len())
            && samples.iter().all(|sample| sample.draw.depth == 0);
        Self { samples, is_whole }
    }
}

fn shuffled(sampler: &Sampler, seed: u64) -> Vec<UnitId> {
    let mut units: Vec<UnitId> = sampler.unit_ids().collect();
    units.shuffle(&mut StdRng::seed_from_u64(seed));
    units
}

/// What a thread counts, since when, and how it is stopped.
#[derive(Default)]
struct Running(Mutex<Option<(Instant, Arc<Stop>)>>);

impl Running {
    fn set(&self, what: Option<(Instant, Arc<Stop>)>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = what;
    }

    fn stop_if(&self, is_over: impl Fn(&Instant) -> bool) {
        if let Some((since, stop)) = &*self.0.lock().unwrap_or_else(PoisonError::into_inner)
            && is_over(since)
        {
            stop.stop();
        }
    }
}

impl Line<'_> {
    /// Counts one draw after the other until the time is up.
    fn count(&self, running: &Running) {
        while Instant::now() < self.end && !self.interrupted.load(Ordering::Relaxed) {
            let number = self.next.fetch_add(1, Ordering::Relaxed) as u64;
            let mut random = StdRng::seed_from_u64(self.seed ^ number.wrapping_mul(GOLDEN_RATIO));
            let Some(draw) = self.draw(number, &mut random) else { break };
            let Some(sample) = self.count_pieces(draw, &mut random, running) else { break };
            self.samples.lock().unwrap_or_else(PoisonError::into_inner).push(sample);
        }
        running.set(None);
    }

    /// The draw of that number, narrowed as far as earlier ones showed to be needed. Nothing after the last unit.
    fn draw(&self, number: u64, random: &mut StdRng) -> Option<Draw> {
        if let Some(units) = &self.units {
            let draw = self.sampler.whole(*units.get(number as usize)?);
            return Some(Draw { factor: units.len() as f64, ..draw });
        }
        let place =
            self.seed.wrapping_mul(GOLDEN_RATIO).wrapping_add((number + 1).wrapping_mul(GOLDEN_RATIO));
        let depth = {
            let given_up = self.given_up.lock().unwrap_or_else(PoisonError::into_inner);
            given_up.iter().position(|more| *more <= 0).unwrap_or(given_up.len())
        };
        let mut draw = self.sampler.draw(place, &mut |k| random.random_range(0..k));
        while draw.depth < depth {
            match self.sampler.narrow(draw.clone(), &mut |k| random.random_range(0..k)) {
                Some(narrower) => draw = narrower,
                None => break,
            }
        }
        Some(draw)
    }

    /// Counts the draw, or a piece of it if that takes too long. Nothing if it is interrupted.
    fn count_pieces(&self, mut draw: Draw, random: &mut StdRng, running: &Running) -> Option<Sample> {
        loop {
            let stop = Arc::new(Stop::new());
            running.set(Some((Instant::now(), Arc::clone(&stop))));
            let begun = ThreadTime::now();
            let count = self.kernel.count(&draw.position, &stop);
            let nanoseconds = begun.elapsed().as_secs_f64() * 1e9;
            self.learn(draw.depth, count.is_some());
            if let Some(count) = count {
                return Some(Sample { draw, count, nanoseconds });
            }
            if self.interrupted.load(Ordering::Relaxed) {
                return None;
            }
            let Some(narrower) = self.sampler.narrow(draw.clone(), &mut |k| random.random_range(0..k)) else {
                return Some(Sample { draw, count: Count::default(), nanoseconds: 0.0 });
            };
            draw = narrower;
        }
    }

    /// Remembers whether a piece of that depth was counted in time.
    fn learn(&self, depth: usize, in_time: bool) {
        let mut given_up = self.given_up.lock().unwrap_or_else(PoisonError::into_inner);
        if given_up.len() <= depth {
            given_up.resize(depth + 1, 0);
        }
        given_up[depth] += if in_time { -1 } else { 1 };
    }

    /// Stops what takes too long, and all when it is interrupted; shows on a terminal how far it is.
    fn watch(&self, running: &[Running], done: &AtomicBool) {
        let bar = if std::io::stderr().is_terminal() { bar() } else { ProgressBar::hidden() };
        let begun = Instant::now();
        while !done.load(Ordering::Relaxed) {
            let interrupted = self.interrupted.load(Ordering::Relaxed);
            let is_over = |since: &Instant| interrupted || since.elapsed() > self.limit;
            running.iter().for_each(|running| running.stop_if(is_over));
            let counted = self.samples.lock().unwrap_or_else(PoisonError::into_inner).len();
            let left = self.end.saturating_duration_since(Instant::now()).as_secs();
            bar.set_message(format!("{}: {counted} counted, {left} s left", self.kernel.name()));
            bar.set_position(begun.elapsed().as_millis() as u64);
            bar.set_length((self.end - begun).as_millis() as u64);
            std::thread::sleep(TICK);
        }
        bar.finish_and_clear();
    }
}

fn bar() -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:30}  {msg}");
    ProgressBar::new(1)
        .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("=> "))
}
