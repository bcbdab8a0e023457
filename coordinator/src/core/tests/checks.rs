//! Counts that are made twice, and those that disagree.

use std::time::Duration;

use domain::{Lease, Registration, Variant, Verdict, WorkerId};
use queens::UnitId;
use queens::kernel::KernelName;
use rand::SeedableRng;
use records::DoubleCheck;
use records::ledger::{Admission, Expulsion, Record, Recount, UnitRecord};
use records::testing::known_run::unit_record;

use super::{T0, any_lease, core, core_with, join, join_of, registration, report};
use crate::core::members::{Distrust, Refusal};
use crate::core::{Core, LEASE_TIME};

#[test]
fn contradicted_count_stands_if_other_machine_agrees() {
    let mut core = core();
    let [a, b, c, d] = ["a", "b", "c", "d"].map(|name| join(&mut core, name));
    let lease = any_lease(&core);
    assert_eq!(report(&mut core, T0, a, lease, 5), Verdict::Recorded);
    assert_eq!(report(&mut core, T0, b, lease, 6), Verdict::Conflict);
    assert_eq!((core.standing().done(), core.status(T0).disputed), (0, 1));
    assert_eq!(report(&mut core, T0, b, lease, 6), Verdict::Known, "the same again says nothing new");
    assert_eq!(report(&mut core, T0, c, lease, 7), Verdict::Conflict);
    assert_eq!(core.lease(T0, d, 1).unwrap()[0].unit, lease.unit, "it is lent again");
    assert_eq!(report(&mut core, T0, d, lease, 6), Verdict::Recorded);
    assert_eq!(core.standing().count(lease.unit), Some(6));
    let status = core.status(T0);
    assert_eq!((status.disputed, status.assurance.on_two_machines), (0, 1));
    assert_eq!(status.assurance.quarantined, ["a", "c"], "those who lost it");
    assert_eq!(core.lease(T0, a, 1), Err(Refusal::UnknownWorker(a)));
    let again = registration(&core, "a", &[]);
    assert_eq!(core.register(T0, again), Err(Refusal::Quarantined("a".into(), Distrust::Wrong)));
}

#[test]
fn check_goes_to_same_machine_only_if_it_is_alone() {
    let mut core = core_with(DoubleCheck::All);
    let (a, b) = (join(&mut core, "a"), join(&mut core, "b"));
    let of_a = core.lease(T0, a, 3).unwrap();
    of_a.iter().for_each(|lease| _ = report(&mut core, T0, a, *lease, 5));
    let to_b = core.lease(T0, b, 3).unwrap();
    assert!(to_b.iter().map(|lease| lease.unit).eq(of_a.iter().map(|lease| lease.unit)));
    assert!(to_b.iter().all(|lease| lease.variant.mirrored));
    report(&mut core, T0, b, to_b[0], 5);
    core.release(T0, b, &to_b[1..], true).unwrap();
    // The other worker has left. All units are counted; the remaining checks wait for another machine for a while.
    let next = |core: &mut Core, now| core.lease(now, a, 100_000).unwrap();
    loop {
        let leases = next(&mut core, T0);
        if leases.is_empty() {
            break;
        }
        assert!(leases.iter().all(|lease| lease.variant == Variant::default()));
        leases.iter().for_each(|lease| _ = report(&mut core, T0, a, *lease, 5));
    }
    core.tick(T0);
    assert!(core.status(T0).trouble.contains("another machine than a"), "{}", core.status(T0).trouble);
    core.pause(T0, Some("heat wave".into()));
    core.tick(T0);
    assert_eq!(core.status(T0).trouble, "", "the pause keeps the run from its end, and no rule about owners");
    core.pause(T0, None);
    core.tick(T0);
    let relaxed = Duration::from_secs(15);
    core.tick(relaxed);
    let mut checked = 1;
    loop {
        let leases = next(&mut core, relaxed);
        if leases.is_empty() {
            break;
        }
        checked += leases.len() as u64;
        assert!(leases.iter().all(|lease| lease.variant.mirrored && lease.variant.other_kernel));
        leases.iter().for_each(|lease| _ = report(&mut core, relaxed, a, *lease, 5));
    }
    assert!(core.is_complete());
    let assurance = core.status(relaxed).assurance;
    assert_eq!((assurance.on_two_machines, assurance.on_one_machine), (1, checked - 1));
}

#[test]
fn wrong_count_of_confirmed_unit_quarantines_at_once() {
    let mut core = core_with(DoubleCheck::All);
    let [a, b, c] = ["a", "b", "c"].map(|name| join(&mut core, name));
    let lease = core.lease(T0, a, 1).unwrap()[0];
    report(&mut core, T0, a, lease, 5);
    let again = core.lease(T0, b, 1).unwrap()[0];
    assert_eq!(report(&mut core, T0, b, again, 5), Verdict::Recorded);
    assert_eq!(report(&mut core, T0, c, lease, 6), Verdict::Conflict);
    assert_eq!(core.status(T0).assurance.quarantined, ["c"]);
    assert_eq!(core.standing().count(lease.unit), Some(5));
}

