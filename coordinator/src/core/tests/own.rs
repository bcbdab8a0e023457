//! Own checks: the operator's machines count drawn units once more, and are not outvoted.

use super::*;
use crate::core::Refusal;
use domain::{Takeback, Target};
use records::ledger::{Policy, Record};
use records::{OwnChecks, retractions};

/// A core whose operator is Ada. All units are drawn, because the plan is small.
fn core_of_ada(policy: DoubleCheck) -> Core {
    let mut core = core_with(policy);
    set_own_checks(&mut core, Some("ada"));
    core
}

fn set_own_checks(core: &mut Core, owner: Option<&str>) {
    let share = DoubleCheck::default();
    let own_checks = owner.map(|owner| OwnChecks { share, owner: owner.to_owned() });
    let (double_check, require_owners) = (core.policy(), None);
    let policy = Policy { double_check, require_owners, own_checks, reason: None, at: 0 };
    core.recorded(T0, None, &[Record::Policy(policy)]).unwrap();
}

/// Records what follows from the state.
fn follow(core: &mut Core) {
    loop {
        let records = core.take_back(0, 1000);
        if records.is_empty() {
            return;
        }
        core.recorded(T0, None, &records).unwrap();
    }
}

fn retract_owner(core: &mut Core, owner: &str) {
    decide(core, Target::Owner(owner.to_owned()));
}

fn decide(core: &mut Core, target: Target) {
    let takeback = Takeback { target, reason: "a test".into(), dry_run: false };
    let plan = Arc::clone(core.plan());
    let records = retractions(&plan, Shard::default(), core.standing(), &takeback, 0).unwrap();
    core.recorded(T0, None, &records).unwrap();
    follow(core);
}

fn suspended(core: &mut Core) -> Vec<String> {
    core.standing().sums().machines.suspended().map(str::to_owned).collect()
}

/// A unit whose count no other count can contradict.
fn asymmetric_unit(core: &Core) -> UnitId {
    let mut units = (0..core.plan().units()).map(UnitId);
    units.find(|unit| core.work.symmetric_constellation(*unit).is_none()).unwrap()
}

/// Lies about that unit.
fn count_lying(core: &mut Core, worker: WorkerId, about: UnitId) {
    loop {
        let leases = core.lease(T0, worker, 100).unwrap();
        if leases.is_empty() {
            return;
        }
        for lease in leases {
            let lie = u64::from(lease.unit == about);
            report(core, T0, worker, lease, lie);
        }
    }
}

/// Mallory and Oscar agree on a lie about one unit of a run in which everything is checked.
fn agreed_lie(core: &mut Core) -> UnitId {
    let unit = asymmetric_unit(core);
    let liars = ["mallory", "oscar"].map(|owner| join_of(core, owner, owner));
    for worker in [liars[0], liars[1], liars[0]] {
        count_lying(core, worker, unit);
        follow(core);
    }
    assert!(core.standing().own_checks_due() > 0 && !core.is_complete());
    unit
}

#[test]
fn drawn_units_wait_for_operator() {
    let mut core = core_of_ada(DoubleCheck::All);
    agreed_lie(&mut core);
    let ben = join_of(&mut core, "ben", "ben");
    assert_eq!(core.lease(T0, ben, 100).unwrap(), []);
    core.tick(T0);
    let trouble = core.status(T0).trouble;
    assert!(trouble.contains("start a worker of ada") && trouble.contains("--own-checks none"), "{trouble}");
    set_own_checks(&mut core, None);
    assert!(core.is_complete());
}

#[test]
fn own_checks_complete_a_run() {
    let mut core = core_of_ada(DoubleCheck::All);
    agreed_lie(&mut core);
    // Here the agreed value is right.
    let (ada, unit) = (join_of(&mut core, "ada", "ada"), asymmetric_unit(&core));
    count_lying(&mut core, ada, unit);
    follow(&mut core);
    assert!(core.is_complete(), "{:?}", core.status(T0).trouble);
    let own = core.status(T0).assurance.own_checks.unwrap();
    let units = core.plan().units();
    assert_eq!((own.made, own.pending, own.wrong_at_most), (units, 0, Some(0.0)));
}

