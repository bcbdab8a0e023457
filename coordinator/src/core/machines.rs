//! Which machines are there: a count is checked on another one, as long as there is one to wait for.

use std::time::Duration;

use super::Core;

/// A machine checks its own counts only when it has been alone for this long, or always.
pub(super) const ALONE: Duration = Duration::from_mins(1);

impl Core {
    /// Notes whether several are there at this time.
    pub(super) fn note_machines(&mut self, now: Duration) {
        if self.workers.machines().nth(1).is_some() {
            self.last_accompanied = Some(now);
        }
    }

    /// Whether workers of no other machine are there.
    pub(super) fn is_alone(&self, machine: &str) -> bool {
        self.workers.machines().all(|other| other == machine)
    }

    /// Whether it has been so for long enough that no other machine is to be waited for.
    pub(super) fn is_left_alone(&self, now: Duration, machine: &str) -> bool {
        if !self.is_alone(machine) {
            return false;
        }
        let mut known = self.standing.sums().machines.iter();
        let had_others = known.any(|other| other.name != machine && !other.is_quarantined());
        let last = self.last_accompanied.or(had_others.then_some(Duration::ZERO));
        last.is_none_or(|last| now.saturating_sub(last) >= ALONE)
    }

    /// Whether it was wrong.
    pub(super) fn is_quarantined(&self, machine: &str) -> bool {
        let machines = &self.standing.sums().machines;
        machines.number(machine).is_some_and(|number| machines.get(number).is_quarantined())
    }
}
