//! What must hold after each step, whatever has happened.

use std::time::Duration;

use domain::Owner;
use queens::UnitId;
use records::DoubleCheck;
use records::standing::UnitMark;

use super::worker::Habit;
use super::{Truth, World};
use crate::core::votes::Need;

impl World {
    /// Looks at everything that must hold.
    fn check(&mut self) {
        self.standing_is_what_the_records_say();
        self.every_open_unit_is_found();
        self.only_the_wrong_are_quarantined();
    }

    fn standing_is_what_the_records_say(&mut self) {
        let replayed = self.replayed();
        assert_eq!(self.core.votes.standing().sums(), replayed.sums());
        for mark in UnitMark::ALL {
            assert!(self.core.votes.standing().units_with(mark).eq(replayed.units_with(mark)), "{mark:?}");
        }
        for unit in (0..self.truth.plan.units()).map(UnitId) {
            let known = self.core.votes.standing().vote(unit);
            assert!(known.is_none() || known == replayed.vote(unit), "unit {unit}");
        }
        assert_eq!(self.core.votes.recording().next(), None, "nothing is on its way");
    }

    fn every_open_unit_is_found(&self) {
        let core = &self.core;
        let mut counts_open = 0;
        for unit in (0..self.truth.plan.units()).map(UnitId) {
            let is_taken = core.leases.contains(unit) || core.votes.is_recording(unit);
            if is_taken || core.schedule.set_aside().any(|aside| aside == unit) {
                continue;
            }
            counts_open += u64::from(!core.votes.standing().is_done(unit));
            let is_found = core.votes.need(&core.work, unit) == Need::Nothing || core.schedule.finds(unit);
            assert!(is_found, "unit {unit} is open, but would never be lent: {:?}", core.schedule);
        }
        assert_eq!(core.open_counts(), counts_open);
    }

    fn only_the_wrong_are_quarantined(&self) {
        for worker in self.workers.iter().filter(|worker| worker.habit == Habit::Honest) {
            assert!(!self.core.votes.is_quarantined(&worker.identity()), "{} was right", worker.machine);
        }
    }
}

const HABITS: [&[Habit]; 4] = [
    &[Habit::Honest; 5],
    &[Habit::Honest, Habit::Honest, Habit::LiesOneIn(5), Habit::Honest],
    &[Habit::LiesAlikeOneIn(7), Habit::Honest, Habit::Honest, Habit::LiesOneIn(20), Habit::LiesAlikeOneIn(7)],
    &[Habit::WrongNodesOneIn(10), Habit::Honest, Habit::Honest, Habit::LiesOneIn(2)],
];

/// Runs of each kind; `DIADEM_SIMULATION_SEEDS=5000` is a thorough search.
fn seeds() -> u64 {
    std::env::var("DIADEM_SIMULATION_SEEDS").ok().and_then(|text| text.parse().ok()).unwrap_or(120)
}

#[test]
fn random_runs_add_up_and_are_exact_if_all_checked() {
    let truths = [Truth::of(6, 1), Truth::of(7, 4), Truth::of(8, 20), Truth::of(9, 60)];
    for seed in 0..seeds() {
        for (truth, habits) in truths.iter().zip(HABITS.into_iter().cycle().skip(seed as usize % 4)) {
            let policy = [DoubleCheck::All, DoubleCheck::default(), DoubleCheck::Share(0.3)];
            let policy = policy[seed as usize / 4 % 3];
            let mut world = World::new(truth, policy, habits, seed);
            if seed % 3 == 1 {
                // Every other machine is a graphics card: of one vendor, of unknown vendors, or of two vendors. Their
                // counts wait for other machines while such are connected.
                let kinds = [["/gpu0"; 2], ["/nvidia/gpu0", "/amd/gpu0"]][seed as usize / 3 % 2];
                for worker in &mut world.workers {
                    match &*worker.machine {
                        "machine-1" => worker.machine.push_str(kinds[0]),
                        "machine-3" => worker.machine.push_str(kinds[1]),
                        _ => {}
                    }
                }
            }
            // A liar may also report a processor time of zero or infinity.
            for worker in world.workers.iter_mut().filter(|worker| worker.habit != Habit::Honest) {
                worker.cpu = [worker.cpu, Duration::ZERO, Duration::MAX][seed as usize % 5 % 3];
            }
            if seed % 3 == 2 && habits.iter().all(|habit| *habit == Habit::Honest) {
                for (k, worker) in world.workers.iter_mut().enumerate() {
                    worker.owner = Owner::new(["ada", "ben", ""][k % (2 + seed as usize / 3 % 2)]);
                }
            }
            let run = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                for _ in 0..150 {
                    world.step();
                    world.check();
                }
                world.audited();
                world.finish();
                world.check();
            }));
            assert!(run.is_ok(), "seed {seed}, {policy}, {habits:?}");
            let assurance = world.core.status(world.now).assurance;
            let said_alike = assurance.on_one_machine > 0
                && habits.iter().any(|habit| matches!(habit, Habit::LiesAlikeOneIn(_)));
            let is_honest = habits.iter().all(|habit| *habit == Habit::Honest);
            if is_honest || policy == DoubleCheck::All && !said_alike {
                assert!(world.is_exact(), "seed {seed}, {policy}, {habits:?}");
            }
            if policy == DoubleCheck::All {
                let checked = assurance.on_two_owners + assurance.on_two_machines + assurance.on_one_machine;
                assert_eq!(checked, truth.plan.units(), "seed {seed}: {assurance:?}");
            }
        }
    }
}
