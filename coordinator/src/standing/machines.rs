//! The machines and kernels that have counted, by the numbers under which the rest speaks of them, and who is to be
//! believed.
//!
//! A machine is named by its owner: two owners may each have a `node-1`. A machine that lost a dispute is quarantined.
//! An owner of whom three machines lost against other owners is expelled with all machines, for whoever can name
//! machines at will could lose one after the other.

use std::collections::{BTreeSet, HashMap};

use proto::{Hardware, Owner};
use serde::{Deserialize, Serialize};

use super::record_error::RecordError;
use super::vote::{MOST_KERNELS, MOST_MACHINES, MachineId, Origin, Vote};
use crate::ledger::Expulsion;

/// An owner of whom so many machines lost against other owners is expelled.
const MOST_LOSERS: usize = 3;

/// What the records say of one machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// Who it belongs to; empty where nobody was authenticated.
    pub owner: String,
    /// What its owner calls it.
    pub name: String,
    /// Units whose standing count it made.
    pub counts: u64,
    /// Those of them that no other machine has confirmed.
    pub unverified: u64,
    /// Those of them that other machines of its owner have confirmed, and nobody else.
    pub internal: u64,
    /// Its counts that another machine has confirmed, or that confirmed another's.
    pub verified: u64,
    /// Its first counts, each of which is checked.
    pub trials: u64,
    /// Its counts that two other counts have proved wrong.
    pub wrong: u64,
    /// What became of it.
    pub trust: Trust,
}

/// Whether a machine is believed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Trust {
    /// It is.
    #[default]
    Believed,
    /// Nothing is lent to it any more, and only those of its counts stand that another machine has confirmed.
    Quarantined,
    /// It is its owner who is not believed: only those of its counts stand that another owner has confirmed.
    Expelled,
}

impl Machine {
    /// Whether nothing is lent to it any more.
    pub fn is_quarantined(&self) -> bool {
        self.trust != Trust::Believed
    }

    /// How many of its standing counts are to be taken back.
    pub fn unbelieved(&self) -> u64 {
        match self.trust {
            Trust::Believed => 0,
            Trust::Quarantined => self.unverified,
            Trust::Expelled => self.unverified + self.internal,
        }
    }

    /// What kind of hardware it is.
    pub fn hardware(&self) -> Hardware {
        Hardware::of(&self.name)
    }

    /// What people are told that it is called: `owner/name`, or the name where there are no owners.
    pub fn title(&self) -> String {
        Owner::new(&self.owner).title(&self.name)
    }
}

/// All of them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(from = "Listed", into = "Listed")]
pub struct Machines {
    list: Vec<Machine>,
    kernels: Vec<String>,
    /// For each owner, its machines by name.
    numbers: HashMap<String, HashMap<String, MachineId>>,
    /// Machines that lost against other owners.
    losers: BTreeSet<MachineId>,
    /// Owners who are not believed any more.
    expelled: BTreeSet<String>,
    has_cards: bool,
}

/// As the checkpoint keeps them.
#[derive(Serialize, Deserialize)]
struct Listed {
    machines: Vec<Machine>,
    kernels: Vec<String>,
    losers: BTreeSet<MachineId>,
    expelled: BTreeSet<String>,
}

impl From<Listed> for Machines {
    fn from(Listed { machines, kernels, losers, expelled }: Listed) -> Self {
        let mut numbers: HashMap<String, HashMap<String, MachineId>> = HashMap::new();
        for (machine, id) in machines.iter().zip(0..) {
            numbers.entry(machine.owner.clone()).or_default().insert(machine.name.clone(), MachineId(id));
        }
        let has_cards = machines.iter().any(|machine| machine.hardware().is_card());
        Self { list: machines, kernels, numbers, losers, expelled, has_cards }
    }
}

impl From<Machines> for Listed {
    fn from(Machines { list, kernels, losers, expelled, .. }: Machines) -> Self {
        Self { machines: list, kernels, losers, expelled }
    }
}

impl PartialEq for Machines {
    fn eq(&self, other: &Self) -> bool {
        self.list == other.list
            && self.kernels == other.kernels
            && self.losers == other.losers
            && self.expelled == other.expelled
    }
}

