//! How long the rest of a run takes: by its expected work, by how the units counted so far departed from that, and by how
//! busy the threads are that are there.
//!
//! The threads are known at once when workers come and go, how fast they are from the first units on; what is not known
//! yet widens the range. Workers that have counted nothing are believed to have as many threads as those that have, and no more.
//! Symmetric counts, which come first, say little of the others, so the two are kept apart.

use std::time::Duration;

use domain::TimeLeft;

/// How far, as a logarithm, the times of units lie from what is expected of them, and a machine's speed from the one that
/// work is measured in.
const SPREAD_OF_UNITS: f64 = 0.4;
const SPREAD_OF_MACHINES: f64 = 0.6;

/// What no number of counted units takes away: those that are left may be of another kind.
const SPREAD_OF_KINDS: f64 = 0.12;

/// How far, as a logarithm, the threads that are there now may be busier or less busy than those before.
const SPREAD_OF_THREADS: f64 = 0.6;

/// Four of five cases lie within so many standard deviations.
const FOUR_OF_FIVE: f64 = 1.28;

/// Units beyond so many, the older ones, count for less and less.
const MEMORY: f64 = 2000.0;

/// So many units are remembered whatever changes.
const KEPT: f64 = 8.0;

/// For so long, in seconds, workers gather counts before they report them.
const GATHERED: f64 = 0.25;

/// So many times the time that a thread needs to be known is remembered of how busy they are.
const SETTLED: f64 = 20.0;

/// A unit may take so many times as long as it should. Before one is counted a longer silence says that units take longer here,
/// rather than that nobody counts.
const LONG_UNITS: f64 = 4.0;

/// After a silence of so many times that, and of no less than so many seconds, nobody knows whether the threads count: of the time left
/// nothing is said.
const STILL: f64 = 2.0;
const STILL_AT_LEAST: f64 = 60.0;

/// What is left to be counted and checked, in seconds of expected work.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rest {
    /// Symmetric counts.
    pub symmetric: f64,
    /// All other units.
    pub completions: f64,
}

/// What the counts of one kind took.
#[derive(Clone, Copy, Debug, Default)]
struct Counted {
    units: f64,
    /// Seconds that were expected.
    expected: f64,
    /// Seconds of the processor.
    processor: f64,
}

