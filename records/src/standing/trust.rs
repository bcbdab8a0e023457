//! Trust in machines and owners.
//!
//! A machine that loses a dispute is quarantined. An owner is expelled with all machines after three of its machines
//! lost against other owners. Otherwise an owner could invent a new machine name after each loss.
//!
//! Two owners whom an own check contradicts are suspended until the operator decides: readmits or expels them. If a
//! suspended owner is expelled, none of its counts stands any more: the other owner may have confirmed a lie.

use std::collections::HashMap;

use domain::Owner;

use super::degree::Degree;
use super::machine::{Machine, Trust};
use super::machines::Machines;
use super::record_error::RecordError;
use super::vote::MachineId;
use crate::ledger::Expulsion;

/// Number of machines that lost against other owners after which their owner is expelled.
const LOSERS_TO_EXPEL: usize = 3;

impl Machines {
    /// Notes that two counts have proved a count of the machine wrong. `to_others` is true if one of them is another
    /// owner's.
    pub fn lose(&mut self, id: MachineId, to_others: bool) {
        let machine = self.get_mut(id);
        machine.wrong += 1;
        let owner = machine.owner.clone();
        self.quarantine(id);
        if !to_others {
            return;
        }
        let losers = self.losers.entry(owner.clone()).or_default();
        // Counts of an expelled owner suffice.
        if losers.insert(id) && losers.len() >= LOSERS_TO_EXPEL && !self.expelled.contains(&owner) {
            self.expel(&owner, None).expect("an owner needs no number");
        }
    }

    /// Notes another unit in which the machine has contradicted itself and no other machine has decided.
    pub fn contradicts_itself(&mut self, id: MachineId) {
        let machine = self.get_mut(id);
        machine.self_contradictions += 1;
        if machine.contradicts_itself() {
            self.quarantine(id);
        }
    }

    /// Applies a record that ends the trust in a machine or an owner.
    ///
    /// # Errors
    /// The number of machines is at its limit.
    pub fn strike(&mut self, r: &Expulsion) -> Result<(), RecordError> {
        if r.suspended && r.machine.is_none() {
            self.suspend(&r.owner);
            return Ok(());
        }
        self.expel(&r.owner, r.machine.as_deref())?;
        if let Some(name) = r.machine.as_deref().filter(|_| r.lost) {
            let id = self.add_machine(&r.owner, name)?;
            self.lose(id, true);
        }
        Ok(())
    }

    /// True if a count of this machine with this confirmation is believed.
    pub(crate) fn believes(&self, machine: MachineId, confirmed: Degree) -> bool {
        match self.get(machine).trust {
            Trust::Believed | Trust::Suspended => true,
            Trust::Quarantined => confirmed >= Degree::OtherMachine,
            Trust::Expelled => confirmed >= Degree::OtherOwner,
            Trust::Refuted => false,
        }
    }

    /// Whether the machine lost against other owners.
    pub fn has_lost_to_others(&self, id: MachineId) -> bool {
        self.losers.get(&self.get(id).owner).is_some_and(|losers| losers.contains(&id))
    }

    /// A machine, or its owner with all machines, is not believed any more, now and when it comes again.
    ///
    /// # Errors
    /// The number of machines is at its limit.
    pub fn expel(&mut self, owner: &str, machine: Option<&str>) -> Result<(), RecordError> {
        if let Some(name) = machine {
            let id = self.add_machine(owner, name)?;
            if self.get(id).trust == Trust::Suspended {
                self.get_mut(id).trust = Trust::Believed;
            }
            self.quarantine(id);
            return Ok(());
        }
        if self.expelled.insert(owner.to_owned()) {
            self.struck.push((owner.to_owned(), None));
        }
        self.trust_all_of(owner, self.trust_in(owner));
        Ok(())
    }

    /// An own check contradicts the owner: its machines get nothing until the operator decides.
    fn suspend(&mut self, owner: &str) {
        self.suspended.insert(owner.to_owned());
        self.trust_changes += 1;
        let trust = self.trust_in(owner);
        for id in self.numbers.get(owner).into_iter().flat_map(HashMap::values) {
            let machine = &mut self.list[id.0 as usize];
            if machine.trust != Trust::Quarantined || trust != Trust::Suspended {
                machine.trust = trust;
            }
        }
    }

    /// The trust in a machine of which only the owner is known.
    pub(super) fn trust_in(&self, owner: &str) -> Trust {
        match (self.expelled.contains(owner), self.suspended.contains(owner)) {
            (false, false) => Trust::Believed,
            (false, true) => Trust::Suspended,
            (true, false) => Trust::Expelled,
            (true, true) => Trust::Refuted,
        }
    }

    fn quarantine(&mut self, id: MachineId) {
        let machine = self.get_mut(id);
        if machine.trust == Trust::Believed {
            machine.trust = Trust::Quarantined;
            let struck = (machine.owner.clone(), Some(machine.name.clone()));
            self.struck.push(struck);
            self.trust_changes += 1;
        }
    }

    fn trust_all_of(&mut self, owner: &str, trust: Trust) {
        self.trust_changes += 1;
        for id in self.numbers.get(owner).into_iter().flat_map(HashMap::values) {
            self.list[id.0 as usize].trust = trust;
        }
    }

    /// A machine, or an owner with all machines, is believed again.
    ///
    /// # Errors
    /// The participant is believed, or is a machine of an expelled owner.
    pub fn admit(&mut self, owner: &str, machine: Option<&str>) -> Result<(), RecordError> {
        let Some(name) = machine else {
            let [was_expelled, was_suspended] =
                [&mut self.expelled, &mut self.suspended].map(|owners| owners.remove(owner));
            if !was_expelled && !was_suspended {
                return Err(RecordError::NotExpelled(Owner::new(owner).typed().to_owned()));
            }
            self.trust_all_of(owner, Trust::Believed);
            self.losers.remove(owner);
            return Ok(());
        };
        match self.number(owner, name) {
            Some(id) if self.get(id).trust == Trust::Quarantined => {
                let machine = self.get_mut(id);
                (machine.trust, machine.self_contradictions) = (Trust::Believed, 0);
                self.trust_changes += 1;
                self.losers.get_mut(owner).map(|losers| losers.remove(&id));
                Ok(())
            }
            _ => Err(RecordError::NotExpelled(name.to_owned())),
        }
    }

    /// Whether nothing is lent to that machine: itself or its owner is not believed.
    pub fn is_quarantined(&self, owner: &str, name: &str) -> bool {
        self.trust_in(owner) != Trust::Believed
            || self.number(owner, name).is_some_and(|number| self.get(number).is_quarantined())
    }

    /// Whether that owner is not believed.
    pub fn is_expelled(&self, owner: &str) -> bool {
        self.expelled.contains(owner)
    }

    /// The owners whom an own check contradicts, and about whom the operator has not decided.
    pub fn suspended(&self) -> impl Iterator<Item = &str> {
        self.suspended.difference(&self.expelled).map(String::as_str)
    }

    /// Whether an own check contradicts that owner.
    pub fn is_contradicted(&self, owner: &str) -> bool {
        self.suspended.contains(owner)
    }

    /// Whether the operator has to decide about that owner.
    pub fn is_suspended(&self, owner: &str) -> bool {
        self.trust_in(owner) == Trust::Suspended
    }

    /// The machines that are not believed.
    pub fn quarantined(&self) -> impl Iterator<Item = &Machine> {
        self.iter().filter(|machine| machine.is_quarantined())
    }

    /// The expelled owners.
    pub fn expelled(&self) -> impl Iterator<Item = &str> {
        self.expelled.iter().map(String::as_str)
    }
}
