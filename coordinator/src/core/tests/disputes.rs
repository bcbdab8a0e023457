//! Many counts that are contradicted.

use std::sync::Arc;
use std::time::Duration;

use domain::{Lease, Variant, Verdict, WorkerId};
use queens::plan::Scheme;
use queens::{Board, Plan, PlanSpec, UnitId};
use records::DoubleCheck;
use records::ledger::{Expulsion, Record, UnitRecord};
use records::run_directory::LeaseKey;
use records::shard::Shard;
use records::standing::Standing;
use records::testing::known_run::unit_record;

use super::{T0, any_lease, core, core_of, join, join_of, registration, report};
use crate::core::members::{Distrust, Refusal};
use crate::core::{Core, LEASE_TIME};

/// Ada has counted thousands of units. Ben has contradicted each of his units except symmetric counts.
fn contradicted() -> (Core, usize) {
    let spec =
        PlanSpec { scheme: Scheme::Constellations { grain: 1 }, ..PlanSpec::new(Board::new(11).unwrap()) };
    let plan = Arc::new(Plan::derive(spec).unwrap());
    let standing = Standing::new(&plan);
    let key = LeaseKey::new([7; LeaseKey::BYTES]);
    let mut core = Core::new(plan, Shard::default(), standing, DoubleCheck::All.into(), key, 7);
    let (ada, ben) = (join_of(&mut core, "ada", "a"), join_of(&mut core, "ben", "b"));
    loop {
        let lent = core.lease(T0, ada, 1000).unwrap();
        if lent.is_empty() {
            break;
        }
        lent.into_iter().for_each(|lease| _ = report(&mut core, T0, ada, lease, 0));
    }
    let mut disputes = 0;
    loop {
        core.tick(T0);
        let lent = core.lease(T0, ben, 200).unwrap();
        if lent.is_empty() {
            // They would recount.
            [ada, ben].iter().for_each(|worker| core.release(T0, *worker, &[], true).unwrap());
            return (core, disputes);
        }
        for lease in lent {
            let said = u64::from(!core.work.is_symmetric_count(lease.unit));
            disputes += usize::from(report(&mut core, T0, ben, lease, said) == Verdict::Conflict);
        }
    }
}

#[test]
fn third_owner_decides_thousands_of_disputes() {
    let (mut core, disputes) = contradicted();
    assert!(disputes > 1000, "{disputes}");
    // A worker that gets all decidable disputes decides all of them in the end.
    let cho = join_of(&mut core, "cho", "c");
    let mut calls = 0;
    while core.status(T0).disputed > 0 {
        let lent = core.lease(T0, cho, 100).unwrap();
        lent.into_iter().for_each(|lease| _ = report(&mut core, T0, cho, lease, 0));
        core.tick(T0);
        calls += 1;
        assert!(calls < 1000, "{} disputes are left", core.status(T0).disputed);
    }
    assert_eq!(core.status(T0).assurance.quarantined, ["ben/b"], "and ada was right");
}

#[test]
fn differing_counts_are_bounded_and_agreement_decides() {
    let mut core = core();
    let workers: Vec<_> = (0..20).map(|k| join(&mut core, &k.to_string())).collect();
    let lease = any_lease(&core);
    let said: Vec<_> =
        workers.iter().zip(0..).map(|(worker, said)| report(&mut core, T0, *worker, lease, said)).collect();
    assert_eq!(said[0], Verdict::Recorded);
    assert_eq!((&said[1..16], &said[16..]), (&[Verdict::Conflict; 15][..], &[Verdict::Unwanted; 4][..]));
    assert_eq!(report(&mut core, T0, workers[19], lease, 7), Verdict::Recorded);
    assert_eq!(core.standing().count(lease.unit), Some(7));
}

#[test]
fn decidable_dispute_is_found_behind_undecidable() {
    let (mut core, _) = contradicted();
    // Cho has counted all of them except the last.
    let disputes: Vec<_> = core.votes.disputed();
    let (last, others) = disputes.split_last().unwrap();
    assert!(others.len() > 1000);
    let cho = join_of(&mut core, "cho", "c");
    for unit in others {
        let lease = Lease { unit: *unit, token: domain::Token(0), variant: Variant::default() };
        assert_eq!(report(&mut core, T0, cho, lease, 2), Verdict::Conflict);
    }
    // Dora is connected and has counted none of them.
    join_of(&mut core, "dora", "d");
    let mut found = Vec::new();
    for _ in 0..10 {
        let lent = core.lease(T0, cho, 1).unwrap();
        found.extend(
            lent.into_iter().filter(|lease| core.votes.is_disputed(lease.unit)).map(|lease| lease.unit),
        );
    }
    assert_eq!(found, [*last]);
}

