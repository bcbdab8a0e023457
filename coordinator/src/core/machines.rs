//! Which owners and machines are there: a count is checked by another one, as long as there is one to wait for.

use std::time::Duration;

use domain::Owner;
use records::standing::Identity;

use super::Core;
use super::refusal::Distrust;

/// A machine that was not heard of for so long is not there: it has missed two renewals.
pub(super) const PRESENT: Duration = Duration::from_secs(6);

/// A machine checks its own counts, or an owner those of its other machines, only when it has been alone for this long,
/// or always.
pub(super) const ALONE: Duration = Duration::from_secs(3);

impl Core {
    /// Notes whether several machines, and several owners, are there at this time.
    pub(super) fn note_machines(&mut self, now: Duration) {
        if self.workers.present(since(now)).nth(1).is_some() {
            self.last_accompanied = Some(now);
        }
        if self.workers.present_owners(since(now)).nth(1).is_some() {
            self.last_two_owners = Some(now);
        }
    }

    /// Notes how many threads are there at this time, and how fast they are.
    pub(super) fn note_threads(&mut self, now: Duration) {
        self.speed.follow(now, self.workers.believed_threads());
        let mean = self.usual_speed();
        self.workers.look_at_speeds(mean);
    }

    /// Whether no other machine is there.
    pub(super) fn is_alone(&self, now: Duration, machine: &Identity) -> bool {
        self.workers.present(since(now)).all(|other| other == machine)
    }

    /// Whether that has been so for long enough that no other machine is to be waited for.
    pub(super) fn is_left_alone(&self, now: Duration, machine: &Identity) -> bool {
        if !self.is_alone(now, machine) {
            return false;
        }
        let mut known = self.standing.sums().machines.iter();
        let had_others = known.any(|other| !machine.is(other) && !other.is_quarantined());
        let last = self.last_accompanied.or(had_others.then_some(Duration::ZERO));
        last.is_none_or(|last| now.saturating_sub(last) >= ALONE)
    }

    /// Whether no other owner has had a machine there for long enough that none is to be waited for.
    pub(super) fn is_only_owner(&self, now: Duration, owner: &Owner) -> bool {
        if self.present_owners(now).any(|other| other != owner) {
            return false;
        }
        let had_others = self.standing.sums().machines.believes_another_than(owner.name());
        let last = self.last_two_owners.or(had_others.then_some(Duration::ZERO));
        last.is_none_or(|last| now.saturating_sub(last) >= ALONE)
    }

    /// Whether it, or its owner, is not believed any more.
    pub(super) fn is_quarantined(&self, machine: &Identity) -> bool {
        self.standing.sums().machines.is_quarantined(machine.owner.name(), &machine.machine)
    }

    /// Why it is not believed, if it is not.
    pub(super) fn distrust(&self, machine: &Identity) -> Option<Distrust> {
        let machines = &self.standing.sums().machines;
        if machines.expelled().any(|owner| owner == machine.owner.name()) {
            return Some(Distrust::Owner);
        }
        let on_record = machines.get(machine.number(machines)?);
        on_record.is_quarantined().then_some(match on_record.wrong {
            0 => Distrust::Retracted,
            _ => Distrust::Wrong,
        })
    }

    /// The machines that are there.
    pub(super) fn present(&self, now: Duration) -> impl Iterator<Item = &Identity> {
        self.workers.present(since(now))
    }

    /// The owners of them.
    pub(super) fn present_owners(&self, now: Duration) -> impl Iterator<Item = &Owner> {
        self.workers.present_owners(since(now))
    }
}

fn since(now: Duration) -> Duration {
    now.saturating_sub(PRESENT)
}