impl Machines {
    /// The number of an owner's machine, if it is on record.
    pub fn number(&self, owner: &str, name: &str) -> Option<MachineId> {
        self.numbers.get(owner)?.get(name).copied()
    }

    /// What is said of a machine.
    pub fn get(&self, id: MachineId) -> &Machine {
        &self.list[id.0 as usize]
    }

    /// To say more of it.
    pub fn get_mut(&mut self, id: MachineId) -> &mut Machine {
        &mut self.list[id.0 as usize]
    }

    /// The kernel of that number.
    pub fn kernel(&self, kernel: u8) -> &str {
        &self.kernels[usize::from(kernel)]
    }

    /// All machines, in the order of their first records.
    pub fn iter(&self) -> impl Iterator<Item = &Machine> {
        self.list.iter()
    }

    /// Whether a machine of another owner is on record and believed.
    pub fn believes_another_than(&self, owner: &str) -> bool {
        let mut others = self.numbers.iter().filter(|(other, _)| *other != owner);
        others.any(|(_, machines)| machines.values().any(|id| !self.get(*id).is_quarantined()))
    }

    /// Whether a graphics card is on record: if not, all are of one kind.
    pub fn has_cards(&self) -> bool {
        self.has_cards
    }

    /// Whether two machines belong to one owner.
    pub fn is_one_owner(&self, a: MachineId, b: MachineId) -> bool {
        self.get(a).owner == self.get(b).owner
    }

    /// The origin of a record; machines and kernels that were not heard of before get their numbers.
    ///
    /// # Errors
    /// There are as many machines or kernels as there can be, and this is one more.
    pub fn origin(
        &mut self,
        (owner, machine): (&str, &str),
        kernel: &str,
        mirrored: bool,
    ) -> Result<Origin, RecordError> {
        let machine = self.enrol(owner, machine)?;
        let kernel = match self.kernels.iter().position(|known| known == kernel) {
            Some(number) => number,
            None if self.kernels.len() < MOST_KERNELS => {
                self.kernels.push(kernel.to_owned());
                self.kernels.len() - 1
            }
            None => {
                return Err(RecordError::TooManyKernels(kernel.to_owned()));
            }
        };
        Ok(Origin { machine, kernel: kernel as u8, mirrored })
    }

    fn enrol(&mut self, owner: &str, name: &str) -> Result<MachineId, RecordError> {
        if let Some(number) = self.number(owner, name) {
            return Ok(number);
        }
        if self.list.len() >= MOST_MACHINES {
            return Err(RecordError::TooManyMachines(name.to_owned()));
        }
        let number = MachineId(self.list.len() as u32);
        let trust = if self.expelled.contains(owner) { Trust::Expelled } else { Trust::Believed };
        let (owner, name) = (owner.to_owned(), name.to_owned());
        self.numbers.entry(owner.clone()).or_default().insert(name.clone(), number);
        let machine = Machine { owner, name, trust, ..Machine::default() };
        self.has_cards |= machine.hardware().is_card();
        self.list.push(machine);
        Ok(number)
    }

    /// The origin of a count that is not on record, as far as it has numbers.
    pub fn find_origin(&self, owner: &str, machine: &str, kernel: &str, mirrored: bool) -> Option<Origin> {
        let kernel = self.kernels.iter().position(|known| known == kernel)?;
        Some(Origin { machine: self.number(owner, machine)?, kernel: kernel as u8, mirrored })
    }

    /// Whether two counts of a unit say the same: the count, and the nodes where both searched row by row.
    pub fn agree(&self, a: &Vote, b: &Vote) -> bool {
        self.says_the_same(a, b.count, b.nodes, self.kernel(b.origin.kernel))
    }

    /// Whether a count that is not on record says what a vote says: the count, and the nodes where both searched row by row.
    ///
    /// The halves that the other method makes follow from how a kernel cuts a position, which releases do differently: in
    /// the middle of a run they must not be held against anybody.
    pub fn says_the_same(&self, vote: &Vote, count: u64, nodes: u64, kernel: &str) -> bool {
        let both_searched = [self.kernel(vote.origin.kernel), kernel].map(is_search) == [true; 2];
        vote.count == count && (!both_searched || vote.nodes == nodes)
    }