impl Counted {
    fn add(&mut self, expected: f64, processor: f64) {
        if self.units >= MEMORY {
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

    /// Has the units so far count for less, where there are other threads now, or others beside them: of the share that was
    /// there before and is now, the square counts.
    fn change(&mut self, common: f64) {
        let kept = (KEPT / self.units.max(KEPT)).max(common * common);
        let Self { units, expected, processor } = *self;
        *self = Self { units: units * kept, expected: expected * kept, processor: processor * kept };
    }

    /// Seconds of the processor for a unit, on average.
    fn mean(&self) -> f64 {
        self.processor / self.units.max(1.0)
    }

    /// Expected seconds in a second of the processor: one, if nothing is known, which weighs as much as half a unit.
    fn ratio(&self) -> f64 {
        let weight = (self.mean() / 2.0).max(f64::MIN_POSITIVE);
        (self.expected + weight) / (self.processor + weight)
    }
}

/// How busy the threads have been since the last change of their number.
#[derive(Clone, Copy, Debug)]
struct Busy {
    threads: u64,
    /// Those of them that came with that change, which have only begun their first units.
    fresh: f64,
    since: Duration,
    /// What is believed of them at first, from 0 to 1.
    before: f64,
    /// Seconds of the processor that were reported,
    processor: f64,
    /// and when the last of them were.
    reported: Duration,
}

/// The speed of a run.
#[derive(Clone, Copy, Debug)]
pub struct Speed {
    /// Seconds that a unit is expected to take on average.
    unit: f64,
    symmetric: Counted,
    completions: Counted,
    busy: Busy,
}

impl Speed {
    /// Of a run of which a unit is expected to take so many seconds, with so many units on record that took so many seconds of the
    /// processor where that was expected.
    pub fn new(unit: f64, units: u64, expected: f64, processor: f64) -> Self {
        let all = units.max(1) as f64;
        // They may have been counted on other machines.
        let known = all.min(MEMORY / 10.0);
        let completions = if units == 0 || expected * processor == 0.0 {
            Counted::default()
        } else {
            Counted { units: known, expected: expected * known / all, processor: processor * known / all }
        };
        let (since, reported) = (Duration::ZERO, Duration::ZERO);
        let busy = Busy { threads: 0, fresh: 0.0, since, before: 1.0, processor: 0.0, reported };
        Self { unit, symmetric: Counted::default(), completions, busy }
    }

    /// A unit is on record that was expected to take so many seconds, and took so many of the processor.
    pub fn counted(&mut self, now: Duration, is_symmetric: bool, expected: f64, processor: f64) {
        let kind = if is_symmetric { &mut self.symmetric } else { &mut self.completions };
        kind.add(expected, processor);
        self.busy.processor += processor;
        self.busy.reported = now;
        let wall = self.wall(now);
        if wall > SETTLED * self.settling() {
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

    /// So many threads are there.
    pub fn follow(&mut self, now: Duration, threads: u64) {
        if threads != self.busy.threads {
            let [old, new] = [self.busy.threads as f64, threads as f64];
            let share = if old > 0.0 { self.share_of_threads(now) } else { 1.0 };
            // Those that leave may have shared cores with those that stay, or may not: half-way between the two.
            let before =
                if new < old { (share * share * old / new.max(1.0)).sqrt().min(share.sqrt()) } else { share };
            let fresh = (new - old).max(0.0);
            if old.min(new) > 0.0 {
                self.completions.change(old.min(new) / old.max(new));
            }
            self.busy = Busy { threads, fresh, since: now, before, processor: 0.0, reported: now };
        }
    }

    /// How busy threads were in a pause says nothing: from now on it is looked at anew.
    pub fn resume(&mut self, now: Duration) {
        let fresh = self.busy.threads as f64;
        self.busy = Busy { since: now, fresh, processor: 0.0, before: 1.0, reported: now, ..self.busy };
    }

    /// How long the rest takes; nothing where no thread is there, or none that is heard of.
    pub fn left(&self, now: Duration, rest: Rest) -> Option<TimeLeft> {
        if self.silence(now) > self.patience(now) {
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
        let factor = (FOUR_OF_FIVE * squares.iter().sum::<f64>().sqrt()).exp();
        let seconds = |seconds: f64| Duration::try_from_secs_f64(seconds).ok();
        let expected = processor / cores;
        // Half of what is gathered has been counted already.
        let expected = (expected - GATHERED / 2.0).max(expected / 2.0);
        Some(TimeLeft {
            expected: seconds(expected)?,
            low: seconds(expected / factor)?,
            high: seconds(expected * factor)?,
        })
    }

    /// Seconds since it was begun to look at the threads, but for those of which nothing can be told yet; never quite nothing, to be
    /// divided by.
    fn wall(&self, now: Duration) -> f64 {
        let wall = now.saturating_sub(self.busy.since).as_secs_f64();
        (wall - self.untold(now)).max(1e-3)
    }

    /// For how long nothing has been reported, as long as the threads may all be counting units that take longer.
    fn untold(&self, now: Duration) -> f64 {
        self.silence(now).min(self.patience(now))
    }

    /// A longer silence, in seconds, is none of threads that count.
    fn patience(&self, now: Duration) -> f64 {
        let longest = LONG_UNITS * self.unit / self.ratio_of_completions(now);
        STILL_AT_LEAST.max(STILL * longest)
    }

    /// For how long nothing has been reported, in seconds.
    fn silence(&self, now: Duration) -> f64 {
        now.saturating_sub(self.busy.reported).as_secs_f64()
    }

    /// Expected seconds of units that are no symmetric counts in a second of the processor.
    fn ratio_of_completions(&self, now: Duration) -> f64 {
        // Small boards may have no unit that takes any time.
        if self.completions.units > 0.0 || self.unit == 0.0 {
            self.completions.ratio()
        } else {
            (LONG_UNITS * self.unit / self.silence(now).max(f64::MIN_POSITIVE)).min(1.0)
        }
    }

    /// How long it takes, in seconds, until it can be told how busy threads are.
    fn settling(&self) -> f64 {
        GATHERED + self.unit_of_completions().max(self.symmetric.mean())
    }

    /// Seconds of the processor for a unit that is no symmetric count: as expected before there is one.
    fn unit_of_completions(&self) -> f64 {
        if self.completions.units > 0.0 { self.completions.mean() } else { self.unit }
    }

    /// The variance of what has been seen of the threads, in terms of that of what is believed of them before: each has something
    /// begun that is not reported, now and when it was begun to look.
    fn noise(&self, now: Duration) -> f64 {
        let seen = self.settling() / self.wall(now);
        seen * seen / 6.0 / (self.busy.threads.max(1) as f64 * SPREAD_OF_THREADS * SPREAD_OF_THREADS)
    }

    /// How much of the time the threads count, from 0 to 1. What they have begun is not reported yet, and they had begun as
    /// much when that was last looked at, but for those that came then: of their time less is known.
    fn share_of_threads(&self, now: Duration) -> f64 {
        let Busy { threads, fresh, before, processor, .. } = self.busy;
        let (threads, wall) = (threads as f64, self.wall(now));
        let begun = f64::midpoint(GATHERED, self.unit_of_completions());
        let seen = threads * wall - (fresh - 1.0).max(0.0) * begun.min(wall);
        let belief = threads * wall * self.noise(now);
        ((processor + belief * before) / (seen + belief)).min(1.0)
    }
}

#[cfg(test)]
mod tests;
