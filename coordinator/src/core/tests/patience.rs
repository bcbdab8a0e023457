//! How long the checks of one owner's counts are left to another who is there.

use std::time::Duration;

use domain::{Assurance, Lease, UnitCount, Verdict, WorkerId};
use queens::{Board, Plan, PlanSpec};
use records::DoubleCheck;
use records::standing::SLOWER;

use super::{T0, core_of, core_with, counted, join_of};
use crate::core::Core;
use crate::core::fair_share::time_for;
use crate::core::leases::LEASE_TIME;

const SECOND: Duration = Duration::from_secs(1);

/// The checks are left to others for as long as a lease lasts; where all are made twice others are then asked once more for
/// as long. What is held is overdue in less.
const BOUND: Duration = LEASE_TIME.saturating_mul(4);

/// The worker counts a unit in the time that was expected.
fn count(core: &mut Core, now: Duration, worker: WorkerId, lease: Lease) {
    let cpu = Duration::from_nanos(core.plan().weight(lease.unit));
    let (verdict, records) = core.judge(now, 0, worker, &UnitCount { cpu, ..counted(lease, 0) }).unwrap();
    assert_eq!(verdict, Verdict::Recorded);
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

/// What a run is worth whose units these machines of Ada's count, while Ben does something each second with what he holds;
/// and when the last one was counted and checked.
fn run(
    policy: DoubleCheck,
    machines: &[&str],
    ben: impl FnMut(&mut Core, Duration, WorkerId, &mut Vec<Lease>),
) -> (Assurance, u64, Duration) {
    go_on(core_with(policy), machines, ben)
}

/// The same from there on.
fn go_on(
    mut core: Core,
    machines: &[&str],
    mut ben: impl FnMut(&mut Core, Duration, WorkerId, &mut Vec<Lease>),
) -> (Assurance, u64, Duration) {
    let adas: Vec<_> = machines.iter().map(|machine| join_of(&mut core, "ada", machine)).collect();
    let (of_ben, mut held) = (join_of(&mut core, "ben", "b"), Vec::new());
    let mut now = T0;
    while !core.is_complete(now) {
        assert!(now < BOUND, "it does not end: {:?}", core.status(now));
        adas.iter().for_each(|worker| count_all(&mut core, now, *worker));
        ben(&mut core, now, of_ben, &mut held);
        core.renew(now, of_ben, &held).unwrap();
        core.tick(now);
        now += SECOND;
    }
    (core.status(now).assurance, core.plan().units(), now)
}

/// Ada's second machine contradicts the first check that it makes, and the other one makes no more than its count; Ben is
/// merely there. Says when nothing is in dispute any more.
fn settled(machines: &[&str], ben: Option<&str>) -> (Core, Duration) {
    let mut core = core_with(DoubleCheck::All);
    let adas: Vec<_> = machines.iter().map(|machine| join_of(&mut core, "ada", machine)).collect();
    let ben = ben.map(|machine| join_of(&mut core, "ben", machine));
    count_all(&mut core, T0, adas[0]);
    let mut checks = core.open.checks.values().flatten().copied();
    let unit = checks.find(|unit| !core.is_symmetric_count(*unit)).unwrap();
    let lie = Lease { unit, variant: domain::Variant::ALL[1], token: domain::Token(0) };
    assert_eq!(super::report(&mut core, T0, adas[1], lie, 7), Verdict::Conflict);
    let mut now = T0;
    while core.status(now).disputed > 0 {
        assert!(now < BOUND, "nobody decides: {:?}", core.status(now));
        core.tick(now);
        now += SECOND;
        ben.iter().for_each(|ben| _ = core.renew(now, *ben, &[]).unwrap());
        for worker in &adas {
            for lease in core.lease(now, *worker, 100_000).unwrap_or_default() {
                super::report(&mut core, now, *worker, lease, 0);
            }
        }
    }
    (core, now)
}

#[test]
fn a_dispute_of_one_owner_s_machines_is_decided_by_another_of_them_though_an_owner_is_there_who_does_nothing()
{
    let (mut core, now) = settled(&["a1", "a2", "a3"], Some("b"));
    assert!(now >= LEASE_TIME, "he has his time first");
    assert_eq!(core.status(now).assurance.quarantined, ["ada/a2"]);
    assert_eq!(core.status(now).assurance.on_two_owners, 0);
    assert_eq!(settled(&["a1", "a2", "a3"], None).1, SECOND, "alone they wait for nobody");
    assert!(core.standing().sums().conflicts > 0);
}

/// Until only one machine of the owner's is waited for that is there and does nothing, and each unit took as long as expected.
const MACHINES_BOUND: Duration = LEASE_TIME.saturating_mul(4);

/// One machine counts, and another one of the same owner is merely there; says when all is counted and checked.
fn beside_an_idle_one(machine: &str, idle: &[&str]) -> (Assurance, u64, Duration) {
    let mut core = core_with(DoubleCheck::All);
    let worker = join_of(&mut core, "ada", machine);
    let idle: Vec<_> = idle.iter().map(|machine| join_of(&mut core, "ada", machine)).collect();
    let mut now = T0;
    while !core.is_complete(now) {
        assert!(now < MACHINES_BOUND, "it does not end: {:?}", core.status(now));
        count_all(&mut core, now, worker);
        idle.iter().for_each(|idle| _ = core.renew(now, *idle, &[]).unwrap());
        core.tick(now);
        now += SECOND;
    }
    (core.status(now).assurance, core.plan().units(), now)
}

#[test]
fn a_machine_that_is_merely_there_does_not_keep_the_checks_of_another_of_its_owner() {
    let (assurance, units, now) = beside_an_idle_one("a1", &["a2"]);
    assert_eq!((assurance.on_one_machine, assurance.on_two_machines), (units, 0));
    assert!(now > LEASE_TIME * 2, "it has its time");
}

#[test]
fn a_processor_that_is_merely_there_does_not_keep_the_checks_of_a_card() {
    let (assurance, units, _) = beside_an_idle_one("a1/gpu0", &["a2"]);
    assert_eq!((assurance.on_one_machine, assurance.on_two_machines), (units, 0));
}

#[test]
fn a_machine_that_makes_checks_for_another_of_its_owner_is_waited_for_as_long_as_it_does() {
    let mut core = core_with(DoubleCheck::All);
    let [fast, slow] = ["a1", "a2"].map(|machine| join_of(&mut core, "ada", machine));
    let (mut now, mut held) = (T0, Vec::<Lease>::new());
    while !core.is_complete(now) {
        assert!(now < LEASE_TIME * 40, "it does not end: {:?}", core.status(now));
        count_all(&mut core, now, fast);
        if now.as_secs().is_multiple_of(10) {
            held.drain(..).for_each(|lease| {
                // It takes that long.
                let cpu = Duration::from_secs(10);
                let said = UnitCount { cpu, ..counted(lease, 0) };
                let (_, records) = core.judge(now, 0, slow, &said).unwrap();
                core.recorded(now, Some(slow), &records).unwrap();
            });
            held.extend(core.lease(now, slow, 4).unwrap());
        }
        core.renew(now, slow, &held).unwrap();
        core.tick(now);
        now += SECOND;
    }
    let (assurance, units) = (core.status(now).assurance, core.plan().units());
    assert!(assurance.on_two_machines > 8, "{assurance:?}");
    assert_eq!(assurance.on_two_machines + assurance.on_one_machine, units);
}

/// He keeps all that he is lent.
fn hoard(core: &mut Core, now: Duration, ben: WorkerId, held: &mut Vec<Lease>) {
    held.extend(core.lease(now, ben, 100_000).unwrap());
}

#[test]
fn an_owner_who_is_merely_there_does_not_keep_the_checks_of_another() {
    for policy in [DoubleCheck::None, DoubleCheck::default(), DoubleCheck::Share(0.3), DoubleCheck::All] {
        let (assurance, units, _) = run(policy, &["a1", "a2", "a3"], |_, _, _, _| {});
        assert_eq!(
            (assurance.on_two_owners, assurance.pending),
            (0, 0),
            "{policy}: nothing is called proven"
        );
        assert!(assurance.on_two_machines > 0, "{policy}");
        assert!(policy != DoubleCheck::All || assurance.on_two_machines == units, "{assurance:?}");
    }
}

#[test]
fn an_owner_who_holds_checks_and_makes_none_does_not_keep_them() {
    for policy in [DoubleCheck::default(), DoubleCheck::All] {
        let (assurance, ..) = run(policy, &["a1", "a2"], hoard);
        assert_eq!((assurance.on_two_owners, assurance.pending), (0, 0), "{policy}");
    }
}

#[test]
fn an_owner_who_is_slow_makes_the_checks_that_he_can_make_in_time() {
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
    let (assurance, units, _) = run(DoubleCheck::All, &["a1", "a2"], slow);
    assert!(made > 1 && assurance.on_two_owners == made, "{made}: {assurance:?}");
    assert_eq!(assurance.on_two_owners + assurance.on_two_machines, units);
}

#[test]
fn a_machine_alone_with_another_owner_s_checks_its_own_counts_in_the_other_way_in_the_end() {
    let (assurance, units, _) = run(DoubleCheck::All, &["a"], |_, _, _, _| {});
    assert_eq!((assurance.on_one_machine, assurance.on_two_machines), (units, 0));
    // Where she has another one there, that does it.
    let (assurance, ..) = run(DoubleCheck::All, &["a", "a2"], |_, _, _, _| {});
    assert_eq!(assurance.on_one_machine, 0);
}

#[test]
fn a_card_does_not_wait_for_a_processor_of_another_owner_who_is_merely_there() {
    let (assurance, units, _) = run(DoubleCheck::All, &["a/gpu0", "a2/gpu0"], |_, _, _, _| {});
    assert_eq!((assurance.on_two_machines, assurance.on_two_kinds), (units, 0));
}

#[test]
fn checks_are_left_to_another_owner_who_makes_them_for_as_long_as_he_does() {
    let last = |core: &mut Core, now: Duration, ben, _: &mut Vec<Lease>| {
        if now + SECOND * 2 >= LEASE_TIME {
            count_all(core, now, ben);
        }
    };
    let (assurance, units, now) = run(DoubleCheck::All, &["a1", "a2"], last);
    assert_eq!(assurance.on_two_owners, units);
    assert!(now <= LEASE_TIME);
}

#[test]
fn a_processor_time_that_nobody_believes_holds_nothing_up() {
    for policy in [DoubleCheck::None, DoubleCheck::All] {
        let mut core = core_with(policy);
        let ben = join_of(&mut core, "ben", "b2");
        let lease = core.lease(T0, ben, 1).unwrap()[0];
        let said = UnitCount { cpu: Duration::MAX, ..counted(lease, 0) };
        let (_, records) = core.judge(T0, 0, ben, &said).unwrap();
        core.recorded(T0, Some(ben), &records).unwrap();
        let weight = core.plan().weight(lease.unit);
        assert_eq!(
            core.standing().sums().cpu_us(),
            SLOWER * (weight / 1000),
            "what slow threads take, and the answer says"
        );
        assert!(core.usual_speed() > 0.01, "{}", core.usual_speed());
        go_on(core, &["a1", "a2"], hoard);
    }
}

/// How long after it was lent a unit more is overdue that this worker holds.
fn due_after(core: &mut Core, worker: WorkerId) -> Duration {
    let borrower = core.borrower(T0, worker).unwrap();
    time_for(core.work_of_thread(&borrower, 1_000_000_000_000), borrower.speed())
}

#[test]
fn what_owners_say_of_their_speed_has_nobody_waited_for_longer() {
    let dues = |ada_takes: Duration, ben_takes: Duration| {
        let mut core = core_with(DoubleCheck::None);
        let workers = [join_of(&mut core, "ada", "a1"), join_of(&mut core, "ben", "b1")];
        for (worker, units, cpu) in [(workers[0], 60, ada_takes), (workers[1], 5, ben_takes)] {
            for _ in 0..units {
                let lease = core.lease(T0, worker, 1).unwrap()[0];
                let count = UnitCount { cpu, ..counted(lease, 0) };
                let (_, records) = core.judge(T0, 0, worker, &count).unwrap();
                core.recorded(T0, Some(worker), &records).unwrap();
            }
        }
        workers.map(|worker| due_after(&mut core, worker).as_secs_f64())
    };
    let [usual, fast, slow] = [10, 1, 10_000].map(Duration::from_millis);
    let [ada, ben] = dues(usual, usual);
    let about = |a: f64, b: f64| (a / b).max(b / a) < 5.0;
    assert!(about(ada, ben), "{ada} {ben}");
    // Ben says that his counts took for ever: neither of them is waited for longer.
    let [ada_then, ben_then] = dues(usual, slow);
    assert!(about(ada_then, ada) && about(ben_then, ben), "{ada_then} {ben_then}, not {ada} {ben}");
    // Nor is she who is the first to count, and says that.
    let [alone, _] = dues(slow, Duration::ZERO);
    assert!(alone < 1000.0 * f64::from(SLOWER as u32) * 4.0 * 1.01, "{alone}");
    // Ada is fast, and waited for as one who is: Ben is no reason to wait for her longer.
    let [ada_then, _] = dues(fast, usual);
    assert!(ada_then < ada, "{ada_then}, not below {ada}");
}

#[test]
fn what_was_lent_to_one_who_was_alone_is_waited_for_as_for_others_once_they_are_there_and_once_they_have_counted()
 {
    let plan = Plan::derive(PlanSpec::new(Board::new(18).unwrap())).unwrap();
    let mut core = core_of(plan, DoubleCheck::None);
    let [holder, other] = ["m1", "m2"].map(|machine| join_of(&mut core, "mallory", machine));
    // He says that each count takes a minute.
    let count_one = |core: &mut Core| {
        let lease = core.lease(T0, other, 1).unwrap()[0];
        let said = UnitCount { cpu: Duration::from_mins(1), ..counted(lease, 0) };
        let (_, records) = core.judge(T0, 0, other, &said).unwrap();
        core.recorded(T0, Some(other), &records).unwrap();
    };
    count_one(&mut core);
    let held = core.lease(T0, holder, 200).unwrap().pop().unwrap().unit;
    let own = core.plan().weight(held);
    let work_of_thread = (core.leases.work_of(holder) - u128::from(own)) as f64 / 2.0 + own as f64;
    let due = |core: &mut Core, now| {
        core.tick(now);
        core.leases.due(held).unwrap()
    };
    let alone = due(&mut core, T0);
    assert!(alone > Duration::from_hours(1), "{alone:?}");
    while core.open_counts() > 1 {
        count_one(&mut core);
    }
    let ada = join_of(&mut core, "ada", "a");
    assert_eq!(due(&mut core, SECOND), alone, "there is more to count, and nobody asks for it");
    let last = core.lease(SECOND, ada, 1).unwrap()[0];
    let slow = time_for(work_of_thread, 1.0 / SLOWER as f64);
    assert_eq!(due(&mut core, SECOND * 2), slow);
    count(&mut core, SECOND * 2, ada, last);
    let fast = due(&mut core, SECOND * 4);
    assert!(fast * 10 < slow && fast >= time_for(work_of_thread, 1.1), "{fast:?} {slow:?}");
    assert!(core.leases.overdue(fast, (T0, held)).any(|late| late.unit == held));
}
