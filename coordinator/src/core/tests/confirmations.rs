//! What one owner has counted and checked alone, and another confirms in the end.

use std::sync::Arc;
use std::time::Duration;

use domain::{Owner, Verdict, WorkerId};
use records::DoubleCheck;
use records::ledger::{Expulsion, Record};
use records::run_directory::LeaseKey;
use records::shard::Shard;
use records::standing::Standing;

use super::{T0, core_with, count_all, join_of as join, registration, report};
use crate::core::Core;
use crate::core::confirmations::RETURN;
use crate::core::leases::LEASE_TIME;
use crate::core::machines::PRESENT;

/// Ada's machines have counted and checked all; then Ben came, and the last check was his.
fn counted_by_ada() -> (Core, WorkerId, WorkerId) {
    let mut core = core_with(DoubleCheck::All);
    let [a1, a2, slow] = ["a1", "a2", "slow"].map(|machine| join(&mut core, "ada", machine));
    let last = core.lease(T0, slow, 1).unwrap()[0];
    for machine in [a2, a1, a2, a1] {
        count_all(&mut core, machine);
    }
    let ben = join(&mut core, "ben", "b");
    assert_eq!(
        core.lease(T0, ben, 100).unwrap(),
        [],
        "what is checked is left alone while something is open"
    );
    report(&mut core, T0, slow, last, 0);
    let check = core.lease(T0, ben, 100).unwrap();
    assert_eq!(check.iter().map(|lease| lease.unit).collect::<Vec<_>>(), [last.unit]);
    report(&mut core, T0, ben, check[0], 0);
    (core, a1, ben)
}

#[test]
fn what_one_owner_has_checked_alone_is_checked_by_another_before_the_answer() {
    let (mut core, a1, ben) = counted_by_ada();
    assert!(core.may_lend(T0) && !core.is_complete(T0));
    assert!(core.rest(T0).completions > 0.0, "it takes time");
    assert_eq!(core.lease(T0, a1, 100).unwrap(), [], "none of her own");
    let lent = core.lease(T0, ben, 100).unwrap();
    assert!(!lent.is_empty() && lent.iter().all(|lease| lease.variant.mirrored));
    lent.iter().for_each(|lease| _ = report(&mut core, T0, ben, *lease, 0));
    count_all(&mut core, ben);
    assert!(core.is_complete(T0) && !core.may_lend(T0));
    assert!(core.rest(T0).completions <= 0.0);
    assert_eq!(core.status(T0).assurance.on_two_owners, core.plan().units());
}

#[test]
fn an_owner_who_takes_such_checks_and_makes_none_holds_up_the_answer_for_as_long_as_a_lease_lasts() {
    let (mut core, _, ben) = counted_by_ada();
    let held = core.lease(T0, ben, 100).unwrap();
    for seconds in 1..LEASE_TIME.as_secs() {
        let now = Duration::from_secs(seconds);
        core.renew(now, ben, &held).unwrap();
        assert!(!core.is_complete(now));
    }
    core.renew(LEASE_TIME, ben, &held).unwrap();
    assert!(core.is_complete(LEASE_TIME));
    let again = core.register(
        LEASE_TIME,
        domain::Registration { owner: Owner::new("ben"), ..registration(&core, "b2", &[]) },
    );
    assert_eq!(core.lease(LEASE_TIME, again.unwrap().worker, 100).unwrap(), [], "and not again");
}

#[test]
fn a_pause_gives_no_weaker_answer_and_takes_nobody_s_time() {
    let (mut core, _, ben) = counted_by_ada();
    core.pause(T0, Some("the cluster is needed".to_owned()));
    assert_eq!(core.lease(T0, ben, 100).unwrap(), []);
    let resumed = LEASE_TIME * 3;
    core.renew(resumed, ben, &[]).unwrap();
    assert!(!core.is_complete(resumed) && !core.may_lend(resumed));
    assert!(core.is_complete(resumed + PRESENT + Duration::from_secs(1)), "he has left");
    core.pause(resumed, None);
    assert!(core.may_lend(resumed));
    let soon = resumed + LEASE_TIME / 2;
    core.renew(soon, ben, &[]).unwrap();
    while !core.is_complete(soon) {
        let checks = core.lease(soon, ben, 100).unwrap();
        assert!(!checks.is_empty());
        checks.into_iter().for_each(|lease| _ = report(&mut core, soon, ben, lease, 0));
    }
    assert_eq!(core.status(soon).assurance.on_two_owners, core.plan().units());
}