#[test]
fn disputants_recount_once_in_each_way_and_then_wait() {
    let mut core = core();
    let [a, b] = ["a", "b"].map(|machine| join(&mut core, machine));
    let lease = any_lease(&core);
    assert_eq!(report(&mut core, T0, a, lease, 5), Verdict::Recorded);
    assert_eq!(report(&mut core, T0, b, lease, 7), Verdict::Conflict);
    let mut asked = Vec::new();
    for second in 0..100 {
        let now = Duration::from_secs(second);
        core.tick(now);
        for (worker, said) in [(a, 5), (b, 7)] {
            for other in core.lease(now, worker, 100).unwrap() {
                let is_it = other.unit == lease.unit;
                asked.extend(is_it.then_some((worker, other.variant)));
                report(&mut core, now, worker, other, if is_it { said } else { 0 });
            }
        }
    }
    let ways = Variant::ALL.into_iter().filter(|variant| *variant != lease.variant);
    let all: Vec<_> = ways.flat_map(|variant| [(a, variant), (b, variant)]).collect();
    assert!(asked.len() == all.len() && all.iter().all(|question| asked.contains(question)), "{asked:?}");
    let trouble = core.status(Duration::from_secs(100)).trouble;
    assert!(trouble.contains("a says 5, b says 7") && trouble.contains("another machine"), "{trouble}");
    // A machine more decides.
    let c = join(&mut core, "c");
    let other = core.lease(T0, c, 100).unwrap().into_iter().find(|other| other.unit == lease.unit).unwrap();
    assert_eq!(report(&mut core, T0, c, other, 7), Verdict::Recorded);
    assert_eq!(core.status(T0).assurance.quarantined, ["a"]);
}

#[test]
fn disputants_wait_for_connected_third_machine() {
    let mut core = core();
    let [a, b, c] = ["a", "b", "c"].map(|machine| join(&mut core, machine));
    let lease = any_lease(&core);
    report(&mut core, T0, a, lease, 5);
    report(&mut core, T0, b, lease, 7);
    let is_asked = |core: &mut Core, now, worker| {
        let lent = core.lease(now, worker, 1).unwrap();
        core.release(now, worker, &lent, false).unwrap();
        lent.iter().any(|other| other.unit == lease.unit)
    };
    assert!(!is_asked(&mut core, T0, a) && is_asked(&mut core, T0, c));
    // The worker holds the unit and does not count it.
    let held = core.lease(T0, c, 1).unwrap()[0];
    assert_eq!(held.unit, lease.unit);
    assert!(!is_asked(&mut core, T0, a));
    // The worker falls silent.
    let later = LEASE_TIME * 2;
    core.tick(later);
    assert!(is_asked(&mut core, later, a));
}

/// A count by that owner's machine of a unit, as a record.
fn vote(unit: u64, owner: &str, machine: &str, count: u64) -> UnitRecord {
    UnitRecord { count, owner: owner.to_owned(), ..unit_record(unit, 0, machine) }
}

#[test]
fn restored_count_waits_for_fate_of_its_owner() {
    let mut core = core();
    let expulsion = |owner: &str, machine: &str| {
        let (owner, machine, reason) = (owner.to_owned(), Some(machine.to_owned()), "a test".to_owned());
        Record::Expel(Expulsion { owner, machine, lost: false, suspended: false, reason, at: 0 })
    };
    // As a merge leaves them: ada and bob agree on three units against a machine of quin's each, and tom contradicts quin once.
    let mut records = Vec::new();
    for (unit, machine) in [(60, "q1"), (61, "q2"), (62, "q3")] {
        let votes = [vote(unit, "ada", "a", 5), vote(unit, "quin", machine, 7), vote(unit, "bob", "b", 5)];
        records.extend(votes.map(Record::Conflict));
    }
    records.extend([vote(63, "quin", "qx", 5), vote(63, "tom", "t", 7)].map(Record::Conflict));
    records.extend(["q1", "q2", "q3"].map(|machine| expulsion("quin", machine)));
    records.push(expulsion("tom", "t"));
    core.recorded(T0, None, &records).unwrap();
    let mut restored = 0;
    loop {
        let records = core.take_back(0, 100);
        if records.is_empty() {
            break;
        }
        restored += records.iter().filter(|record| matches!(record, Record::Restore(_))).count();
        core.recorded(T0, None, &records).expect("each can stand where it does");
    }
    // With three losers quin is expelled, and quin's unconfirmed counts are not restored.
    assert_eq!((restored, core.standing().done()), (3, 3));
    assert!(core.status(T0).assurance.expelled.contains(&"quin".to_owned()));
}

#[test]
fn machine_with_ten_self_conflicts_is_quarantined() {
    let mut core = core_of(Plan::derive(PlanSpec::new(Board::new(10).unwrap())).unwrap(), DoubleCheck::All);
    let a = join(&mut core, "a");
    let mut decided = 0;
    for _ in 0..1000 {
        for lease in core.lease(T0, a, 1).unwrap_or_default() {
            let was_disputed = core.votes.is_disputed(lease.unit);
            // The machine's other kernel contradicts its own kernel.
            let said =
                if core.work.is_symmetric_count(lease.unit) || lease.variant.other_kernel { 5 } else { 7 };
            let verdict = report(&mut core, T0, a, lease, said);
            decided += u64::from(was_disputed && verdict == Verdict::Recorded);
        }
    }
    assert_eq!((decided, core.is_complete()), (10, false));
    let again = core.register(T0, registration(&core, "a", &[]));
    assert_eq!(again, Err(Refusal::Quarantined("a".into(), Distrust::Contradictory)));
    // Another machine recounts the unconfirmed units.
    let b = join(&mut core, "b");
    while !core.is_complete() {
        let records = core.take_back(0, 1000);
        core.recorded(T0, None, &records).unwrap();
        for lease in core.lease(T0, b, 100).unwrap() {
            report(&mut core, T0, b, lease, 5);
        }
        core.tick(T0);
    }
}

