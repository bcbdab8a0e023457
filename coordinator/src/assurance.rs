//! What double-checking says of the counts that nobody has checked.

use proto::Assurance;

use crate::bound::wrong_at_most;
use crate::double_check::DoubleCheck;
use crate::standing::{Standing, UnitMark};

/// What the records say of themselves.
pub fn assess(standing: &Standing, policy: DoubleCheck) -> Assurance {
    let sums = standing.sums();
    let on_two_machines = standing.marked(UnitMark::Independent);
    let drawn = wrong_at_most(sums.sampled + sums.refuted, sums.refuted);
    let all_checked = standing.done() > 0 && on_two_machines == standing.done();
    Assurance {
        on_two_machines,
        on_one_machine: standing.marked(UnitMark::Checked) - on_two_machines,
        pending: standing.pending(policy),
        sampled: sums.sampled,
        conflicts: sums.conflicts,
        quarantined: sums.machines.quarantined().map(|machine| machine.name.clone()).collect(),
        wrong_at_most: if all_checked { Some(0.0) } else { drawn },
    }
}
