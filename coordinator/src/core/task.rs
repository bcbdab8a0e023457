//! What is to be done about a unit, and whether a worker can do it.

use std::collections::HashSet;
use std::time::Duration;

use proto::{Variant, WorkerId};
use queens::UnitId;
use queens::kernel::KernelName;

use super::leases::LeasePurpose;
use super::{Core, Refusal};
use crate::standing::MachineId;

/// A worker that asks for units.
#[derive(Debug)]
pub(super) struct Borrower {
    pub worker: WorkerId,
    pub threads: u64,
    kernel: KernelName,
    machine: String,
    /// The machine's number, if it has counted.
    pub number: Option<MachineId>,
    /// Whether no other machine is there, or was lately.
    pub is_alone: bool,
}

impl Core {
    /// What matters of a worker that asks for units.
    ///
    /// # Errors
    /// The worker is not registered.
    pub(super) fn borrower(&mut self, now: Duration, worker: WorkerId) -> Result<Borrower, Refusal> {
        let found = self.workers.heard_of(now, worker)?;
        let (threads, kernel, machine) = (u64::from(found.threads), found.kernel, found.machine.clone());
        let number = self.standing.sums().machines.number(&machine);
        let is_alone = self.is_left_alone(now, &machine);
        Ok(Borrower { worker, threads, kernel, machine, number, is_alone })
    }

    /// What is to be done about a unit that the worker can do, and how.
    pub(super) fn task(&self, borrower: &Borrower, unit: UnitId) -> Option<(LeasePurpose, Variant)> {
        let is_in_run = unit.0 < self.plan.units() && self.shard.contains(unit);
        if !is_in_run || self.is_taken(unit) || self.losses.set_aside().contains(&unit) {
            return None;
        }
        if !self.standing.is_done(unit) {
            let variant = if self.is_disputed(unit) {
                self.variant_to_decide(borrower, unit)?
            } else {
                Variant::default()
            };
            return Some((LeasePurpose::Count, variant));
        }
        if !self.standing.is_pending(unit, self.policy) {
            return None;
        }
        let counted = self.standing.vote(unit)?.origin.machine;
        let is_own = Some(counted) == borrower.number;
        let variant = Variant { mirrored: true, other_kernel: is_own };
        (!is_own || borrower.is_alone).then_some((LeasePurpose::Check, variant))
    }

    /// How the worker's machine can help to decide a dispute: it has not counted the unit yet; or no machine is there
    /// that has not, and there is a variant that it has not counted.
    fn variant_to_decide(&self, borrower: &Borrower, unit: UnitId) -> Option<Variant> {
        let machines = &self.standing.sums().machines;
        let votes: Vec<_> = self.standing.votes(unit).map(|vote| vote.origin).collect();
        let voters: HashSet<&str> =
            votes.iter().map(|origin| machines.get(origin.machine).name.as_str()).collect();
        if !voters.contains(borrower.machine.as_str()) {
            return Some(Variant::ALL[1]);
        }
        if self.workers.machines().any(|machine| !voters.contains(machine)) {
            return None;
        }
        Variant::ALL.into_iter().find(|variant| {
            let kernel = variant.kernel(borrower.kernel).to_string();
            let origin = machines.find_origin(&borrower.machine, &kernel, variant.mirrored);
            origin.is_none_or(|origin| !votes.contains(&origin))
        })
    }

    /// Whether the unit is lent, or its count is on its way to the disk.
    pub(super) fn is_taken(&self, unit: UnitId) -> bool {
        self.leases.contains(unit) || self.recording.contains_key(&unit)
    }

    pub(super) fn is_disputed(&self, unit: UnitId) -> bool {
        self.standing.sums().disputed.contains_key(&unit)
    }

    /// Whether the unit's count is to be checked, and it is known who made it, who could be believed.
    pub(super) fn is_open_check(&self, unit: UnitId) -> bool {
        let machines = &self.standing.sums().machines;
        self.standing.is_pending(unit, self.policy)
            && !self.is_taken(unit)
            && self
                .standing
                .vote(unit)
                .is_some_and(|vote| !machines.get(vote.origin.machine).is_quarantined())
    }
}
