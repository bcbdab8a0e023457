//! Counts of a constellation with symmetry that cannot be right together.

use domain::Verdict;
use queens::Summand;
use records::ledger::{Expulsion, Record, Recount, UnitRecord};
use records::testing::known_run::unit_record;

use super::{T0, core, join, report};
use crate::core::Core;

/// Gives each open unit to a machine that says 1 of all completions and 0 of all symmetric counts, until some contradict.
fn contradicted() -> (Core, [domain::WorkerId; 2]) {
    let mut core = core();
    let workers = ["a", "b"].map(|name| join(&mut core, name));
    while core.standing().sums().contradicted.is_empty() {
        for worker in workers {
            for lease in core.lease(T0, worker, 1000).unwrap() {
                let completions = u64::from(!core.work.is_symmetric_count(lease.unit));
                report(&mut core, T0, worker, lease, completions);
            }
        }
        let records = core.take_back(0, 1000);
        core.recorded(T0, None, &records).unwrap();
    }
    (core, workers)
}

#[test]
fn lone_count_in_contradiction_is_always_checked() {
    let (mut core, [_, b]) = contradicted();
    let member = *core.standing().sums().contradicted.first().unwrap();
    let (owner, machine, reason) = (String::new(), Some("a".into()), "a test".into());
    // The unit's machine is no longer believed, so the next count of the unit is its first count.
    core.recorded(
        T0,
        None,
        &[Record::Expel(Expulsion { owner, machine, lost: false, suspended: false, reason, at: 0 })],
    )
    .unwrap();
    let machines = core.votes.standing().sums().machines.clone();
    let is_lone = |unit: &queens::UnitId| {
        let of_completions = matches!(core.plan().summand(*unit), Summand::Symmetric(of, _) if of == member);
        of_completions
            && !core.work.is_symmetric_count(*unit)
            && core.votes.standing().votes(*unit).next().is_none()
            && machines.number("", "a").is_some()
    };
    let unit = core
        .votes
        .standing()
        .sums()
        .disputed
        .keys()
        .copied()
        .find(is_lone)
        .expect("one that only a has counted");
    let lease = core.lease(T0, b, 1000).unwrap().into_iter().find(|lease| lease.unit == unit).unwrap();
    let (verdict, records) = core.judge(T0, 0, b, &super::counted(lease, 1)).unwrap();
    assert_eq!(verdict, Verdict::Recorded);
    let [Record::Count(count)] = &records[..] else { panic!("{records:?}") };
    assert_eq!(count.recount, Some(Recount::All), "though nothing is checked in this run");
}

/// Applies all retractions that are due.
fn take_back(core: &mut Core) {
    loop {
        let records = core.take_back(0, 1000);
        if records.is_empty() {
            break;
        }
        core.recorded(T0, None, &records).unwrap();
    }
}

#[test]
fn restored_count_may_contradict_other_counts() {
    let mut core = core();
    let Summand::Symmetric(member, _) = core.plan().summand(queens::UnitId(0)) else {
        panic!("the first units are of constellations with symmetry")
    };
    let units = core.work.units_of_constellation(member);
    let count = |unit: queens::UnitId, owner: &str, count: u64| UnitRecord {
        count,
        owner: owner.to_owned(),
        ..unit_record(unit.0, 0, owner)
    };
    // One completion in total, found twice, and no symmetric completions; but the last count is in dispute.
    let last = *units.iter().rfind(|unit| !core.work.is_symmetric_count(**unit)).unwrap();
    let others = units.into_iter().filter(|unit| *unit != last);
    let others: Vec<_> = others.map(|unit| Record::Count(count(unit, "ada", 0))).collect();
    core.recorded(T0, None, &others).unwrap();
    let votes = [("ada", 1), ("quin", 7), ("bob", 1)];
    let votes = votes.map(|(owner, found)| Record::Conflict(count(last, owner, found)));
    core.recorded(T0, None, &votes).unwrap();
    take_back(&mut core);
    assert!(core.standing().sums().contradicted.is_empty() && !core.standing().is_done(last));
    let (owner, machine, reason) = ("quin".into(), Some("quin".into()), "a test".into());
    let expelled = Record::Expel(Expulsion { owner, machine, lost: false, suspended: false, reason, at: 0 });
    core.recorded(T0, None, &[expelled]).unwrap();
    take_back(&mut core);
    assert!(core.standing().sums().contradicted.contains(&member), "what ada and bob agree on stood again");
    assert_eq!(core.standing().newly_contradicted(), None);
}
