//! Where units that may be lent are found. An entry is a hint: whether and how its unit is lent, its state decides.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use domain::WorkerId;
use queens::UnitId;
use records::counted;
use records::standing::MachineId;
use tracing::Level;

use super::Core;
use crate::event::Event;

/// Counts that the same workers may check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CheckKind {
    /// The machine that made them.
    pub counted: MachineId,
    /// Whether a kernel makes them: symmetric counts, which come first, everybody makes by both methods.
    pub by_kernel: bool,
}

/// The units to look at, by what is to be done with them.
#[derive(Debug, Default)]
pub struct Open {
    /// Counts that are to be checked.
    pub checks: BTreeMap<CheckKind, VecDeque<UnitId>>,
    /// Units about which counts disagree.
    pub disputes: BTreeSet<UnitId>,
    /// Units below `cursor` that were given back without a count.
    pub returned: BTreeSet<UnitId>,
    /// Units below `cursor` that were lost with their workers: they come last.
    pub lost: BTreeSet<UnitId>,
    /// Units below `cursor` that have not been lent yet, in no order.
    pub kept_back: Vec<UnitId>,
    /// No unit from here on has been lent yet, unless it came back with a worker.
    pub cursor: u64,
    /// Units that may have killed workers: lent one at a time when nothing else is open.
    pub suspects: BTreeSet<UnitId>,
}

impl Open {
    /// Takes the next unit of that kind.
    pub fn take_check(&mut self, kind: CheckKind) -> Option<UnitId> {
        let units = self.checks.get_mut(&kind)?;
        let unit = units.pop_front();
        if units.is_empty() {
            self.checks.remove(&kind);
        }
        unit
    }

    /// Whether anything is to be found here.
    pub fn has_any(&self, units: u64) -> bool {
        self.has_uncounted(units)
            || !self.checks.is_empty()
            || !self.disputes.is_empty()
            || !self.suspects.is_empty()
    }

    /// Whether there are units without a count that nobody holds.
    pub fn has_uncounted(&self, units: u64) -> bool {
        self.cursor < units
            || !self.returned.is_empty()
            || !self.lost.is_empty()
            || !self.kept_back.is_empty()
    }
}

impl Core {
    /// Puts a unit that nobody has where it is found; once it is known what becomes of its count, where that is on its way to the disk.
    pub(super) fn reopen(&mut self, unit: UnitId) {
        if let Some(recording) = self.recording.get_mut(&unit) {
            recording.is_opened = true;
        } else if self.losses.is_suspect(unit) {
            self.open.suspects.insert(unit);
        } else if self.is_disputed(unit) && !self.standing.is_done(unit) {
            self.open.disputes.insert(unit);
        } else if !self.standing.is_done(unit) {
            self.open.returned.insert(unit);
        } else if self.is_open_check(unit)
            && let Some(vote) = self.standing.vote(unit)
        {
            let kind = self.check_kind(unit, vote.origin.machine);
            self.open.checks.entry(kind).or_default().push_back(unit);
        } else {
            self.reopen_confirmation(unit);
        }
    }

    /// These units were lost with a worker and are open again, unless they are set aside from now on.
    pub(super) fn lose(&mut self, now: Duration, worker: WorkerId, units: &[UnitId]) {
        let Some(lost) = self.workers.get(worker) else {
            units.iter().for_each(|unit| self.reopen(*unit));
            return;
        };
        let worker = lost.title();
        let owner = lost.identity.owner.clone();
        let event = if units.is_empty() {
            let text = format!("worker {worker} was silent and is forgotten");
            Event::counted_by_name(Level::INFO, "workers were silent and are forgotten", &worker, text)
        } else {
            let units = counted(units.len() as u64, "unit");
            let text = format!("worker {worker} was silent and lost {units}");
            Event::counted_by_name(Level::WARN, "workers were silent and lost their units", &worker, text)
        };
        self.events.push((Some(owner.clone()), event));
        let has_other_owners = self.present_owners(now).any(|other| *other != owner);
        self.given_up.append(&mut self.losses.add(now, units, &owner, has_other_owners));
        for unit in units {
            self.reopen(*unit);
            if self.open.returned.remove(unit) {
                self.open.lost.insert(*unit);
            }
        }
    }
}
