//! Workers that come, come back, leave or are refused.

use std::time::Duration;

use domain::{Lease, Owner, Registration, Token, Variant, Verdict, Welcome};
use queens::UnitId;
use records::ledger::{Expulsion, Record};
use records::standing::Identity;

use super::{Core, T0, core, counted, given, join, join_of, registration, report};
use crate::core::LEASE_TIME;
use crate::core::members::MAX_WORKERS_PER_OWNER;
use crate::core::members::{Distrust, NoWorker, Refusal};
use crate::core::worker_calls::SILENCE;

#[test]
fn returning_worker_gets_leases_of_held_units() {
    let mut before = core();
    let a = join(&mut before, "a");
    let held: Vec<UnitId> = before.lease(T0, a, 3).unwrap().iter().map(|lease| lease.unit).collect();
    // The coordinator is restarted: leases are gone, the worker is unknown.
    let mut after = core();
    assert_eq!(after.lease(T0, a, 1), Err(Refusal::UnknownWorker(a)));
    let back = registration(&after, "a", &held);
    let welcome = after.register(T0, back).unwrap();
    assert_eq!(welcome.leases.iter().map(|lease| lease.unit).collect::<Vec<_>>(), held);
    let other = join(&mut after, "b");
    let lent = after.lease(T0, other, 5).unwrap();
    assert!(lent.iter().all(|lease| !held.contains(&lease.unit)));
}

#[test]
fn repeated_registration_keeps_held_leases() {
    let mut core = core();
    let before = join(&mut core, "a");
    let leases = core.lease(T0, before, 2).unwrap();
    let held: Vec<UnitId> = leases.iter().map(|lease| lease.unit).collect();
    let again = Registration { former: Some(before), leases, ..registration(&core, "a", &held) };
    core.register(T0, again.clone()).unwrap();
    let welcome = core.register(T0, again.clone()).unwrap();
    assert_eq!(welcome.leases.iter().map(|lease| lease.unit).collect::<Vec<_>>(), held);
    assert_eq!(core.renew(LEASE_TIME / 2, welcome.worker, &welcome.leases).unwrap(), []);
    let namesake = registration(&core, "a", &held);
    assert!(core.register(T0, namesake).unwrap().leases.is_empty(), "nobody else is, whatever its name");
    let thief = Registration { name: "b".into(), machine: "b".into(), ..again };
    assert!(core.register(T0, thief).unwrap().leases.is_empty(), "nor with leases of another machine");
}

#[test]
fn returned_count_of_unit_lent_to_other_is_judged() {
    let mut before = core();
    // Both processes draw numbers from the same seed. Here no worker of the other process has this number.
    let [_, _, a] = ["c", "d", "a"].map(|name| join(&mut before, name));
    let held = before.lease(T0, a, 3).unwrap();
    // Another worker reaches the next process first, gets the same units, and counts one of them.
    let mut after = core();
    let b = join(&mut after, "b");
    let of_b = after.lease(T0, b, 3).unwrap();
    let units_of = |leases: &[Lease]| leases.iter().map(|lease| lease.unit).collect::<Vec<_>>();
    let units = units_of(&held);
    assert_eq!(units_of(&of_b), units);
    report(&mut after, T0, b, of_b[0], 5);
    let back = Registration { former: Some(a), leases: held.clone(), ..registration(&after, "a", &units) };
    let Welcome { worker, leases, .. } = after.register(T0, back).unwrap();
    assert_eq!(units_of(&leases), units);
    let say = |after: &mut Core, worker, lease, completions| {
        let (verdict, records) = after.judge(T0, 0, worker, &counted(lease, completions)).unwrap();
        after.recorded(T0, Some(worker), &records).unwrap();
        verdict
    };
    assert_eq!(after.leases.units_of(worker), 0, "it keeps nothing from anybody");
    assert_eq!(say(&mut after, worker, leases[0], 6), Verdict::Conflict);
    assert_eq!(say(&mut after, worker, leases[1], 5), Verdict::Recorded);
    assert_eq!(say(&mut after, worker, leases[1], 5), Verdict::Known);
    assert_eq!(say(&mut after, worker, held[2], 5), Verdict::Unwanted, "the former number is gone");
    assert_eq!(after.leases.holders(held[2].unit).next(), Some(b));
    after.release(T0, worker, &leases, true).unwrap();
    assert_eq!(
        after.leases.holders(held[2].unit).next(),
        Some(b),
        "nor does it give back what another one has"
    );
}

#[test]
fn claimed_units_are_leased_within_share() {
    let mut core = core();
    join(&mut core, "a");
    let all: Vec<UnitId> = (0..core.plan().units()).map(UnitId).collect();
    let greedy = registration(&core, "b", &all);
    let lent = core.register(T0, greedy).unwrap().leases.len();
    assert!(lent < all.len() / 2, "{lent} of {}", all.len());
}

