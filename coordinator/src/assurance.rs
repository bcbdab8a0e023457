//! What double-checking says of the counts that nobody has checked.

use proto::Assurance;

use crate::bound::wrong_at_most;
use crate::double_check::DoubleCheck;
use crate::standing::{Machine, Standing, UnitMark};

/// What the records say of themselves.
pub fn assess(standing: &Standing, policy: DoubleCheck) -> Assurance {
    let sums = standing.sums();
    let marked = |mark| standing.marked(mark);
    let [checked, on_two_machines, on_two_owners] =
        [UnitMark::Checked, UnitMark::TwoMachines, UnitMark::Independent].map(marked);
    let drawn = wrong_at_most(sums.sampled + sums.refuted, sums.refuted);
    let all_checked = standing.done() > 0 && on_two_machines == standing.done();
    Assurance {
        on_two_owners,
        on_two_machines: on_two_machines - on_two_owners,
        on_one_machine: checked - on_two_machines,
        on_two_kinds: marked(UnitMark::TwoKinds),
        pending: standing.pending(policy),
        sampled: sums.sampled,
        conflicts: sums.conflicts,
        quarantined: sums.machines.quarantined().map(Machine::title).collect(),
        expelled: sums.machines.expelled().map(ToOwned::to_owned).collect(),
        wrong_at_most: if all_checked { Some(0.0) } else { drawn },
    }
}
