//! How long checks and disputes are left to others: what nobody else does, another machine of the same owner does, and in the
//! end the same machine.
//!
//! ```text
//! nothing is left to be counted, and checks or disputes are:
//!     they are for other owners until the time of a lease is over, and a few times longer for each check that these make than
//!     it would take all workers together
//!     from then on they are for whoever has nothing else to do, but for another machine of the owner than the one that counted,
//!     until one more such time is over, or a few times that of a unit; and longer for each check that such a machine makes
//!     from then on who is there is waited for no more than who is not
//! ```
//!
//! So an owner, or a machine, that is slow, holds the checks of others or is merely there, delays the end of a run by little. What
//! one owner or one machine has checked alone is said to be so, and where all is checked other owners are asked once more in
//! the end (`confirmations`).

use std::time::Duration;

use domain::Owner;
use records::ledger::UnitRecord;
use records::standing::Identity;

use super::Core;
use super::fair_share::PATIENCE;
use super::leases::LEASE_TIME;

/// Until when what is left is for others.
#[derive(Debug)]
pub(super) struct Patience {
    /// For other owners,
    owners: Duration,
    /// and for other machines of the same one.
    machines: Duration,
    /// When something was last lent.
    lent: Duration,
}

impl Patience {
    /// A count or check has gone on record: others who check are given so much more time.
    pub fn note_check(&mut self, r: &UnitRecord, more: Duration) {
        let is_by_owner = r.of.is_some() && r.of_owner != r.owner;
        let is_by_machine = r.of.as_ref().is_some_and(|of| *of != r.machine);
        if is_by_owner {
            self.owners = self.owners.saturating_add(more);
        }
        if is_by_owner || is_by_machine {
            self.machines = self.machines.saturating_add(more);
        }
    }
}

impl Core {
    /// Notes since when only checks and disputes are left.
    pub(super) fn note_checks_left(&mut self, now: Duration) {
        let are_left = self.paused.is_none()
            && !self.open.has_uncounted(self.plan.units())
            && (self.standing.pending(self.policy) > 0 || !self.standing.sums().disputed.is_empty());
        if !are_left {
            self.patience = None;
        } else if self.patience.is_none() {
            let owners = now.saturating_add(LEASE_TIME);
            let unit = self.expected(self.mean_work as u128, 1.0).saturating_mul(PATIENCE);
            let machines = owners.saturating_add(unit.max(LEASE_TIME));
            self.patience = Some(Patience { owners, machines, lent: now });
        }
        if let Some(patience) = self.patience.as_mut().filter(|_| !self.leases.is_empty()) {
            patience.lent = now;
        }
    }

    /// Whether other owners have had the time that is left to them.
    pub(super) fn have_others_had_their_time(&self, now: Duration) -> bool {
        self.patience.as_ref().is_some_and(|patience| now >= patience.owners)
    }

    /// Whether other machines have had theirs, too.
    pub(super) fn have_machines_had_their_time(&self, now: Duration) -> bool {
        self.patience.as_ref().is_some_and(|patience| now >= patience.machines)
    }

    /// Whether all have had theirs, and nothing has been lent for so long that nobody who is there can do what is left.
    pub(super) fn is_nobody_of_use(&self, now: Duration) -> bool {
        let lent = self.patience.as_ref().map(|patience| patience.lent);
        self.have_machines_had_their_time(now)
            && !self.workers.is_empty()
            && lent.is_some_and(|lent| now >= lent.saturating_add(LEASE_TIME))
    }

    /// Whether that machine, which is there, is waited for by one of the owner's.
    pub(super) fn is_waited_for(&self, now: Duration, owner: &Owner, other: &Identity) -> bool {
        !self.have_machines_had_their_time(now)
            && (other.owner == *owner || !self.have_others_had_their_time(now))
    }

    /// Whether no other machine is to be waited for: none is there, or all that are have had their time.
    pub(super) fn is_as_good_as_alone(&self, now: Duration, machine: &Identity) -> bool {
        let is_only_one = || self.present(now).all(|other| other.owner != machine.owner || other == machine);
        let is_beside_others =
            || self.have_others_had_their_time(now) && !self.is_only_owner(now, &machine.owner);
        self.is_left_alone(now, machine)
            || self.have_machines_had_their_time(now)
            || (is_beside_others() && is_only_one())
    }
}
