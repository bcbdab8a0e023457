//! How long checks are left to other owners: what nobody else checks, another machine of the same owner does.
//!
//! ```text
//! nothing is left to be counted, and checks are:
//!     they are for other owners until the time of a lease is over, and a few times longer for each that these make than
//!     it would take all workers together
//!     from then on they are for whoever has nothing else to do
//! ```
//!
//! So an owner who is slow, who holds the checks of others or is merely there, delays the end of a run by little. What one
//! owner has checked alone is said to be so, and where all is checked other owners are asked once more in the end
//! (`confirmations`).

use std::time::Duration;

use super::Core;
use super::identity::Identity;
use super::leases::LEASE_TIME;

impl Core {
    /// Notes since when only checks are left.
    pub(super) fn note_checks_left(&mut self, now: Duration) {
        let are_left = self.paused.is_none()
            && !self.open.has_uncounted(self.plan.units())
            && self.standing.pending(self.policy) > 0;
        let until = self.for_others_until.unwrap_or_else(|| now.saturating_add(LEASE_TIME));
        self.for_others_until = are_left.then_some(until);
    }

    /// Whether other owners have had the time that is left to them to check what an owner has counted.
    pub(super) fn have_others_had_their_time(&self, now: Duration) -> bool {
        self.for_others_until.is_some_and(|until| now >= until)
    }

    /// Whether no other machine of its owner is there.
    pub(super) fn is_only_machine_of_its_owner(&self, now: Duration, machine: &Identity) -> bool {
        self.present(now).all(|other| other.owner != machine.owner || other == machine)
    }
}