    /// Two counts have proved one of the machine wrong, at least one of another owner if that is said.
    pub fn lose(&mut self, id: MachineId, to_others: bool) {
        let machine = self.get_mut(id);
        machine.wrong += 1;
        if machine.trust == Trust::Believed {
            machine.trust = Trust::Quarantined;
        }
        let owner = machine.owner.clone();
        if to_others && self.losers.insert(id) {
            let losers = self.losers.iter().filter(|loser| self.get(**loser).owner == owner).count();
            if losers >= MOST_LOSERS {
                self.expel(&owner, None).expect("an owner needs no number");
            }
        }
    }

    /// Somebody is not believed any more because a record says so.
    ///
    /// # Errors
    /// There are as many machines as there can be, and this is one more.
    pub fn strike(&mut self, r: &Expulsion) -> Result<(), RecordError> {
        self.expel(&r.owner, r.machine.as_deref())?;
        if let Some(name) = r.machine.as_deref().filter(|_| r.lost) {
            let id = self.enrol(&r.owner, name)?;
            self.lose(id, true);
        }
        Ok(())
    }

    /// Whether the machine lost against other owners.
    pub fn has_lost_to_others(&self, id: MachineId) -> bool {
        self.losers.contains(&id)
    }

    /// A machine, or its owner with all machines, is not believed any more, now and when it comes again.
    ///
    /// # Errors
    /// There are as many machines as there can be, and this is one more.
    pub fn expel(&mut self, owner: &str, machine: Option<&str>) -> Result<(), RecordError> {
        if let Some(name) = machine {
            let id = self.enrol(owner, name)?;
            let machine = self.get_mut(id);
            if machine.trust == Trust::Believed {
                machine.trust = Trust::Quarantined;
            }
            return Ok(());
        }
        self.expelled.insert(owner.to_owned());
        for machine in self.list.iter_mut().filter(|machine| machine.owner == owner) {
            machine.trust = Trust::Expelled;
        }
        Ok(())
    }

    /// A machine, or an owner with all machines, is believed again.
    ///
    /// # Errors
    /// It is believed, or it is a machine of an owner who is not.
    pub fn admit(&mut self, owner: &str, machine: Option<&str>) -> Result<(), RecordError> {
        let Some(name) = machine else {
            if !self.expelled.remove(owner) {
                return Err(RecordError::NotExpelled(owner.to_owned()));
            }
            let of_owner = self.list.iter_mut().filter(|machine| machine.owner == owner);
            of_owner.for_each(|machine| machine.trust = Trust::Believed);
            let list = &self.list;
            self.losers.retain(|loser| list[loser.0 as usize].owner != owner);
            return Ok(());
        };
        match self.number(owner, name) {
            Some(id) if self.get(id).trust == Trust::Quarantined => {
                self.get_mut(id).trust = Trust::Believed;
                self.losers.remove(&id);
                Ok(())
            }
            _ => Err(RecordError::NotExpelled(name.to_owned())),
        }
    }

    /// Whether nothing is lent to that machine: itself or its owner is not believed.
    pub fn is_quarantined(&self, owner: &str, name: &str) -> bool {
        self.expelled.contains(owner)
            || self.number(owner, name).is_some_and(|number| self.get(number).is_quarantined())
    }

    /// The machines that are not believed.
    pub fn quarantined(&self) -> impl Iterator<Item = &Machine> {
        self.iter().filter(|machine| machine.is_quarantined())
    }

    /// The owners who are not believed.
    pub fn expelled(&self) -> impl Iterator<Item = &str> {
        self.expelled.iter().map(String::as_str)
    }
}

/// Whether it is a kernel of the row-by-row search, METHOD/INSTRUCTIONS.
fn is_search(kernel: &str) -> bool {
    kernel.split_once('/').is_some_and(|(method, _)| method == "search")
}