/// Makes and checks all symmetric counts, which cards do not count.
fn core_without_symmetric_counts() -> Core {
    let mut core = core_with(DoubleCheck::All);
    let units: Vec<_> =
        (0..core.plan().units()).take_while(|unit| core.work.is_symmetric_count(UnitId(*unit))).collect();
    for unit in units {
        let count = unit_record(unit, 0, "z");
        let check = UnitRecord { mirrored: true, of: Some("z".into()), ..count.clone() };
        core.recorded(T0, None, &[Record::Count(count), Record::Check(check)]).unwrap();
    }
    core
}

#[test]
fn card_count_is_checked_on_connected_processor() {
    let mut core = core_without_symmetric_counts();
    let [card, other_card, processor] = ["a/gpu0", "b/gpu0", "c"].map(|name| join(&mut core, name));
    let of_card = core.lease(T0, card, 2).unwrap();
    of_card.iter().for_each(|lease| _ = report(&mut core, T0, card, *lease, 5));
    let units: Vec<_> = of_card.iter().map(|lease| lease.unit).collect();
    let to_other_card = core.lease(T0, other_card, 5).unwrap();
    assert!(to_other_card.iter().all(|lease| !units.contains(&lease.unit)), "it counts what is open");
    core.release(T0, other_card, &to_other_card, true).unwrap();
    let check = core.lease(T0, processor, 1).unwrap()[0];
    assert!(units.contains(&check.unit) && check.variant.mirrored);
    report(&mut core, T0, processor, check, 5);
    let assurance = core.status(T0).assurance;
    assert_eq!((assurance.on_two_kinds, assurance.on_two_machines), (1, 1));
    let gone = LEASE_TIME * 2;
    // The processor has left, so one card checks the other.
    let other_registration = registration(&core, "b/gpu0", &[]);
    let other_card = core.register(gone, other_registration).unwrap().worker;
    let lent = core.lease(gone, other_card, 9).unwrap();
    let check = *lent.iter().find(|lease| units.contains(&lease.unit)).unwrap();
    report(&mut core, gone, other_card, check, 5);
    let assurance = core.status(gone).assurance;
    assert_eq!((assurance.on_two_kinds, assurance.on_two_machines), (1, 2));
}

#[test]
fn card_count_is_checked_on_card_of_other_vendor() {
    let mut core = core_without_symmetric_counts();
    let [of_nvidia, other_of_nvidia, of_nobody, of_amd] =
        ["a/nvidia/gpu0", "b/nvidia/gpu0", "c/gpu0", "d/amd/gpu0"].map(|name| join(&mut core, name));
    let of_card = core.lease(T0, of_nvidia, 2).unwrap();
    of_card.iter().for_each(|lease| _ = report(&mut core, T0, of_nvidia, *lease, 5));
    let units: Vec<_> = of_card.iter().map(|lease| lease.unit).collect();
    for same in [other_of_nvidia, of_nobody] {
        let lent = core.lease(T0, same, 5).unwrap();
        assert!(lent.iter().all(|lease| !units.contains(&lease.unit)), "it may be the same kind");
        core.release(T0, same, &lent, same == of_nobody).unwrap();
    }
    let check = core.lease(T0, of_amd, 1).unwrap()[0];
    assert!(units.contains(&check.unit) && check.variant.mirrored);
    report(&mut core, T0, of_amd, check, 5);
    core.release(T0, of_amd, &[], true).unwrap();
    // No other kind is connected, so the other card of the same vendor checks.
    let lent = core.lease(T0, other_of_nvidia, 5).unwrap();
    let check = *lent.iter().find(|lease| units.contains(&lease.unit)).unwrap();
    report(&mut core, T0, other_of_nvidia, check, 5);
    let assurance = core.status(T0).assurance;
    assert_eq!((assurance.on_two_kinds, assurance.on_two_machines), (1, 2));
}

#[test]
fn count_of_other_device_kind_is_checked_first() {
    let mut core = core_with(DoubleCheck::All);
    let [processor, card, other_processor] = ["a", "b/gpu0", "c"].map(|name| join(&mut core, name));
    for worker in [processor, card] {
        let lent = core.lease(T0, worker, 9).unwrap();
        let count = *lent.iter().find(|lease| !lease.variant.mirrored).unwrap();
        report(&mut core, T0, worker, count, 5);
        core.release(T0, worker, &lent, false).unwrap();
    }
    let check = core.lease(T0, other_processor, 1).unwrap()[0];
    assert_eq!(core.votes.standing().vote(check.unit).unwrap().origin.machine.0, 1);
}