#[test]
fn own_check_against_two_owners_suspends_both() {
    let mut core = core_of_ada(DoubleCheck::All);
    let unit = agreed_lie(&mut core);
    let ada = join_of(&mut core, "ada", "ada");
    count_all(&mut core, ada);
    assert_eq!(suspended(&mut core), ["mallory", "oscar"]);
    assert!(core.standing().is_done(unit) && !core.is_complete());
    let trouble = core.status(T0).trouble;
    assert!(trouble.contains("mallory, oscar") && trouble.contains("diadem retract --owner"), "{trouble}");
    let registration = registration(&core, "another", &[]);
    let refused = core.register(T0, Registration { owner: Owner::new("oscar"), ..registration }).unwrap_err();
    assert!(
        matches!(&refused, Refusal::Quarantined(..)) && refused.to_string().contains("suspended"),
        "{refused}"
    );
    // The operator takes all counts of both back, and the run ends right.
    retract_owner(&mut core, "mallory");
    assert_eq!(suspended(&mut core), ["oscar"]);
    assert!(!core.standing().is_done(unit));
    retract_owner(&mut core, "oscar");
    let ben = join_of(&mut core, "ben", "ben");
    for worker in [ada, ben, ada, ben, ada] {
        count_all(&mut core, worker);
        follow(&mut core);
    }
    assert!(core.is_complete(), "{:?}", core.status(T0).trouble);
    assert_eq!(core.standing().count(unit), Some(0));
}

#[test]
fn operator_may_believe_suspended_owners() {
    let mut core = core_of_ada(DoubleCheck::All);
    let unit = agreed_lie(&mut core);
    let ada = join_of(&mut core, "ada", "ada");
    count_all(&mut core, ada);
    decide(&mut core, Target::Machine { owner: "ada".into(), machine: "ada".into() });
    for owner in ["mallory", "oscar"] {
        decide(&mut core, Target::Admission { owner: owner.into(), machine: None });
    }
    assert_eq!(suspended(&mut core), [""; 0]);
    let other = join_of(&mut core, "ada", "other");
    count_lying(&mut core, other, unit);
    follow(&mut core);
    assert!(core.is_complete(), "{:?}", core.status(T0).trouble);
    assert_eq!(core.standing().count(unit), Some(1));
}

#[test]
fn two_owners_do_not_outvote_the_operator() {
    let mut core = core_of_ada(DoubleCheck::All);
    let [mallory, ada, oscar] = ["mallory", "ada", "oscar"].map(|owner| join_of(&mut core, owner, owner));
    let lease = Lease { unit: asymmetric_unit(&core), ..any_lease(&core) };
    report(&mut core, T0, mallory, lease, 7);
    report(&mut core, T0, ada, lease, 5);
    let mirrored = Lease { variant: Variant { mirrored: true, other_kernel: false }, ..lease };
    assert_eq!(report(&mut core, T0, oscar, mirrored, 7), Verdict::Conflict);
    assert!(
        suspended(&mut core).is_empty() && core.standing().sums().machines.quarantined().next().is_none()
    );
    // Only Ada counts the unit again, in another way.
    let again = core.lease(T0, ada, 1).unwrap()[0];
    assert!(again.unit == lease.unit && again.variant != lease.variant, "{again:?}");
    assert_eq!(report(&mut core, T0, ada, again, 5), Verdict::Conflict);
    assert_eq!(suspended(&mut core), ["mallory", "oscar"]);
    follow(&mut core);
    assert_eq!(core.standing().count(lease.unit), Some(5));
    assert!(!core.is_complete());
}

#[test]
fn wrong_machine_of_the_operator_suspends_nobody() {
    let mut core = core_of_ada(DoubleCheck::All);
    let [ben, ada, cho] = ["ben", "ada", "cho"].map(|owner| join_of(&mut core, owner, owner));
    let lease = Lease { unit: asymmetric_unit(&core), ..any_lease(&core) };
    report(&mut core, T0, ben, lease, 7);
    report(&mut core, T0, ada, lease, 5);
    report(&mut core, T0, cho, lease, 7);
    let again = core.lease(T0, ada, 1).unwrap()[0];
    assert_eq!(report(&mut core, T0, ada, again, 7), Verdict::Recorded);
    assert!(suspended(&mut core).is_empty());
    assert_eq!(core.standing().count(lease.unit), Some(7));
}
