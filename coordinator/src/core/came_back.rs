//! The last units, which came back uncounted or are overdue: for a while they are for other owners than the one who had them.
//!
//! ```text
//! no unit without a count is open, and a lease has expired, was given back, or was left out of renewals:
//!     for the time of a lease its unit is for other owners, if one is there who can do what is to be done
//!     from then on it is for whoever asks
//! a unit is overdue:
//!     the same, from the time on at which it should have been counted
//! ```
//!
//! So whoever takes the last units again and again, with as many workers as he likes, and counts none of them, keeps them from
//! nobody who would count them; and where nobody else wants them, the owner who lost a worker goes on with them himself.

use std::collections::HashMap;
use std::time::Duration;

use domain::{Lease, Owner, WorkerId};
use queens::UnitId;

use super::Core;
use super::leases::{LEASE_TIME, Overdue};
use super::task::Borrower;

/// Units that came back, who had them, and until when they are for others.
pub(super) type CameBack = HashMap<UnitId, (Owner, Duration)>;

impl Core {
    /// The worker had these units and has not counted them: where they are the last ones they are left to other owners.
    pub(super) fn leave_to_others(&mut self, now: Duration, worker: WorkerId, units: &[UnitId]) {
        if self.open.has_uncounted(self.plan.units()) {
            return;
        }
        let Some(owner) = self.workers.get(worker).map(|worker| worker.identity.owner.clone()) else {
            return;
        };
        let until = now.saturating_add(LEASE_TIME);
        self.came_back.extend(units.iter().map(|unit| (*unit, (owner.clone(), until))));
    }

    /// Lends a unit, or adds it to those that are left to other owners.
    pub(super) fn lend_unless_left(
        &mut self,
        now: Duration,
        borrower: &Borrower,
        unit: UnitId,
        left: &mut Vec<UnitId>,
    ) -> Option<Lease> {
        let lease = self.lend(now, borrower, unit);
        if lease.is_none() && !self.is_taken(unit) && self.is_left_to_others(now, borrower, unit) {
            left.push(unit);
        }
        lease
    }

    /// Whether the unit is left to other owners than the borrower's.
    pub(super) fn is_left_to_others(&self, now: Duration, borrower: &Borrower, unit: UnitId) -> bool {
        let left = self.came_back.get(&unit);
        left.is_some_and(|(owner, until)| *owner == borrower.identity.owner && now < *until)
            && self.is_another_there_for(now, borrower, unit)
    }

    /// Whether the borrower may take over the unit: its holder is of another owner, or another has had time to do so.
    pub(super) fn may_take_over(&self, now: Duration, borrower: &Borrower, late: &Overdue) -> bool {
        let holder = self.workers.get(late.holder).map(|holder| &holder.identity.owner);
        holder != Some(&borrower.identity.owner)
            || now >= late.due.saturating_add(LEASE_TIME)
            || !self.is_another_there_for(now, borrower, late.unit)
    }

    /// Whether another owner is there who can do what is to be done about the unit.
    fn is_another_there_for(&self, now: Duration, borrower: &Borrower, unit: UnitId) -> bool {
        let (own, said) = (&borrower.identity.owner, self.said(unit));
        let may = |other: &Owner| borrower.is_impatient || said.left_to_owner(other).is_some();
        self.present_owners(now).any(|other| other != own && may(other))
    }
}