#[test]
fn mirrored_first_count_is_checked_by_plain_count() {
    let mut core = core_with(DoubleCheck::All);
    let a = join(&mut core, "a");
    let lease = core.lease(T0, a, 1).unwrap()[0];
    // The worker held the unit as a check when the coordinator and the first count were lost.
    let held = Lease { variant: Variant { mirrored: true, other_kernel: true }, ..lease };
    assert_eq!(report(&mut core, T0, a, held, 5), Verdict::Recorded);
    let check = loop {
        let leases = core.lease(T0, a, 100_000).unwrap();
        if let Some(check) = leases.iter().find(|other| other.unit == lease.unit) {
            break *check;
        }
        leases.iter().for_each(|lease| _ = report(&mut core, T0, a, *lease, 5));
    };
    assert_eq!(report(&mut core, T0, a, check, 5), Verdict::Recorded);
}

#[test]
fn a_count_that_stands_again_is_always_checked() {
    let mut core = core();
    let [a, b] = ["a", "b"].map(|name| join(&mut core, name));
    let lease = loop {
        let lease = core.lease(T0, a, 1).unwrap()[0];
        report(&mut core, T0, a, lease, 5);
        if !core.work.is_symmetric_count(lease.unit) {
            break lease;
        }
    };
    assert_eq!(report(&mut core, T0, b, lease, 6), Verdict::Conflict);
    let (owner, machine, reason) = (String::new(), Some("b".to_owned()), "a test".to_owned());
    core.recorded(
        T0,
        None,
        &[Record::Expel(Expulsion { owner, machine, lost: false, suspended: false, reason, at: 0 })],
    )
    .unwrap();
    let records = core.take_back(0, 10);
    let [Record::Restore(restored)] = &records[..] else { panic!("{records:?}") };
    assert_eq!((restored.unit, restored.count), (lease.unit, 5));
    assert_eq!(restored.recount, Some(Recount::All), "though nothing is checked in this run");
}

#[test]
fn checks_of_readmitted_machine_are_open_again() {
    let mut core = core_with(DoubleCheck::All);
    let [a, b] = ["a", "b"].map(|name| join(&mut core, name));
    let of_a = core.lease(T0, a, 3).unwrap();
    of_a.iter().for_each(|lease| _ = report(&mut core, T0, a, *lease, 5));
    let checks = core.lease(T0, b, 3).unwrap();
    let (owner, machine, reason) = (String::new(), Some("a".to_owned()), "a test".to_owned());
    let expulsion = Expulsion {
        owner: owner.clone(),
        machine: machine.clone(),
        lost: false,
        suspended: false,
        reason: reason.clone(),
        at: 0,
    };
    core.recorded(T0, None, &[Record::Expel(expulsion)]).unwrap();
    core.release(T0, b, &checks, false).unwrap();
    core.recorded(T0, None, &[Record::Admit(Admission { owner, machine, reason, at: 0 })]).unwrap();
    let again = core.lease(T0, b, 3).unwrap();
    assert!(again.iter().map(|lease| lease.unit).eq(of_a.iter().map(|lease| lease.unit)), "{again:?}");
}

#[test]
fn card_without_other_method_is_asked_once() {
    let mut core = core_with(DoubleCheck::All);
    let card = join(&mut core, "a/gpu0");
    let (mut given_back, mut last, mut now) = (0, T0, T0);
    while core.status(now).trouble.is_empty() {
        assert!(now < LEASE_TIME * 40, "nobody says that it cannot end");
        for lease in core.lease(now, card, 100).unwrap() {
            if lease.variant.other_kernel && !core.work.is_symmetric_count(lease.unit) {
                core.release(now, card, &[lease], false).unwrap();
                (given_back, last) = (given_back + 1, now);
            } else {
                report(&mut core, now, card, lease, 0);
            }
        }
        core.tick(now);
        core.renew(now, card, &[]).unwrap();
        now += Duration::from_secs(1);
    }
    assert!(core.status(now).trouble.contains("without --gpu"));
    assert!((1..=100).contains(&given_back) && last < LEASE_TIME, "{given_back} until {last:?}");
    assert_eq!(core.status(now).set_aside_total, 0, "nobody is blamed");
    // A new machine makes the checks.
    let other = registration(&core, "b", &[]);
    let other = core.register(now, other).unwrap().worker;
    assert_eq!(core.status(now).trouble, "");
    loop {
        let leases = core.lease(now, other, 100).unwrap();
        if leases.is_empty() {
            break;
        }
        leases.into_iter().for_each(|lease| _ = report(&mut core, now, other, lease, 0));
    }
    assert!(core.is_complete(), "{:?}", core.status(now));
}

