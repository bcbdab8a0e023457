//! Many counts that are contradicted.

use std::sync::Arc;
use std::time::Duration;

use domain::{Lease, Registration, Variant, Verdict, WorkerId};
use queens::plan::Scheme;
use queens::{Board, Plan, PlanSpec, UnitId};
use records::DoubleCheck;
use records::ledger::{Expulsion, Record, UnitRecord};
use records::run_directory::LeaseKey;
use records::shard::Shard;
use records::standing::Standing;
use records::testing::known_run::unit_record;

use super::{T0, all_but_one_counted, any_lease, core, core_of, join, join_of, registration, report};
use crate::core::Core;
use crate::core::machines::ALONE;

/// Ada has counted all of some thousands of units, and Ben has contradicted whatever he was lent, symmetric counts apart.
fn contradicted() -> (Core, WorkerId, WorkerId, usize) {
    let spec =
        PlanSpec { scheme: Scheme::Constellations { grain: 1 }, ..PlanSpec::new(Board::new(11).unwrap()) };
    let plan = Arc::new(Plan::derive(spec).unwrap());
    let standing = Standing::new(&plan);
    let key = LeaseKey::new([7; LeaseKey::BYTES]);
    let mut core = Core::new(plan, Shard::default(), standing, DoubleCheck::All, key, 7);
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
            return (core, ada, ben, disputes);
        }
        for lease in lent {
            let said = u64::from(!core.is_symmetric_count(lease.unit));
            disputes += usize::from(report(&mut core, T0, ben, lease, said) == Verdict::Conflict);
        }
    }
}

#[test]
fn who_has_begun_a_thousand_disputes_is_lent_no_more_checks_until_some_are_decided() {
    let (mut core, ada, _, disputes) = contradicted();
    assert!((1001..=1200).contains(&disputes), "{disputes}");
    assert!(core.plan().units() > 3000, "{}", core.plan().units());
    assert_eq!(core.lease(T0, ada, 10).unwrap(), [], "she decides nothing");
    // Whoever is lent all that he can decide has decided all of them in the end.
    let cho = join_of(&mut core, "cho", "c");
    let mut calls = 0;
    while core.status(T0).disputed > 0 {
        let lent = core.lease(T0, cho, 100).unwrap();
        lent.into_iter().for_each(|lease| _ = report(&mut core, T0, cho, lease, 0));
        core.tick(T0);
        calls += 1;
        assert!(calls < 100, "{} disputes are left", core.status(T0).disputed);
    }
    assert_eq!(core.status(T0).assurance.quarantined, ["ben/b"], "and ada was right");
}