#[test]
fn proven_leases_beyond_share_can_be_reported() {
    let mut core = core();
    let (a, b) = (join(&mut core, "a"), join(&mut core, "b"));
    let lent = |unit| Lease { unit: UnitId(unit), token: Token(0), variant: Variant::default() };
    let all: Vec<Lease> = (0..core.plan().units()).map(|unit| given(&core, a, lent(unit))).collect();
    let again = Registration { former: Some(a), leases: all.clone(), ..registration(&core, "a", &[]) };
    let Welcome { worker, leases, .. } = core.register(T0, again).unwrap();
    let held = core.leases.units_of(worker) as usize;
    assert!(0 < held && held < all.len() / 2, "{held} of {}", all.len());
    assert_eq!(leases.len(), all.len());
    // The worker keeps the units that it names first, because it may have counted them. The others are open without
    // blame.
    let (own, open) = leases.split_at(held);
    assert!(own.iter().all(|lease| core.leases.holders(lease.unit).eq([worker])));
    let to_b = core.lease(T0, b, 1).unwrap()[0];
    assert!(open.iter().any(|lease| lease.unit == to_b.unit) && core.attempt(to_b.unit) == 1);
    for lease in leases {
        assert_eq!(report(&mut core, T0, worker, lease, 0), Verdict::Recorded);
    }
    // A worker that registers again because no reply came keeps its units.
    let mut core = self::core();
    let c = join(&mut core, "c");
    let lent = core.lease(T0, c, 100_000).unwrap();
    let again = Registration { former: Some(c), leases: lent.clone(), ..registration(&core, "c", &[]) };
    let worker = core.register(T0, again).unwrap().worker;
    assert_eq!(core.leases.units_of(worker), lent.len() as u64);
}

#[test]
fn units_of_departed_or_silent_worker_are_open_again() {
    let mut core = core();
    let (a, b) = (join(&mut core, "a"), join(&mut core, "b"));
    let of_a = core.lease(T0, a, 2).unwrap();
    core.release(T0, a, &of_a[..1], false).unwrap();
    assert_eq!(core.lease(T0, b, 1).unwrap()[0].unit, of_a[0].unit);
    core.release(T0, a, &[], true).unwrap();
    assert_eq!(core.lease(T0, b, 1).unwrap()[0].unit, of_a[1].unit);
    let later = SILENCE * 2;
    core.tick(later);
    assert!(core.has_no_workers());
    assert_eq!(core.status(later).leased, 0);
}

#[test]
fn worker_with_other_plan_is_refused() {
    let mut core = core();
    let foreign = Registration { fingerprint: "0".repeat(32).into(), ..registration(&core, "a", &[]) };
    assert!(matches!(core.register(T0, foreign), Err(Refusal::OtherPlan { .. })));
    let a = join(&mut core, "a");
    let beyond = Lease { unit: UnitId(core.plan().units()), token: Token(1), variant: Variant::default() };
    assert_eq!(report(&mut core, T0, a, beyond, 1), Verdict::Unwanted);
}

#[test]
fn a_kernel_that_miscounts_a_known_board_is_refused() {
    let mut core = core();
    let wrong = Registration { self_test: 14_199, ..registration(&core, "a", &[]) };
    let refusal = core.register(T0, wrong).unwrap_err();
    assert!(matches!(refusal, Refusal::SelfTest { found: 14_199, expected: 14_200, .. }), "{refusal}");
}

#[test]
fn workers_of_an_owner_are_limited() {
    let mut core = core();
    let of = |owner: &str, core: &Core| Registration {
        owner: Owner::new(owner),
        ..registration(core, owner, &[])
    };
    let (greedy, modest) = (of("greedy", &core), of("modest", &core));
    for _ in 0..MAX_WORKERS_PER_OWNER {
        core.register(T0, greedy.clone()).unwrap();
    }
    let refused = core.register(LEASE_TIME, greedy.clone());
    assert_eq!(refused, Err(Refusal::TooManyWorkers(MAX_WORKERS_PER_OWNER)));
    core.register(LEASE_TIME, modest).unwrap();
    let later = LEASE_TIME * 2;
    core.register(later, greedy).unwrap();
    assert_eq!(core.status(later).workers_total, MAX_WORKERS_PER_OWNER as u64 + 1);
}

#[test]
fn status_lists_the_1000_most_recent_workers() {
    let mut core = core();
    for k in 0..3000_u64 {
        let registration = registration(&core, &k.to_string(), &[]);
        core.register(Duration::from_millis(k), registration).unwrap();
    }
    let status = core.status(Duration::from_secs(3));
    assert_eq!((status.workers.len(), status.workers_total), (1000, 3000));
    assert!(status.workers.iter().all(|worker| worker.name.parse::<u64>().unwrap() >= 2000));
}

