//! Explains a unit, a machine or a worker: who holds what, and why a unit is still open.

use std::time::Duration;

use domain::{Explained, HeldUnit, Subject, counted};
use queens::UnitId;
use records::standing::{Identity, Lack};

use super::Core;
use super::leases::{Holding, Purpose};
use super::members::{Distrust, MAX_LISTED, Member};
use super::votes::Need;

impl Core {
    /// What is known of the subject.
    pub fn explain(&self, now: Duration, subject: &Subject) -> Explained {
        match subject {
            Subject::Unit(unit) => self.explain_unit(now, *unit),
            Subject::Machine { owner, machine, worker } => {
                let identity = Identity { owner: owner.clone(), machine: machine.clone() };
                self.explain_machine(now, &identity, worker.as_deref())
            }
        }
    }

    fn explain_unit(&self, now: Duration, unit: UnitId) -> Explained {
        let held: Vec<_> = self.leases.of_unit(unit).filter_map(|held| self.held(now, unit, held)).collect();
        let held_total = held.len() as u64;
        let open_because = self.open_because(now, unit);
        Explained { held, held_total, open_because, ..Explained::default() }
    }

    fn explain_machine(&self, now: Duration, identity: &Identity, worker: Option<&str>) -> Explained {
        let is_meant = |member: &Member| {
            member.identity == *identity && worker.is_none_or(|worker| member.name == worker)
        };
        let leases = self.members.select(is_meant).into_iter().flat_map(|id| self.leases.of_worker(id));
        let mut held: Vec<_> = leases.filter_map(|(unit, lease)| self.held(now, unit, lease)).collect();
        let held_total = held.len() as u64;
        held.sort_unstable_by_key(|held| held.unit);
        held.truncate(MAX_LISTED);
        let sums = self.votes.standing().sums();
        let number = identity.number(&sums.machines);
        let has_voted =
            |unit: &&UnitId| sums.disputed[*unit].iter().any(|vote| Some(vote.origin.machine) == number);
        let disputed = sums.disputed.keys().filter(has_voted).take(MAX_LISTED).copied().collect();
        let distrust = Distrust::of(identity, &sums.machines).map(|why| why.to_string());
        Explained { held, held_total, disputed, distrust, open_because: None }
    }

    fn held(&self, now: Duration, unit: UnitId, (purpose, lease): (Purpose, Holding)) -> Option<HeldUnit> {
        let Member { identity, name, .. } = self.members.get(lease.worker)?;
        Some(HeldUnit {
            unit,
            owner: identity.owner.clone(),
            machine: identity.machine.clone(),
            worker: name.clone(),
            held: now.saturating_sub(lease.since),
            left: lease.expires.saturating_sub(now),
            is_check: purpose == Purpose::Check,
        })
    }

    /// Why the unit is still open: what it lacks, and what that waits for.
    fn open_because(&self, now: Duration, unit: UnitId) -> Option<String> {
        if !self.work.contains(unit) {
            return None;
        }
        let lack = self.votes.standing().lack(unit, self.policy())?;
        let waits = if self.leases.contains(unit) {
            "a worker counts it now".to_owned()
        } else if self.votes.is_recording(unit) {
            "its count is being written to the ledger".to_owned()
        } else if let Some(reason) = &self.paused {
            format!("the run is paused ({reason}) until diadem resume")
        } else if self.schedule.set_aside().any(|aside| aside == unit) {
            "it was lost with five workers and is set aside: it is retried within an hour, or at once \
             after a restart of the coordinator"
                .to_owned()
        } else if self.members.is_empty() {
            "no worker is connected".to_owned()
        } else {
            return Some(match lack {
                Lack::Decision => self.dispute(now, unit),
                Lack::Count => {
                    let open = counted(self.open_counts(), "unit");
                    format!("{lack}, and it waits for its turn: {open} open")
                }
                Lack::Check | Lack::OwnCheck => {
                    let waits = self.check_waits(now, unit);
                    let next = || "the next worker that may check it gets it".to_owned();
                    format!("{lack}: {}", waits.unwrap_or_else(next))
                }
            });
        };
        Some(format!("{lack}, and {waits}"))
    }

    fn dispute(&self, now: Duration, unit: UnitId) -> String {
        if self.is_undecidable(now, unit) {
            return self.undecidable(unit, "");
        }
        let said = self.votes.ballot(&self.work, unit).summary();
        format!("{}: {said}; a worker that can help to decide is asked next", Lack::Decision)
    }

    /// What the check of the unit waits for, if no connected worker may make it.
    fn check_waits(&self, now: Duration, unit: UnitId) -> Option<String> {
        match self.votes.need(&self.work, unit) {
            Need::Check(kind) => self.check_waits_for(now, kind),
            _ => None,
        }
    }
}