/// The worker's present task in the dispute about the unit.
fn asked(core: &mut Core, worker: WorkerId, unit: UnitId) -> Option<Lease> {
    core.tick(T0);
    core.lease(T0, worker, 100).unwrap().into_iter().find(|lease| lease.unit == unit)
}

#[test]
fn symmetric_dispute_needs_both_algorithms() {
    let by_orbits = |lease: Lease| lease.variant.other_kernel;
    for is_lost in [false, true] {
        let mut core = core();
        let [ada, ben, cho] = ["ada", "ben", "cho"].map(|owner| join_of(&mut core, owner, owner));
        let lease = core.lease(T0, ada, 1).unwrap()[0];
        assert!(core.work.is_symmetric_count(lease.unit) && !by_orbits(lease));
        assert_eq!(report(&mut core, T0, ada, lease, 5), Verdict::Recorded);
        // The count was overdue, and the unit was lent to others.
        assert_eq!(report(&mut core, T0, ben, lease, 7), Verdict::Conflict);
        assert_eq!(report(&mut core, T0, cho, lease, 5), Verdict::Conflict, "by the same algorithm");
        let who = if is_lost { ada } else { cho };
        if is_lost {
            core.release(T0, cho, &[], true).unwrap();
        }
        let other = asked(&mut core, who, lease.unit).expect("each may say something by the other one, too");
        assert!(by_orbits(other));
        // Her own count is not hers to confirm, but cho's is.
        assert_eq!(report(&mut core, T0, who, other, 5), Verdict::Recorded);
        assert_eq!(core.standing().count(lease.unit), Some(5));
        assert_eq!(core.status(T0).assurance.quarantined, ["ben/ben"]);
        assert_eq!(core.status(T0).assurance.pending, 0);
    }
}

#[test]
fn contradicting_algorithms_leave_dispute_open() {
    let mut core = core();
    let a = join(&mut core, "a");
    let lease = core.lease(T0, a, 1).unwrap()[0];
    report(&mut core, T0, a, lease, 5);
    let mut ways = Vec::new();
    while let Some(other) = asked(&mut core, a, lease.unit) {
        report(&mut core, T0, a, other, if other.variant.other_kernel { 6 } else { 5 });
        ways.push(other.variant);
    }
    assert_eq!(ways.len(), Variant::ALL.len() - 1, "{ways:?}");
    assert!(core.votes.is_disputed(lease.unit));
    let mut now = T0;
    while core.status(now).trouble.is_empty() {
        core.tick(now);
        core.renew(now, a, &[]).unwrap();
        for other in core.lease(now, a, 100).unwrap() {
            assert_ne!(other.unit, lease.unit);
            report(&mut core, now, a, other, 0);
        }
        now += Duration::from_secs(1);
        assert!(now < Duration::from_mins(10), "it does not say why it waits");
    }
    assert!(core.status(now).trouble.contains("in dispute"), "{}", core.status(now).trouble);
    // Two machines more that are right end it.
    let mut verdicts = Vec::new();
    for name in ["b", "c"] {
        let registration = registration(&core, name, &[]);
        let worker = core.register(now, registration).unwrap().worker;
        let lent = core.lease(now, worker, 100).unwrap();
        let other = lent.into_iter().find(|other| other.unit == lease.unit).unwrap();
        assert!(other.variant.other_kernel);
        verdicts.push(report(&mut core, now, worker, other, 5));
    }
    assert_eq!(verdicts, [Verdict::Conflict, Verdict::Recorded]);
}

#[test]
fn uncontested_symmetric_count_needs_both_algorithms() {
    let mut core = core();
    let [ada, ben, cho] = ["ada", "ben", "cho"].map(|owner| join_of(&mut core, owner, owner));
    let lease = core.lease(T0, ada, 1).unwrap()[0];
    for (who, count) in [(ada, 5), (ben, 7), (cho, 5)] {
        report(&mut core, T0, who, lease, count);
    }
    let (owner, machine, reason) = ("ben".to_owned(), Some("ben".to_owned()), "a test".to_owned());
    let expelled = Expulsion { owner, machine, lost: false, suspended: false, reason, at: 0 };
    core.recorded(T0, None, &[Record::Expel(expelled)]).unwrap();
    assert_eq!(core.take_back(0, 100), []);
    let other = asked(&mut core, cho, lease.unit).expect("by the other algorithm");
    assert_eq!(report(&mut core, T0, cho, other, 5), Verdict::Recorded);
    assert_eq!(core.status(T0).assurance.pending, 0);
    assert_eq!(core.standing().count(lease.unit), Some(5));
}