#[test]
fn of_the_counts_of_one_owner_that_all_differ_so_many_are_kept_and_one_that_agrees_decides() {
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
fn a_dispute_that_a_worker_can_decide_is_found_behind_any_number_that_it_cannot() {
    let (mut core, ada, ben, _) = contradicted();
    // Cho has said something about all of them but the last.
    let disputes: Vec<_> = core.open.disputes.iter().copied().collect();
    let (last, others) = disputes.split_last().unwrap();
    assert!(others.len() > 1000);
    let cho = join_of(&mut core, "cho", "c");
    for unit in others {
        let lease = Lease { unit: *unit, token: domain::Token(0), variant: Variant::default() };
        assert_eq!(report(&mut core, T0, cho, lease, 2), Verdict::Conflict);
    }
    // Each looks on where it has looked before, whoever has asked meanwhile.
    let mut found = Vec::new();
    for _ in 0..3 {
        assert_eq!(core.lease(T0, ada, 1).unwrap(), []);
        assert_eq!(core.lease(T0, ben, 1).unwrap(), []);
        let lent = core.lease(T0, cho, 1).unwrap();
        found.extend(lent.into_iter().filter(|lease| core.is_disputed(lease.unit)).map(|lease| lease.unit));
    }
    assert_eq!(found, [*last]);
}

#[test]
fn a_machine_that_contradicts_itself_while_it_is_alone_is_asked_once_a_minute_and_the_run_says_why_it_waits()
{
    let mut core = core();
    let (a, b, lease) = all_but_one_counted(&mut core);
    assert_eq!(report(&mut core, T0, a, lease, 5), Verdict::Recorded);
    assert_eq!(report(&mut core, T0, b, lease, 7), Verdict::Conflict);
    core.release(T0, b, &[], true).unwrap();
    let (mut said, mut troubles) = (Vec::new(), 0);
    let mut ask = |core: &mut Core, second, count| {
        let now = Duration::from_secs(second);
        core.tick(now);
        core.renew(now, a, &[]).unwrap();
        troubles += u64::from(core.status(now).trouble.contains("in dispute"));
        for lent in core.lease(now, a, 1).unwrap() {
            assert_eq!(lent.unit, lease.unit);
            said.push(report(core, now, a, lent, count));
        }
    };
    // At first it says the same in all ways, while the other one may come back.
    (0..3).for_each(|_| ask(&mut core, 0, 5));
    (3..600).for_each(|second| ask(&mut core, second, 100 + second));
    (600..670).for_each(|second| ask(&mut core, second, 5));
    let [kept, unwanted] = [Verdict::Conflict, Verdict::Unwanted]
        .map(|verdict| said.iter().filter(|said| **said == verdict).count());
    assert_eq!((kept, said.last()), (3, Some(&Verdict::Recorded)), "{said:?}");
    assert!((8..=10).contains(&unwanted), "{unwanted}");
    assert!(troubles > 200 && core.status(Duration::from_secs(700)).trouble.is_empty(), "{troubles}");
}

/// A count by that owner's machine of a unit, as a record.
fn vote(unit: u64, owner: &str, machine: &str, count: u64) -> UnitRecord {
    UnitRecord { count, owner: owner.to_owned(), ..unit_record(unit, 0, machine) }
}

#[test]
fn what_stands_again_waits_where_its_owner_may_lose_by_what_does_so_before() {
    let mut core = core();
    let expulsion = |owner: &str, machine: &str| {
        let (owner, machine, reason) = (owner.to_owned(), Some(machine.to_owned()), "a test".to_owned());
        Record::Expel(Expulsion { owner, machine, lost: false, reason, at: 0 })
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
    // With three losers quin is not believed at all, and what only he has said does not stand again.
    assert_eq!((restored, core.standing().done()), (3, 3));
    assert!(core.status(T0).assurance.expelled.contains(&"quin".to_owned()));
}

#[test]
fn a_machine_that_has_counted_in_all_ways_before_it_was_alone_decides_once_it_is() {
    let mut core = core();
    let [a, b] = ["a", "b"].map(|machine| join(&mut core, machine));
    let lease = core.lease(T0, a, 1).unwrap()[0];
    assert_eq!(report(&mut core, T0, a, lease, 5), Verdict::Recorded);
    assert_eq!(report(&mut core, T0, b, lease, 7), Verdict::Conflict);
    core.release(T0, b, &[], true).unwrap();
    // She is asked in the other ways, but b may still come back.
    let asked = |core: &mut Core, now| {
        core.tick(now);
        let lent = core.lease(now, a, 1).unwrap();
        lent.into_iter().find(|other| other.unit == lease.unit)
    };
    let mut ways = 0;
    while let Some(other) = asked(&mut core, T0) {
        assert_eq!(report(&mut core, T0, a, other, 5), Verdict::Conflict);
        ways += 1;
    }
    assert_eq!(ways, Variant::ALL.len() - 1);
    let other = asked(&mut core, ALONE).expect("she is asked once more");
    assert_eq!(report(&mut core, ALONE, a, other, 5), Verdict::Recorded);
    assert_eq!(core.standing().count(lease.unit), Some(5));
}

#[test]
fn a_machine_that_has_contradicted_itself_ten_times_decides_nothing_more_alone() {
    let mut core = core_of(Plan::derive(PlanSpec::new(Board::new(10).unwrap())).unwrap(), DoubleCheck::All);
    let a = join(&mut core, "a");
    let (mut second, mut decided) = (0, 0);
    let waits = |core: &Core, now| core.status(now).trouble.contains("in dispute");
    while !waits(&core, Duration::from_secs(second)) {
        let now = Duration::from_secs(second);
        core.tick(now);
        core.renew(now, a, &[]).unwrap();
        for lease in core.lease(now, a, 100).unwrap() {
            let was_disputed = core.is_disputed(lease.unit);
            // Its other kernel contradicts what it counts itself.
            let said = if core.is_symmetric_count(lease.unit) || lease.variant.other_kernel { 5 } else { 7 };
            let verdict = report(&mut core, now, a, lease, said);
            decided += u64::from(was_disputed && verdict == Verdict::Recorded);
        }
        second += 1;
        assert!(second < 1000, "{decided} decided, and no end");
    }
    assert_eq!(decided, 10);
    let now = Duration::from_secs(second);
    assert!(!core.is_complete(now) && core.status(now).disputed > 10);
    // Another machine decides.
    let b = join(&mut core, "b");
    let disputed = core.status(now).disputed;
    core.tick(now);
    for lease in core.lease(now, b, 100).unwrap() {
        report(&mut core, now, b, lease, 5);
    }
    assert!(core.status(now).disputed < disputed);
}

/// What the worker is asked about the unit now.
fn asked(core: &mut Core, worker: WorkerId, unit: UnitId) -> Option<Lease> {
    core.tick(T0);
    core.lease(T0, worker, 100).unwrap().into_iter().find(|lease| lease.unit == unit)
}

#[test]
fn a_symmetric_count_in_dispute_is_decided_by_both_algorithms() {
    let by_orbits = |lease: Lease| lease.variant.other_kernel;
    for is_lost in [false, true] {
        let mut core = core();
        let [ada, ben, cho] = ["ada", "ben", "cho"].map(|owner| join_of(&mut core, owner, owner));
        let lease = core.lease(T0, ada, 1).unwrap()[0];
        assert!(core.is_symmetric_count(lease.unit) && !by_orbits(lease));
        assert_eq!(report(&mut core, T0, ada, lease, 5), Verdict::Recorded);
        // It was overdue, and lent to others.
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
fn algorithms_that_contradict_each_other_decide_nothing_and_nobody_counts_for_ever() {
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
    assert!(core.is_disputed(lease.unit));
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
    // Another machine that is right ends it.
    let registration = registration(&core, "b", &[]);
    let b = core.register(now, registration).unwrap().worker;
    let lent = core.lease(now, b, 100).unwrap();
    let other = lent.into_iter().find(|other| other.unit == lease.unit).unwrap();
    assert_eq!(report(&mut core, now, b, other, 5), Verdict::Recorded);
}

#[test]
fn whoever_says_what_decides_nothing_is_asked_now_and_then_and_the_run_says_why_it_waits() {
    // The algorithms contradict each other; or two kernels of one machine, in each way, contradict another machine.
    for (machines, kernels, pause) in [(9, 1, 60), (2, 2, ALONE.as_secs())] {
        let mut core = core();
        let mut workers = Vec::new();
        for machine in 0..machines {
            for kernel in ["search/portable", "search/avx2"].into_iter().take(kernels) {
                let registration = registration(&core, &format!("m{machine}"), &[]);
                let registration = Registration { kernel: kernel.parse().unwrap(), ..registration };
                workers.push((machine, core.register(T0, registration).unwrap().worker));
            }
        }
        let lease = if kernels == 1 { core.lease(T0, workers[0].1, 1).unwrap()[0] } else { any_lease(&core) };
        let says = |machine, other_kernel| {
            let is_one = if kernels == 1 { other_kernel } else { machine > 0 };
            5 + u64::from(is_one)
        };
        report(&mut core, T0, workers[0].1, lease, 5);
        report(&mut core, T0, workers[kernels].1, lease, says(1, false));
        let (mut asked, mut troubles) = (0, 0);
        for second in 0..1200 {
            let now = Duration::from_secs(second);
            core.tick(now);
            for (machine, worker) in &workers {
                core.renew(now, *worker, &[]).unwrap();
                for other in core.lease(now, *worker, 100).unwrap() {
                    let is_it = other.unit == lease.unit;
                    let said = if is_it { says(*machine, other.variant.other_kernel) } else { 0 };
                    report(&mut core, now, *worker, other, said);
                    asked += u64::from(is_it && second >= 600);
                }
            }
            troubles += u64::from(second >= 600 && core.status(now).trouble.contains("in dispute"));
        }
        assert!(core.is_disputed(lease.unit));
        assert!(
            asked <= (600 / pause + 1) * workers.len() as u64,
            "{asked} times by {} workers",
            workers.len()
        );
        assert_eq!(troubles, 600, "{machines} machines, {kernels} kernels");
    }
}

#[test]
fn a_symmetric_count_that_nobody_contradicts_any_more_stands_again_when_both_algorithms_have_said_it() {
    let mut core = core();
    let [ada, ben, cho] = ["ada", "ben", "cho"].map(|owner| join_of(&mut core, owner, owner));
    let lease = core.lease(T0, ada, 1).unwrap()[0];
    for (who, count) in [(ada, 5), (ben, 7), (cho, 5)] {
        report(&mut core, T0, who, lease, count);
    }
    let (owner, machine, reason) = ("ben".to_owned(), Some("ben".to_owned()), "a test".to_owned());
    let expelled = Expulsion { owner, machine, lost: false, reason, at: 0 };
    core.recorded(T0, None, &[Record::Expel(expelled)]).unwrap();
    assert_eq!(core.take_back(0, 100), []);
    let other = asked(&mut core, cho, lease.unit).expect("by the other algorithm");
    assert_eq!(report(&mut core, T0, cho, other, 5), Verdict::Recorded);
    assert_eq!(core.status(T0).assurance.pending, 0);
    assert_eq!(core.standing().count(lease.unit), Some(5));
}
