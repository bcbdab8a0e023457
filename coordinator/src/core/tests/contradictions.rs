//! Counts of a constellation with symmetry that cannot be right together.

use proto::Verdict;
use queens::Summand;

use super::{T0, core, join, report};
use crate::core::Core;
use crate::ledger::{Expulsion, Record, Recount};

/// Gives each open unit to a machine that says 1 of all completions and 0 of all symmetric counts, until some contradict.
fn contradicted() -> (Core, [proto::WorkerId; 2]) {
    let mut core = core();
    let workers = ["a", "b"].map(|name| join(&mut core, name));
    while core.standing().sums().contradicted.is_empty() {
        for worker in workers {
            for lease in core.lease(T0, worker, 1000).unwrap() {
                let completions = u64::from(!core.is_symmetric_count(lease.unit));
                report(&mut core, T0, worker, lease, completions);
            }
        }
        let records = core.take_back(0, 1000);
        core.recorded(T0, None, &records).unwrap();
    }
    (core, workers)
}

#[test]
fn a_lone_count_of_a_constellation_that_was_contradicted_is_always_checked() {
    let (mut core, [_, b]) = contradicted();
    let member = *core.standing().sums().contradicted.first().unwrap();
    let (owner, machine, reason) = (String::new(), Some("a".into()), "a test".into());
    // Whoever has counted the unit is not believed any more: the next count of it is its first.
    core.recorded(T0, None, &[Record::Expel(Expulsion { owner, machine, lost: false, reason, at: 0 })])
        .unwrap();
    let machines = core.standing.sums().machines.clone();
    let is_lone = |unit: &queens::UnitId| {
        let of_completions = matches!(core.plan.summand(*unit), Summand::Symmetric(of, _) if of == member);
        of_completions
            && !core.is_symmetric_count(*unit)
            && core.standing.votes(*unit).next().is_none()
            && machines.number("", "a").is_some()
    };
    let unit =
        core.standing.sums().disputed.keys().copied().find(is_lone).expect("one that only a has counted");
    let lease = core.lease(T0, b, 1000).unwrap().into_iter().find(|lease| lease.unit == unit).unwrap();
    let (verdict, records) = core.judge(T0, 0, b, &super::counted(lease, 1)).unwrap();
    assert_eq!(verdict, Verdict::Recorded);
    let [Record::Count(count)] = &records[..] else { panic!("{records:?}") };
    assert_eq!(count.recount, Some(Recount::All), "though nothing is checked in this run");
}
