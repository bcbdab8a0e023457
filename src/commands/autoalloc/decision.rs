//! What to do next about the queue.

use domain::{Phase, RunStatus};

use super::queue::{Job, Stage};

/// What the run has for workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Demand {
    /// Counts and checks that no worker makes yet.
    Units(u64),
    /// Nothing for now, and why.
    Nothing(&'static str),
    /// The coordinator has just stopped answering.
    Unknown,
}

impl Demand {
    /// What a run in this state has.
    pub fn of(status: &RunStatus) -> Self {
        if status.phase != Phase::Counting {
            return Self::Nothing("all units are counted");
        }
        if status.paused.is_some() {
            return Self::Nothing("the run is paused");
        }
        let left = status.units.saturating_sub(status.done) + status.assurance.pending;
        Self::Units(left.saturating_sub(status.leased))
    }
}

/// The jobs in the queue, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    pub waiting: u32,
    pub running: u32,
    /// The threads of a job; 0 while there is none.
    pub threads: u32,
}

impl Tally {
    pub fn of(jobs: &[Job]) -> Self {
        let count = |stage| jobs.iter().filter(|job| job.stage == stage).count() as u32;
        let threads = jobs.iter().map(|job| job.threads).max().unwrap_or(0);
        Self { waiting: count(Stage::Waiting), running: count(Stage::Running), threads }
    }
}

/// The next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Submit so many jobs.
    Submit(u32),
    CancelWaiting,
    Wait,
}

/// The next step, where `backlog` jobs may wait, and `most` may wait or run. Each waiting job must find a unit for each of its
/// threads.
pub fn next_step(demand: Demand, tally: Tally, backlog: u32, most: u32) -> Step {
    let units = match demand {
        Demand::Units(units) => units,
        Demand::Nothing(_) if tally.waiting > 0 => return Step::CancelWaiting,
        Demand::Nothing(_) | Demand::Unknown => return Step::Wait,
    };
    let useful = units.div_ceil(tally.threads.max(1).into());
    let most_waiting = u32::try_from(useful).unwrap_or(u32::MAX).min(backlog);
    let room = most.saturating_sub(tally.waiting + tally.running);
    match most_waiting.saturating_sub(tally.waiting).min(room) {
        0 => Step::Wait,
        jobs => Step::Submit(jobs),
    }
}

#[cfg(test)]
mod tests {
    use domain::Assurance;

    use super::*;
    use crate::samples::{finished, running};

    fn tally(waiting: u32, running: u32) -> Tally {
        Tally { waiting, running, threads: 4 }
    }

    #[test]
    fn backlog_and_most_workers_limit_the_jobs() {
        let step = |waiting, running, backlog| {
            next_step(Demand::Units(10_000), tally(waiting, running), backlog, 50)
        };
        assert_eq!(step(0, 0, 10), Step::Submit(10));
        assert_eq!(step(7, 20, 10), Step::Submit(3));
        assert_eq!(step(2, 45, 10), Step::Submit(3));
        assert_eq!(step(10, 20, 10), Step::Wait);
        assert_eq!(step(5, 45, 10), Step::Wait);
        assert_eq!(step(0, 20, 0), Step::Wait);
        // More than are allowed, as after a start with a lower limit.
        assert_eq!(step(9, 90, 10), Step::Wait);
    }

    #[test]
    fn few_open_units_limit_the_jobs() {
        let step = |units, waiting| next_step(Demand::Units(units), tally(waiting, 5), 10, 50);
        assert_eq!(step(9, 0), Step::Submit(3));
        assert_eq!(step(9, 2), Step::Submit(1));
        assert_eq!(step(9, 3), Step::Wait);
        assert_eq!(step(0, 0), Step::Wait);
        assert_eq!(next_step(Demand::Units(3), Tally::default(), 10, 50), Step::Submit(3));
    }

    #[test]
    fn run_without_demand_cancels_what_waits() {
        assert_eq!(next_step(Demand::Nothing("paused"), tally(2, 5), 10, 50), Step::CancelWaiting);
        assert_eq!(next_step(Demand::Nothing("paused"), tally(0, 5), 10, 50), Step::Wait);
        assert_eq!(next_step(Demand::Unknown, tally(2, 5), 10, 50), Step::Wait);
    }

    #[test]
    fn demand_has_checks_and_no_lent_units() {
        let assurance = Assurance { pending: 30, ..Assurance::default() };
        let status = RunStatus { units: 100, done: 60, leased: 20, assurance, paused: None, ..running() };
        assert_eq!(Demand::of(&status), Demand::Units(50));
        let paused = RunStatus { paused: Some("night".into()), ..status };
        assert!([paused, finished()].iter().all(|status| matches!(Demand::of(status), Demand::Nothing(_))));
    }
}
