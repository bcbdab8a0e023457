//! Estimates the remaining time of a run from three quantities:
//!
//! - the expected work that is left;
//! - the ratio of actual to expected work in the units counted so far;
//! - how busy the connected threads are.
//!
//! The number of threads changes at once when workers connect or leave; their speed is known from the first units.
//! Unknown quantities widen the range. Workers without counts add at most as many threads as workers with counts have.
//! Symmetric counts come first and predict little about other units, so both kinds are measured separately.

use std::time::Duration;

use domain::TimeLeft;

/// Spread (logarithm) of actual times of units around their expected times.
const SPREAD_OF_UNITS: f64 = 0.4;

/// Spread (logarithm) of the speed of machines around the speed in which work is measured.
const SPREAD_OF_MACHINES: f64 = 0.6;

/// Spread that remains after any number of counted units, because the remaining units may differ in kind.
const SPREAD_OF_KINDS: f64 = 0.12;

/// Spread (logarithm) of how busy the present threads are, compared to earlier threads.
const SPREAD_OF_THREADS: f64 = 0.6;

/// 80 % of cases lie within this many standard deviations.
const DEVIATIONS_OF_80_PERCENT: f64 = 1.28;

/// Beyond this number of units, older units lose weight.
const MEMORY_UNITS: f64 = 2000.0;

/// At least this many units are remembered after any change.
const MIN_UNITS_KEPT: f64 = 8.0;

/// Time for which workers gather counts before a report, in seconds.
const GATHERING_TIME: f64 = 0.25;

/// The memory of how busy threads are, in multiples of the time until this is measurable.
const BUSY_MEMORY: f64 = 20.0;

/// Factor by which a unit may exceed its expected time. Until the first count, a longer silence means that units take
/// longer here, not that the threads are idle.
const LONG_UNIT_FACTOR: f64 = 4.0;

/// After a silence of this many times the longest unit, the remaining time is unknown: the threads may not be counting.
const SILENCE_FACTOR: f64 = 2.0;

/// Minimum length of this silence, in seconds.
const MIN_SILENCE: f64 = 60.0;

/// The remaining work of counts and checks, in seconds of expected work.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RemainingWork {
    /// Symmetric counts.
    pub symmetric: f64,
    /// All other units.
    pub completions: f64,
}

/// The counts of one kind and their times.
#[derive(Clone, Copy, Debug, Default)]
struct Counted {
    units: f64,
    /// Expected time in seconds of one core.
    expected: f64,
    /// Actual time in seconds of one core.
    processor: f64,
}

impl Counted {
    fn add(&mut self, expected: f64, processor: f64) {
        if self.units >= MEMORY_UNITS {
            *self = Self {
                units: self.units / 2.0,
                expected: self.expected / 2.0,
                processor: self.processor / 2.0,
            };
        }
        self.units += 1.0;
        self.expected += expected;
        self.processor += processor;
    }

    /// Reduces the weight of the units so far after a change of threads: by the square of the share of threads common
    /// to both times.
    fn change(&mut self, common: f64) {
        let kept = (MIN_UNITS_KEPT / self.units.max(MIN_UNITS_KEPT)).max(common * common);
        let Self { units, expected, processor } = *self;
        *self = Self { units: units * kept, expected: expected * kept, processor: processor * kept };
    }

    /// Mean processor time of a unit, in seconds.
    fn mean(&self) -> f64 {
        self.processor / self.units.max(1.0)
    }

    /// Expected seconds per second of processor time. The initial guess is 1, with the weight of half a unit.
    fn ratio(&self) -> f64 {
        let weight = (self.mean() / 2.0).max(f64::MIN_POSITIVE);
        (self.expected + weight) / (self.processor + weight)
    }
}

/// How busy the threads have been since the last change of their number.
#[derive(Clone, Copy, Debug)]
struct Busy {
    threads: u64,
    /// The threads that connected with the last change and are still in their first units.
    fresh: f64,
    since: Duration,
    /// The initial guess of the busy share, from 0 to 1.
    before: f64,
    /// Processor time reported since then, in seconds.
    processor: f64,
    /// Time of the last report.
    reported: Duration,
}

/// The speed of a run.
#[derive(Clone, Copy, Debug)]
pub struct Speed {
    /// Mean expected time of a unit, in seconds.
    unit: f64,
    symmetric: Counted,
    completions: Counted,
    busy: Busy,
}

impl Speed {
    /// The speed of a run. `unit` is the expected time of a unit. `units` are on record: they were expected to take
    /// `expected` and took `processor`. All times are in seconds of one core.
    pub fn new(unit: f64, units: u64, expected: f64, processor: f64) -> Self {
        let all = units.max(1) as f64;
        // Other machines may have counted them.
        let known = all.min(MEMORY_UNITS / 10.0);
        let completions = if units == 0 || expected * processor == 0.0 {
            Counted::default()
        } else {
            Counted { units: known, expected: expected * known / all, processor: processor * known / all }
        };
        let (since, reported) = (Duration::ZERO, Duration::ZERO);
        let busy = Busy { threads: 0, fresh: 0.0, since, before: 1.0, processor: 0.0, reported };
        Self { unit, symmetric: Counted::default(), completions, busy }
    }

    /// Adds a recorded unit with its expected and its actual processor time in seconds.
    pub fn add_unit(&mut self, now: Duration, is_symmetric: bool, expected: f64, processor: f64) {
        let kind = if is_symmetric { &mut self.symmetric } else { &mut self.completions };
        kind.add(expected, processor);
        self.busy.processor += processor;
        self.busy.reported = now;
        let wall = self.wall(now);
        if wall > BUSY_MEMORY * self.settling() {
            let before = self.share_of_threads(now);
            self.busy = Busy {
                fresh: 0.0,
                since: now.saturating_sub(Duration::from_secs_f64(wall / 2.0)),
                before,
                processor: self.busy.processor / 2.0,
                ..self.busy
            };
        }
    }

