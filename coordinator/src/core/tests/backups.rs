//! Backup leases: a worker with nothing else to count takes the oldest lease of another worker.

use std::time::Duration;

use domain::{Lease, Variant, Verdict, WorkerId};
use queens::UnitId;
use records::DoubleCheck;

use super::{T0, core, core_with, join, join_of, report};
use crate::core::{Core, LEASE_TIME};

/// Lends single units to the worker until all open units are lent.
fn take_all(core: &mut Core, worker: WorkerId) -> Vec<Lease> {
    let mut held = Vec::new();
    while core.open_counts() > 0 {
        let lent = core.lease(T0, worker, 1).unwrap();
        if lent.is_empty() {
            break;
        }
        held.extend(lent);
    }
    held
}

/// Ada's machines hold the last two units: the first is a symmetric count. All other units are counted.
fn two_units_left(core: &mut Core) -> [(WorkerId, Lease); 2] {
    let [a, b] = ["a", "b"].map(|machine| join_of(core, "ada", machine));
    let (of_a, first_of_b) = (core.lease(T0, a, 1).unwrap()[0], core.lease(T0, b, 1).unwrap()[0]);
    assert!(core.work.is_symmetric_count(of_a.unit));
    report(core, T0, b, first_of_b, 0);
    let later = Duration::from_secs(1);
    let mut of_b = core.lease(later, b, 1).unwrap()[0];
    while core.open_counts() > 0
        || core.work.is_symmetric_count(of_b.unit)
        || of_b.variant != Variant::default()
    {
        report(core, later, b, of_b, 0);
        of_b = core.lease(later, b, 1).unwrap()[0];
    }
    [(a, of_a), (b, of_b)]
}

/// The worker's leases after it has made all checks and counts except these units.
fn after_checks(core: &mut Core, now: Duration, worker: WorkerId, left: &[UnitId]) -> Vec<Lease> {
    loop {
        let lent = core.lease(now, worker, 9).unwrap();
        if lent.iter().all(|lease| left.contains(&lease.unit)) {
            return lent;
        }
        lent.into_iter().for_each(|lease| _ = report(core, now, worker, lease, 0));
    }
}

#[test]
fn idle_worker_gets_backup_of_oldest_other_lease() {
    let mut core = core();
    let [(_, of_a), (b, of_b)] = two_units_left(&mut core);
    let later = Duration::from_secs(2);
    let ben = join_of(&mut core, "ben", "c");
    assert!(core.may_lend());
    let backups = after_checks(&mut core, later, ben, &[of_a.unit, of_b.unit]);
    assert_eq!(core.lease(later, ben, 9).unwrap(), [], "each unit has one backup");
    // Of the symmetric count the other algorithm is asked; of the other unit another image.
    for backup in &backups {
        let is_symmetric = core.work.is_symmetric_count(backup.unit);
        assert_eq!(backup.variant, Variant { mirrored: true, other_kernel: is_symmetric });
    }
    // The first count stands, and the other count is a check.
    let on_two_owners = core.status(later).assurance.on_two_owners;
    let backup = *backups.iter().find(|lease| lease.unit == of_b.unit).unwrap();
    assert_eq!(report(&mut core, later, ben, backup, 5), Verdict::Recorded);
    assert_eq!(report(&mut core, later, b, of_b, 5), Verdict::Recorded);
    assert_eq!(core.status(later).assurance.on_two_owners, on_two_owners + 1);
}

#[test]
fn backup_of_same_owner_leaves_check_to_other_owner() {
    let mut core = core_with(DoubleCheck::All);
    let ben = join_of(&mut core, "ben", "c");
    let [(_, of_a), (b, of_b)] = two_units_left(&mut core);
    let left = [of_a.unit, of_b.unit];
    // Ben makes the possible checks, and leaves.
    after_checks(&mut core, T0, ben, &left);
    core.release(T0, ben, &[], true).unwrap();
    let c = join_of(&mut core, "ada", "another");
    let backups = after_checks(&mut core, T0, c, &left);
    let backup = *backups.iter().find(|lease| lease.unit == of_b.unit).unwrap();
    assert_eq!(report(&mut core, T0, b, of_b, 5), Verdict::Recorded);
    assert_eq!(report(&mut core, T0, c, backup, 5), Verdict::Known);
    let ben = join_of(&mut core, "ben", "c");
    let checks = core.lease(T0, ben, 9).unwrap();
    assert!(checks.iter().any(|lease| lease.unit == of_b.unit), "{checks:?}");
}

#[test]
fn last_backup_outlives_the_first_lease() {
    let mut core = core();
    let [(a, of_a), (b, of_b)] = two_units_left(&mut core);
    let ben = join_of(&mut core, "ben", "c");
    let backups = after_checks(&mut core, T0, ben, &[of_a.unit, of_b.unit]);
    assert_eq!(backups.len(), 2);
    core.release(T0, a, &[of_a], true).unwrap();
    core.release(T0, b, &[of_b], true).unwrap();
    assert_eq!(core.renew(T0, ben, &backups).unwrap(), []);
    let again = join_of(&mut core, "ada", "a");
    assert_eq!(core.lease(T0, again, 9).unwrap().len(), 2, "his leases are single now");
    core.tick(LEASE_TIME * 2);
    assert_eq!((core.open_counts(), core.leases.is_empty()), (2, true));
}

#[test]
fn worker_takes_no_backup_of_its_own_leases() {
    let mut core = core_with(DoubleCheck::None);
    let a = join(&mut core, "a");
    take_all(&mut core, a);
    assert_eq!(core.lease(T0, a, 9).unwrap(), []);
}
