//! The six rules, as the examples in docs/reliability.md show them.

use std::time::Duration;

use domain::{Assurance, Lease, Registration, UnitCount, WorkerId};
use records::DoubleCheck;
use records::ledger::{Policy, Record};
use records::standing::SLOWER;

use super::{T0, any_lease, core_with, counted, join, join_of, registration, report};
use crate::core::allowance::usual_speed;
use crate::core::{Core, LEASE_TIME};

const SECOND: Duration = Duration::from_secs(1);

/// The worker counts a unit in the time that was expected.
fn count(core: &mut Core, now: Duration, worker: WorkerId, lease: Lease) {
    let cpu = Duration::from_nanos(core.plan().weight(lease.unit));
    let (_, records) = core.judge(now, 0, worker, &UnitCount { cpu, ..counted(lease, 0) }).unwrap();
    core.recorded(now, Some(worker), &records).unwrap();
}

/// The worker counts all that it is lent now.
fn count_all(core: &mut Core, now: Duration, worker: WorkerId) {
    loop {
        let lent = core.lease(now, worker, 100).unwrap();
        if lent.is_empty() {
            return;
        }
        lent.into_iter().for_each(|lease| count(core, now, worker, lease));
    }
}

/// Two workers count in turn until the run is complete.
fn finish_by_turns(core: &mut Core, workers: [WorkerId; 2]) {
    while !core.is_complete() {
        workers.iter().for_each(|worker| count_all(core, T0, *worker));
    }
}

/// Counts a run on these machines of Ada's. Each second `ben` acts with the leases of Ben's machine. Returns the
/// assurance and the time of the last count or check.
fn run(
    mut core: Core,
    machines: &[&str],
    mut ben: impl FnMut(&mut Core, Duration, WorkerId, &mut Vec<Lease>),
) -> (Assurance, u64, Duration) {
    let adas: Vec<_> = machines.iter().map(|machine| join_of(&mut core, "ada", machine)).collect();
    let (of_ben, mut held) = (join_of(&mut core, "ben", "b"), Vec::new());
    let mut now = T0;
    while !core.is_complete() {
        assert!(now < LEASE_TIME * 6, "it does not end: {:?}", core.status(now));
        adas.iter().for_each(|worker| count_all(&mut core, now, *worker));
        ben(&mut core, now, of_ben, &mut held);
        core.renew(now, of_ben, &held).unwrap();
        core.tick(now);
        now += SECOND;
    }
    (core.status(now).assurance, core.plan().units(), now)
}

fn is_idle(_: &mut Core, _: Duration, _: WorkerId, _: &mut Vec<Lease>) {}

fn hoards(core: &mut Core, now: Duration, ben: WorkerId, held: &mut Vec<Lease>) {
    held.extend(core.lease(now, ben, 100_000).unwrap());
}

#[test]
fn single_machine_checks_itself_at_once() {
    let mut core = core_with(DoubleCheck::All);
    let a = join(&mut core, "a");
    count_all(&mut core, T0, a);
    assert!(core.is_complete());
    let assurance = core.status(T0).assurance;
    assert_eq!((assurance.on_one_machine, assurance.on_two_machines), (core.plan().units(), 0));
}

#[test]
fn first_machine_leaves_its_checks_to_others() {
    let mut core = core_with(DoubleCheck::All);
    let a = join_of(&mut core, "ada", "a");
    for _ in 0..core.plan().units() / 2 {
        let lease = core.lease(T0, a, 1).unwrap()[0];
        count(&mut core, T0, a, lease);
    }
    let b = join_of(&mut core, "ben", "b");
    finish_by_turns(&mut core, [a, b]);
    let assurance = core.status(T0).assurance;
    assert_eq!((assurance.on_one_machine, assurance.on_two_owners), (0, core.plan().units()));
}

#[test]
fn first_machines_leave_their_dispute_to_others() {
    let mut core = core_with(DoubleCheck::All);
    let [ada, mallory] = ["ada", "mallory"].map(|owner| join_of(&mut core, owner, owner));
    let lease = any_lease(&core);
    report(&mut core, T0, ada, lease, 0);
    report(&mut core, T0, mallory, lease, 7);
    for worker in [ada, mallory] {
        let other = core.lease(T0, worker, 1).unwrap()[0];
        assert_ne!(other.unit, lease.unit);
        core.release(T0, worker, &[other], false).unwrap();
    }
    let ben = join_of(&mut core, "ben", "ben");
    let decision = core.lease(T0, ben, 1).unwrap()[0];
    assert_eq!(decision.unit, lease.unit);
    count(&mut core, T0, ben, decision);
    let assurance = core.status(T0).assurance;
    assert_eq!(
        (assurance.on_two_owners, &assurance.quarantined[..]),
        (1, &["mallory/mallory".to_owned()][..])
    );
}

#[test]
fn two_machines_of_one_owner_check_each_other() {
    let mut core = core_with(DoubleCheck::All);
    let [a, b] = ["a", "b"].map(|machine| join_of(&mut core, "ada", machine));
    finish_by_turns(&mut core, [a, b]);
    let assurance = core.status(T0).assurance;
    assert_eq!((assurance.on_one_machine, assurance.on_two_machines), (0, core.plan().units()));
}