    /// Notes the number of connected threads.
    pub fn note_threads(&mut self, now: Duration, threads: u64) {
        if threads != self.busy.threads {
            let [old, new] = [self.busy.threads as f64, threads as f64];
            let share = if old > 0.0 { self.share_of_threads(now) } else { 1.0 };
            // Departing threads may or may not have shared cores with the remaining threads: assume half-way.
            let before =
                if new < old { (share * share * old / new.max(1.0)).sqrt().min(share.sqrt()) } else { share };
            let fresh = (new - old).max(0.0);
            if old.min(new) > 0.0 {
                self.completions.change(old.min(new) / old.max(new));
            }
            self.busy = Busy { threads, fresh, since: now, before, processor: 0.0, reported: now };
        }
    }

    /// Restarts the measurement of how busy the threads are, after a pause.
    pub fn resume(&mut self, now: Duration) {
        let fresh = self.busy.threads as f64;
        self.busy = Busy { since: now, fresh, processor: 0.0, before: 1.0, reported: now, ..self.busy };
    }

    /// The remaining time; none if no thread is connected or all are silent for too long.
    pub fn left(&self, now: Duration, rest: RemainingWork) -> Option<TimeLeft> {
        if self.silence(now) > self.max_silence(now) {
            return None;
        }
        let cores = self.busy.threads as f64 * self.share_of_threads(now);
        let processor =
            rest.symmetric / self.symmetric.ratio() + rest.completions / self.ratio_of_completions(now);
        let units = if rest.completions > 0.0 { self.completions.units } else { self.symmetric.units };
        let of_units = SPREAD_OF_UNITS / (units + 0.5).sqrt();
        let of_machines = SPREAD_OF_MACHINES / (2.0 * units + 1.0);
        let noise = self.noise(now);
        let of_threads = SPREAD_OF_THREADS * (noise / (1.0 + noise)).sqrt();
        let squares = [of_units, of_machines, of_threads, SPREAD_OF_KINDS].map(|spread| spread * spread);
        let factor = (DEVIATIONS_OF_80_PERCENT * squares.iter().sum::<f64>().sqrt()).exp();
        let seconds = |seconds: f64| Duration::try_from_secs_f64(seconds).ok();
        let expected = processor / cores;
        // Half of the gathered counts are already made.
        let expected = (expected - GATHERING_TIME / 2.0).max(expected / 2.0);
        Some(TimeLeft {
            expected: seconds(expected)?,
            low: seconds(expected / factor)?,
            high: seconds(expected * factor)?,
        })
    }

    /// Seconds for which the threads have been measured, without a silence that long units explain. Never zero, because
    /// it is a divisor.
    fn wall(&self, now: Duration) -> f64 {
        let wall = now.saturating_sub(self.busy.since).as_secs_f64();
        (wall - self.excused_silence(now)).max(1e-3)
    }

    /// The part of the silence that long units can explain, in seconds.
    fn excused_silence(&self, now: Duration) -> f64 {
        self.silence(now).min(self.max_silence(now))
    }

    /// The longest silence of busy threads, in seconds.
    fn max_silence(&self, now: Duration) -> f64 {
        let longest = LONG_UNIT_FACTOR * self.unit / self.ratio_of_completions(now);
        MIN_SILENCE.max(SILENCE_FACTOR * longest)
    }

    /// Time since the last report, in seconds.
    fn silence(&self, now: Duration) -> f64 {
        now.saturating_sub(self.busy.reported).as_secs_f64()
    }

    /// Expected seconds per second of processor time, for units other than symmetric counts.
    fn ratio_of_completions(&self, now: Duration) -> f64 {
        // The units of small boards may take no measurable time.
        if self.completions.units > 0.0 || self.unit == 0.0 {
            self.completions.ratio()
        } else {
            (LONG_UNIT_FACTOR * self.unit / self.silence(now).max(f64::MIN_POSITIVE)).min(1.0)
        }
    }

    /// Time until it is measurable how busy the threads are, in seconds.
    fn settling(&self) -> f64 {
        GATHERING_TIME + self.unit_of_completions().max(self.symmetric.mean())
    }

    /// Processor time of a unit other than a symmetric count, in seconds; the expected time before the first count.
    fn unit_of_completions(&self) -> f64 {
        if self.completions.units > 0.0 { self.completions.mean() } else { self.unit }
    }

    /// The variance of the measurement relative to the variance of the initial guess. Each thread has an unreported
    /// unit at the start and at the end of the measurement.
    fn noise(&self, now: Duration) -> f64 {
        let seen = self.settling() / self.wall(now);
        seen * seen / 6.0 / (self.busy.threads.max(1) as f64 * SPREAD_OF_THREADS * SPREAD_OF_THREADS)
    }

    /// The busy share of the threads, from 0 to 1. Each thread has an unreported unit now and had one at the start of
    /// the measurement. Threads that connected then had none, so less of their time is known.
    fn share_of_threads(&self, now: Duration) -> f64 {
        let Busy { threads, fresh, before, processor, .. } = self.busy;
        let (threads, wall) = (threads as f64, self.wall(now));
        let begun = f64::midpoint(GATHERING_TIME, self.unit_of_completions());
        let seen = threads * wall - (fresh - 1.0).max(0.0) * begun.min(wall);
        let belief = threads * wall * self.noise(now);
        ((processor + belief * before) / (seen + belief)).min(1.0)
    }
}

#[cfg(test)]
mod tests;