#[test]
fn keyless_count_is_checked_by_other_machine_first() {
    let mut core = core_with(DoubleCheck::All);
    let nameless = join_of(&mut core, "", "m");
    let unit =
        (0..core.plan().units()).map(UnitId).find(|unit| !core.work.is_symmetric_count(*unit)).unwrap();
    let lease = Lease { unit, ..core.lease(T0, nameless, 1).unwrap()[0] };
    report(&mut core, T0, nameless, lease, 5);
    core.release(T0, nameless, &[], true).unwrap();
    let [m, k] = ["m", "k"].map(|machine| join_of(&mut core, "ada", machine));
    let variant = |core: &mut Core, now, worker| {
        let borrower = core.borrower(now, worker).unwrap();
        core.open_task(now, &borrower, unit).map(|(_, variant)| (variant.mirrored, variant.other_kernel))
    };
    assert_eq!(variant(&mut core, T0, m), None, "the other machine is there");
    assert_eq!(variant(&mut core, T0, k), Some((true, false)));
    core.release(T0, k, &[], true).unwrap();
    let later = Duration::from_mins(1);
    assert_eq!(variant(&mut core, later, m), Some((true, true)), "it is the same machine by another name");
}

#[test]
fn second_algorithm_count_is_checked_by_first() {
    let by_orbits = Variant { mirrored: true, other_kernel: true };
    for seed in 0..100 {
        let mut core = core();
        let [a, b] = ["a", "b"].map(|name| join(&mut core, name));
        core.random = SeedableRng::seed_from_u64(seed);
        let lease = Lease { variant: by_orbits, ..core.lease(T0, a, 1).unwrap()[0] };
        assert!(core.work.is_symmetric_count(lease.unit));
        assert_eq!(report(&mut core, T0, a, lease, 5), Verdict::Recorded);
        let check = core.lease(T0, b, 1).unwrap()[0];
        assert_eq!((check.unit, check.variant), (lease.unit, Variant::default()));
        assert_eq!(report(&mut core, T0, b, check, 5), Verdict::Recorded);
    }
}

/// A worker with an external program.
fn join_external(core: &mut Core, machine: &str) -> WorkerId {
    let registration = registration(core, machine, &[]);
    core.register(T0, Registration { kernel: KernelName::EXTERNAL, ..registration }).unwrap().worker
}

#[test]
fn external_program_checks_but_makes_no_first_count() {
    let mut core = core_without_symmetric_counts();
    let external = join_external(&mut core, "a-external");
    assert_eq!(core.lease(T0, external, 9).unwrap(), []);
    let a = join(&mut core, "a");
    let counted: Vec<_> = core.lease(T0, a, 3).unwrap();
    counted.iter().for_each(|lease| _ = report(&mut core, T0, a, *lease, 5));
    let mut checks = core.lease(T0, external, 9).unwrap();
    assert!(checks.iter().all(|check| check.variant == Variant { mirrored: true, other_kernel: false }));
    checks.sort_by_key(|check| check.unit);
    assert!(checks.iter().map(|check| check.unit).eq(counted.iter().map(|lease| lease.unit)));
    assert_eq!(report(&mut core, T0, external, checks[0], 5), Verdict::Recorded);
    assert_eq!(report(&mut core, T0, external, checks[1], 6), Verdict::Conflict);
    let assurance = core.status(T0).assurance;
    assert_eq!((assurance.by_external, assurance.on_two_machines, assurance.conflicts), (1, 1, 1));
    // Nothing lends the program a unit without a count: neither a lost one, nor one that it claims to hold.
    core.release(T0, a, &[], true).unwrap();
    let claims: Vec<_> = (0..core.plan().units()).map(UnitId).collect();
    let registration = registration(&core, "b-external", &claims);
    let registration = Registration { kernel: KernelName::EXTERNAL, ..registration };
    let other = core.register(T0, registration).unwrap();
    let lent = core.lease(T0, other.worker, 99).unwrap();
    let lent = other.leases.iter().chain(&lent);
    assert!(lent.clone().all(|lease| counted.iter().any(|known| known.unit == lease.unit)), "{lent:?}");
}

#[test]
fn symmetric_check_is_none_of_the_program() {
    let mut core = core_with(DoubleCheck::None);
    let (a, external) = (join(&mut core, "a"), join_external(&mut core, "a-external"));
    let is_symmetric = |core: &Core, lease: &Lease| core.work.is_symmetric_count(lease.unit);
    let first = core.lease(T0, a, 1).unwrap()[0];
    assert!(is_symmetric(&core, &first), "they come first");
    report(&mut core, T0, a, first, 0);
    let check = core.lease(T0, external, 1).unwrap()[0];
    assert_eq!((check.unit, report(&mut core, T0, external, check, 0)), (first.unit, Verdict::Recorded));
    let assurance = core.status(T0).assurance;
    assert_eq!((assurance.on_two_machines, assurance.by_external), (1, 0));
}