#[test]
fn the_answer_waits_for_nobody_who_is_not_there() {
    let (core, ..) = counted_by_ada();
    assert!(core.is_complete(PRESENT + Duration::from_secs(1)), "nobody was heard of lately");
    let (mut core, _, ben) = counted_by_ada();
    core.release(T0, ben, &[], true).unwrap();
    assert!(core.is_complete(T0), "only she is left who has counted them");
}

/// A process that is started in that run, from its checkpoint.
fn restarted(core: &mut Core) -> Core {
    let plan = Arc::clone(core.plan());
    let (marks, sums) = (core.standing().marks().clone(), core.standing().sums().clone());
    let standing = Standing::restored(&plan, marks, sums);
    let mut again =
        Core::new(plan, Shard::default(), standing, DoubleCheck::All, LeaseKey::new([7; LeaseKey::BYTES]), 8);
    again.expect_back(T0);
    again
}

#[test]
fn who_could_confirm_something_has_a_moment_to_come_back_after_a_restart() {
    let (mut core, ..) = counted_by_ada();
    let mut again = restarted(&mut core);
    assert!(!again.is_complete(T0));
    assert!(again.is_complete(RETURN), "he does not come");
    join(&mut again, "ada", "a1");
    assert!(again.is_complete(RETURN), "she alone is nobody to wait for");
    // He is waited for until it is known what he may check, and makes the checks.
    let ben = join(&mut again, "ben", "b");
    assert_eq!(again.lease(T0, ben, 100).unwrap(), []);
    let read = LEASE_TIME * 3;
    again.renew(read, ben, &[]).unwrap();
    assert!(!again.is_complete(read));
    let known = core.standing().clone();
    again.standing().adopt_counts(&known);
    again.ledger_read(read);
    assert!(again.is_complete(read + LEASE_TIME) && !again.is_complete(read));
    while !again.is_complete(read) {
        let checks = again.lease(read, ben, 100).unwrap();
        assert!(!checks.is_empty());
        checks.into_iter().for_each(|lease| _ = report(&mut again, read, ben, lease, 0));
    }
    assert_eq!(again.status(read).assurance.on_two_owners, again.plan().units());
    assert!(restarted(&mut again).is_complete(T0), "nothing is left to be confirmed");
}

#[test]
fn a_run_of_one_owner_waits_for_nobody_after_a_restart() {
    let mut core = core_with(DoubleCheck::All);
    let [a1, a2] = ["a1", "a2"].map(|machine| join(&mut core, "ada", machine));
    for machine in [a1, a2, a1] {
        count_all(&mut core, machine);
    }
    assert!(core.is_complete(T0) && restarted(&mut core).is_complete(T0));
}

#[test]
fn checks_that_are_given_back_are_lent_again() {
    let (mut core, _, ben) = counted_by_ada();
    let lent = core.lease(T0, ben, 3).unwrap();
    core.release(T0, ben, &lent, false).unwrap();
    count_all(&mut core, ben);
    assert_eq!(core.status(T0).assurance.on_two_owners, core.plan().units());
}

#[test]
fn where_a_sample_is_checked_nothing_is_confirmed_in_the_end() {
    let mut core = core_with(DoubleCheck::Share(0.5));
    let ada = join(&mut core, "ada", "a");
    count_all(&mut core, ada);
    join(&mut core, "ben", "b");
    assert!(core.is_complete(T0));
}

#[test]
fn what_one_owner_has_checked_alone_is_disputed_by_another_though_its_machine_was_wrong_elsewhere() {
    let mut core = core_with(DoubleCheck::All);
    let [a1, a2] = ["a1", "a2"].map(|machine| join(&mut core, "ada", machine));
    let lease = core.lease(T0, a1, 1).unwrap()[0];
    report(&mut core, T0, a1, lease, 5);
    let check = core.lease(T0, a2, 1).unwrap()[0];
    assert_eq!(check.unit, lease.unit);
    report(&mut core, T0, a2, check, 5);
    let (owner, machine, reason) = ("ada".into(), Some("a1".into()), "a test".into());
    let wrong = Expulsion { owner, machine, lost: false, reason, at: 0 };
    core.recorded(T0, None, &[Record::Expel(wrong)]).unwrap();
    assert!(core.take_back(0, 100).is_empty(), "her other machine has confirmed it");
    // The records of this can stand.
    let ben = join(&mut core, "ben", "b");
    assert_eq!(report(&mut core, T0, ben, lease, 6), Verdict::Conflict);
    assert_eq!((core.standing().done(), core.status(T0).disputed), (0, 1));
}