#[test]
fn liar_among_three_owners_is_quarantined() {
    let mut core = core_with(DoubleCheck::All);
    let [ada, ben, mallory] = ["ada", "ben", "mallory"].map(|owner| join_of(&mut core, owner, owner));
    let mut rounds = 0;
    while !core.is_complete() {
        for worker in [ada, ben, mallory] {
            for lease in core.lease(T0, worker, 3).unwrap_or_default() {
                report(&mut core, T0, worker, lease, if worker == mallory { 7 } else { 0 });
            }
        }
        let records = core.take_back(0, 100);
        core.recorded(T0, None, &records).unwrap();
        rounds += 1;
        assert!(rounds < 1000, "{:?}", core.status(T0));
    }
    let assurance = core.status(T0).assurance;
    assert_eq!(assurance.quarantined, ["mallory/mallory"]);
    assert_eq!(assurance.on_two_owners, core.plan().units());
}

#[test]
fn card_and_processor_check_each_other() {
    let mut core = core_with(DoubleCheck::All);
    let [card, processor] = ["a/gpu0", "a"].map(|machine| join(&mut core, machine));
    finish_by_turns(&mut core, [card, processor]);
    let (assurance, units) = (core.status(T0).assurance, core.plan().units());
    assert_eq!(assurance.on_two_machines, units);
    assert!(assurance.on_two_kinds > units / 2, "symmetric counts are made on processors: {assurance:?}");
}

#[test]
fn idle_owner_delays_the_end_by_the_relaxing_alone() {
    for policy in [DoubleCheck::None, DoubleCheck::default(), DoubleCheck::Share(0.3), DoubleCheck::All] {
        let (assurance, units, now) = run(core_with(policy), &["a1", "a2", "a3"], is_idle);
        assert_eq!((assurance.on_two_owners, assurance.pending), (0, 0), "{policy}");
        assert!(policy != DoubleCheck::All || assurance.on_two_machines == units, "{assurance:?}");
        assert!(now >= LEASE_TIME, "{policy}: he had his time");
    }
    let (assurance, units, now) = run(core_with(DoubleCheck::All), &["a"], is_idle);
    assert_eq!((assurance.on_one_machine, assurance.on_two_machines), (units, 0));
    assert!(now >= LEASE_TIME * 2, "the degree drops twice");
}

#[test]
fn hoarded_checks_do_not_block_the_run() {
    for policy in [DoubleCheck::default(), DoubleCheck::All] {
        let (assurance, ..) = run(core_with(policy), &["a1", "a2"], hoards);
        assert_eq!((assurance.on_two_owners, assurance.pending), (0, 0), "{policy}");
    }
}

#[test]
fn slow_owner_makes_checks_until_they_relax() {
    let mut made = 0;
    let slow = |core: &mut Core, now: Duration, ben, held: &mut Vec<Lease>| {
        if now.as_secs().is_multiple_of(5) {
            held.drain(..).for_each(|lease| {
                count(core, now, ben, lease);
                made += 1;
            });
            held.extend(core.lease(now, ben, 1).unwrap());
        }
    };
    let (assurance, units, _) = run(core_with(DoubleCheck::All), &["a1", "a2"], slow);
    assert!(made > 1 && assurance.on_two_owners >= made - 1, "{made}: {assurance:?}");
    assert_eq!(assurance.on_two_owners + assurance.on_two_machines, units);
}

#[test]
fn impossible_processor_time_holds_nothing_up() {
    for policy in [DoubleCheck::None, DoubleCheck::All] {
        let mut core = core_with(policy);
        let ben = join_of(&mut core, "ben", "b2");
        let lease = core.lease(T0, ben, 1).unwrap()[0];
        let said = UnitCount { cpu: Duration::MAX, ..counted(lease, 0) };
        let (_, records) = core.judge(T0, 0, ben, &said).unwrap();
        core.recorded(T0, Some(ben), &records).unwrap();
        let weight = core.plan().weight(lease.unit);
        assert_eq!(core.standing().sums().cpu_us(), SLOWER * (weight / 1000), "what slow threads take");
        assert!(usual_speed(core.votes.standing()) > 0.01);
        run(core, &["a1", "a2"], hoards);
    }
}

#[test]
fn two_required_owners_are_waited_for_and_named() {
    let mut core = core_with(DoubleCheck::All);
    let require = |owners| {
        Record::Policy(Policy {
            double_check: DoubleCheck::All,
            require_owners: owners,
            own_checks: None,
            reason: None,
            at: 0,
        })
    };
    core.recorded(T0, None, &[require(Some(2))]).unwrap();
    let ada = join_of(&mut core, "ada", "a");
    for second in 0..600 {
        let now = SECOND * second;
        count_all(&mut core, now, ada);
        core.tick(now);
    }
    let now = SECOND * 600;
    let status = core.status(now);
    assert!(!core.is_complete() && status.assurance.pending == core.plan().units(), "{status:?}");
    assert!(status.trouble.contains("another owner than ada"), "{}", status.trouble);
    // Another owner makes the checks.
    let ben = registration(&core, "b", &[]);
    let ben = Registration { owner: domain::Owner::new("ben"), ..ben };
    let ben = core.register(now, ben).unwrap().worker;
    let some = core.lease(now, ben, 3).unwrap();
    some.iter().for_each(|lease| count(&mut core, now, ben, *lease));
    assert_eq!(core.status(now).assurance.on_two_owners, some.len() as u64);
    // Without this requirement the run ends without Ben.
    core.release(now, ben, &[], true).unwrap();
    core.recorded(now, None, &[require(None)]).unwrap();
    core.tick(now);
    // Twice a tenth of the ten minutes.
    let relaxed = now + SECOND * 121;
    core.tick(relaxed);
    count_all(&mut core, relaxed, ada);
    assert!(core.is_complete(), "{:?}", core.status(relaxed));
}
