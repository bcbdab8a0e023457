//! The evidence from double-checking about unchecked counts.

use domain::{Assurance, OwnCheckStatus};

use crate::double_check::DoubleCheck;
use crate::own_checks::OwnChecks;
use crate::standing::{Machine, Standing, UnitMark};

/// Assesses the checks on record under this policy.
pub fn assess(standing: &Standing, policy: DoubleCheck) -> Assurance {
    let sums = standing.sums();
    let marked = |mark| standing.marked(mark);
    let [checked, on_two_machines, on_two_owners] =
        [UnitMark::Checked, UnitMark::TwoMachines, UnitMark::Independent].map(marked);
    let drawn =
        sums.draws.wrong_at_most(standing.done(), sums.sampled.saturating_add(sums.refuted), sums.refuted);
    let [is_all_on_two_machines, is_all_checked] =
        [on_two_machines, checked].map(|units| standing.done() > 0 && units == standing.done());
    Assurance {
        on_two_owners,
        on_two_machines: on_two_machines - on_two_owners,
        on_one_machine: checked - on_two_machines,
        on_two_kinds: marked(UnitMark::TwoKinds),
        by_external: marked(UnitMark::External),
        pending: standing.pending(policy),
        sampled: sums.sampled,
        conflicts: sums.conflicts,
        quarantined: sums.machines.quarantined().map(Machine::title).collect(),
        expelled: sums.machines.expelled().map(ToOwned::to_owned).collect(),
        // If one machine has checked all its own counts, a sample of them proves no more.
        wrong_at_most: if is_all_on_two_machines { Some(0.0) } else { drawn.filter(|_| !is_all_checked) },
        own_checks: standing.own_checks().map(|own| own_check_status(standing, own)),
    }
}

fn own_check_status(standing: &Standing, own: &OwnChecks) -> OwnCheckStatus {
    let made = standing.marked(UnitMark::OwnChecked).saturating_sub(standing.sums().own_named);
    OwnCheckStatus {
        share: own.share.to_string(),
        owner: own.owner.clone(),
        made,
        pending: standing.own_checks_due(),
        wrong_at_most: OwnChecks::wrong_at_most(made, standing.sums().own_refuted, standing.done()),
    }
}

#[cfg(test)]
mod tests {
    use queens::{Board, Plan, PlanSpec, UnitId};

    use super::*;
    use crate::ledger::{Record, Recount, UnitRecord};
    use crate::shard::Shard;
    use crate::testing::known_run::{self, unit_record};

    #[test]
    fn owner_before_and_after_keys_is_one_owner() {
        let plan = known_run::plan();
        let mut standing = Standing::new(&plan);
        let of = |owner: &str, unit, machine| UnitRecord {
            owner: owner.to_owned(),
            ..unit_record(unit, 0, machine)
        };
        let apply =
            |standing: &mut Standing, record| standing.apply(&plan, Shard::default(), &record).unwrap();
        let twice = [
            (("", "host"), ("ada", "host")),
            (("", "host"), ("ada", "other")),
            (("ada", "host"), ("", "other")),
            (("ada", "host"), ("bob", "host")),
        ];
        for (unit, (first, second)) in (0..).zip(twice) {
            apply(&mut standing, Record::Count(of(first.0, unit, first.1)));
            let check = of(second.0, unit, second.1);
            let (of, of_owner) = (Some(first.1.to_owned()), first.0.to_owned());
            apply(&mut standing, Record::Check(UnitRecord { of, of_owner, mirrored: true, ..check }));
        }
        let assurance = assess(&standing, DoubleCheck::All);
        let levels = (assurance.on_two_owners, assurance.on_two_machines, assurance.on_one_machine);
        assert_eq!((levels, assurance.wrong_at_most), ((1, 2, 1), None));
        // A confirmation by a named owner does not raise a count of the unnamed owner.
        let by_bob = UnitRecord { of: Some("host".to_owned()), ..of("bob", 0, "bobs") };
        apply(&mut standing, Record::Check(by_bob));
        assert_eq!(assess(&standing, DoubleCheck::All).on_two_owners, 1);
    }

    #[test]
    fn symmetric_count_of_card_is_of_processor_kind() {
        let plan = known_run::plan();
        let is_symmetric = |unit: &u64| plan.summand(UnitId(*unit)).is_symmetric_count();
        let units = [true, false].map(|wished| (0..plan.units()).find(|unit| is_symmetric(unit) == wished));
        let mut standing = Standing::new(&plan);
        for unit in units.map(Option::unwrap) {
            let count = unit_record(unit, 0, "rack/nvidia/gpu0");
            let of = Some(count.machine.clone());
            let check = UnitRecord { of, ..unit_record(unit, 0, "host") };
            for record in [Record::Count(count), Record::Check(check)] {
                standing.apply(&plan, Shard::default(), &record).unwrap();
            }
        }
        let assurance = assess(&standing, DoubleCheck::All);
        assert_eq!((assurance.on_two_machines, assurance.on_two_kinds), (2, 1));
    }

    /// Only a forged ledger contains such checks.
    #[test]
    fn check_without_independence_confirms_nothing() {
        type Change = fn(&mut UnitRecord);
        let spec = PlanSpec::new(Board::new(known_run::N).unwrap());
        let families = PlanSpec::families(Board::new(known_run::N).unwrap());
        let checks: [(_, Change, bool); 8] = [
            (spec, |_| (), false),
            (spec, |r| r.mirrored = true, true),
            (spec, |r| r.kernel = "search/avx2".to_owned(), true),
            (spec, |r| r.machine = "b".to_owned(), true),
            (spec, |r| (r.machine, r.nodes) = ("b".to_owned(), 2), false),
            (spec, |r| (r.kernel, r.nodes) = ("meet/avx2".to_owned(), 2), true),
            (families, |r| (r.machine, r.nodes) = ("b".to_owned(), 2), true),
            (families, |r| (r.cpu_us, r.nodes) = (7, 2), false),
        ];
        for (at, (spec, otherwise, confirms)) in checks.into_iter().enumerate() {
            let plan = Plan::derive(spec).unwrap();
            let mut standing = Standing::new(&plan);
            let owner = "ada".to_owned();
            let count = UnitRecord { recount: Some(Recount::All), owner, ..unit_record(0, 0, "a") };
            let (of, of_owner) = (Some("a".to_owned()), "ada".to_owned());
            let mut check = UnitRecord { recount: None, of, of_owner, ..count.clone() };
            otherwise(&mut check);
            for record in [Record::Count(count), Record::Check(check)] {
                standing.apply(&plan, Shard::default(), &record).unwrap();
            }
            let pending = [DoubleCheck::None, DoubleCheck::All].map(|policy| standing.pending(policy));
            let confirmed = [u64::from(confirms); 2];
            assert_eq!(pending, confirmed.map(|confirmed| 1 - confirmed), "{at}");
            assert_eq!(standing.marked(UnitMark::Checked), confirmed[0], "{at}");
        }
    }
}