#[test]
fn owner_controls_only_its_own_workers() {
    let mut core = core();
    let of = |owner: &str, core: &Core| Registration {
        owner: Owner::new(owner),
        ..registration(core, "namesake", &[])
    };
    let (a, b) = (of("a", &core), of("b", &core));
    let (a, b) = (core.register(T0, a).unwrap().worker, core.register(T0, b).unwrap().worker);
    assert_eq!(core.check_owner(a, &Owner::new("a")), Ok(()));
    assert_eq!(core.check_owner(a, &Owner::new("b")), Err(Refusal::UnknownWorker(a)));
    let held = core.lease(T0, a, 3).unwrap();
    assert_eq!(core.strike_off(&Owner::new("a")), 1);
    assert_eq!(core.lease(T0, a, 1), Err(Refusal::UnknownWorker(a)));
    let lent = core.lease(T0, b, 100).unwrap();
    assert!(
        held.iter().all(|lease| lent.iter().any(|again| again.unit == lease.unit)),
        "they are open again"
    );
}

#[test]
fn drain_needs_owner_only_for_ambiguous_machine() {
    let mut core = core();
    let drain = |core: &mut Core, owner, name: &str| {
        let asked = core.drain(&Identity { owner: Owner::new(owner), machine: name.into() });
        asked.map(|(workers, machine)| (workers, machine.to_string()))
    };
    assert_eq!(drain(&mut core, "", "rack-1"), Err(NoWorker::Nobody));
    let [a, b] = ["ada", "ben"].map(|owner| join_of(&mut core, owner, "both"));
    let ada = join_of(&mut core, "ada", "rack-1");
    let card = join_of(&mut core, "ada", "rack-1/nvidia/gpu0");
    assert_eq!(drain(&mut core, "", "rack-1"), Ok((2, "ada/rack-1".into())));
    assert!(core.drains(ada) && core.drains(card) && !core.drains(a));
    let ambiguous = drain(&mut core, "", "both").unwrap_err().to_string();
    assert_eq!(ambiguous, "\"both\" may be any of ada/both, ben/both: name one of them");
    let unknown = drain(&mut core, "ben", "rack-1").unwrap_err().to_string();
    assert!(unknown.ends_with("ada/both, ada/rack-1, ada/rack-1/nvidia/gpu0, ben/both"), "{unknown}");
    assert!(!core.drains(a) && !core.drains(b));
    assert_eq!(drain(&mut core, "ben", "both"), Ok((1, "ben/both".into())));
    assert!(core.drains(b) && !core.drains(a));
    // The owner without a name comes first.
    let nobody = join(&mut core, "both");
    assert_eq!(drain(&mut core, "", "both"), Ok((1, "both".into())));
    assert!(core.drains(nobody) && !core.drains(a));
}

#[test]
fn quarantined_worker_is_refused_with_reason() {
    let mut core = core();
    join_of(&mut core, "ada", "a");
    let expel = |owner: &str, machine: Option<&str>| {
        let (owner, machine) = (owner.to_owned(), machine.map(str::to_owned));
        Record::Expel(Expulsion {
            owner,
            machine,
            lost: false,
            suspended: false,
            reason: "hot".into(),
            at: 0,
        })
    };
    core.recorded(T0, None, &[expel("ada", Some("a")), expel("ben", None)]).unwrap();
    let mut refused = |owner: &str| {
        let registration = registration(&core, "a", &[]);
        core.register(T0, Registration { owner: Owner::new(owner), ..registration }).unwrap_err()
    };
    assert_eq!(refused("ada"), Refusal::Quarantined("ada/a".into(), Distrust::Retracted));
    assert_eq!(refused("ben"), Refusal::Quarantined("ben/a".into(), Distrust::Owner));
}

#[test]
fn units_outside_plan_are_ignored() {
    let mut core = core();
    let worker = join(&mut core, "a");
    let mine = core.lease(T0, worker, 1).unwrap();
    for unit in [core.plan().units(), u64::MAX].map(UnitId) {
        for variant in Variant::ALL {
            let foreign = Lease { unit, token: Token(1), variant };
            for leaving in [false, true] {
                let guest = join(&mut core, "b");
                core.release(T0, guest, &[foreign], leaving).unwrap();
            }
            assert_eq!(core.renew(T0, worker, &[foreign, mine[0]]).unwrap(), [unit]);
            assert!(core.release(T0, worker, &[foreign], false).is_ok());
            assert_eq!(report(&mut core, T0, worker, foreign, 1), Verdict::Unwanted);
            let claiming = Registration {
                leases: vec![foreign],
                former: Some(worker),
                ..registration(&core, "c", &[unit])
            };
            assert!(core.register(T0, claiming).unwrap().leases.is_empty());
        }
    }
}
