//! The machines and kernels that have counted, with the numbers that the other sums use for them.
//!
//! A machine is named by its owner: two owners may each have a `node-1`.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::{Deserialize, Serialize};

use super::degree::{Degree, are_several_owners};
use super::machine::{Machine, Trust};
use super::record_error::RecordError;
use super::vote::{MAX_KERNELS, MAX_MACHINES, MachineId, Making, Origin, Vote};

/// All machines. The checkpoint has one entry for each machine, and one for the rest.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Machines {
    #[serde(skip)]
    pub(super) list: Vec<Machine>,
    kernels: Vec<String>,
    /// For each owner, its machines by name.
    #[serde(skip)]
    pub(super) numbers: HashMap<String, HashMap<String, MachineId>>,
    /// For each owner, the machines that lost against other owners.
    pub(super) losers: BTreeMap<String, BTreeSet<MachineId>>,
    /// The expelled owners.
    pub(super) expelled: BTreeSet<String>,
    /// The owners whom an own check contradicts.
    pub(super) suspended: BTreeSet<String>,
    #[serde(skip)]
    has_cards: bool,
    /// The number of changes of trust.
    #[serde(skip)]
    pub(super) trust_changes: u64,
    /// The owners, or their machines, that the last record has struck.
    #[serde(skip)]
    pub(super) struck: Vec<(String, Option<String>)>,
}

impl PartialEq for Machines {
    fn eq(&self, other: &Self) -> bool {
        self.list == other.list
            && self.kernels == other.kernels
            && self.losers == other.losers
            && self.expelled == other.expelled
            && self.suspended == other.suspended
    }
}

impl Machines {
    /// The machines of a checkpoint, and their further data.
    pub(crate) fn restored(list: Vec<Machine>, rest: Self) -> Self {
        let mut numbers: HashMap<String, HashMap<String, MachineId>> = HashMap::new();
        for (machine, id) in list.iter().zip(0..) {
            numbers.entry(machine.owner.clone()).or_default().insert(machine.name.clone(), MachineId(id));
        }
        let has_cards = list.iter().any(|machine| machine.hardware().is_card());
        let is_anybody_struck = !rest.expelled.is_empty()
            || !rest.suspended.is_empty()
            || list.iter().any(|machine| machine.trust != Trust::Believed);
        let trust_changes = u64::from(is_anybody_struck);
        Self { list, numbers, has_cards, trust_changes, ..rest }
    }

    /// True if the number of machines is within its limit and includes all losers.
    pub(super) fn fits(&self) -> bool {
        let mut losers = self.losers.values().flatten();
        self.list.len() <= MAX_MACHINES
            && self.kernels.len() <= MAX_KERNELS
            && losers.all(|id| (id.0 as usize) < self.list.len())
    }

    /// Whether there are such a machine and such a kernel.
    pub(super) fn knows(&self, origin: Origin) -> bool {
        (origin.machine.0 as usize) < self.list.len() && usize::from(origin.kernel) < self.kernels.len()
    }

    /// The number of an owner's machine, if it is on record.
    pub fn number(&self, owner: &str, name: &str) -> Option<MachineId> {
        self.numbers.get(owner)?.get(name).copied()
    }

    /// The records about a machine.
    pub fn get(&self, id: MachineId) -> &Machine {
        &self.list[id.0 as usize]
    }

    /// Mutable access to the records about a machine.
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

    /// The number of changes of trust since the process started. While it is unchanged, no machine need be examined
    /// again. 0 if all machines are believed.
    pub fn trust_changes(&self) -> u64 {
        self.trust_changes
    }

    /// True if a graphics card is on record.
    pub fn has_cards(&self) -> bool {
        self.has_cards
    }

    /// The degree at which a count of one machine confirms a count of another machine.
    pub(super) fn degree_between(&self, a: MachineId, b: MachineId) -> Degree {
        Degree::between(self.get(a).maker(), self.get(b).maker())
    }

    /// True if these machines certainly belong to several owners.
    pub(super) fn are_of_several_owners(&self, machines: impl IntoIterator<Item = MachineId>) -> bool {
        are_several_owners(machines.into_iter().map(|id| &*self.get(id).owner))
    }

    /// The origin of a record; machines and kernels that were not heard of before get their numbers.
    ///
    /// # Errors
    /// The number of machines or kernels is at its limit.
    pub fn origin(
        &mut self,
        (owner, machine): (&str, &str),
        kernel: &str,
        mirrored: bool,
    ) -> Result<Origin, RecordError> {
        let machine = self.add_machine(owner, machine)?;
        let kernel = match self.kernels.iter().position(|known| known == kernel) {
            Some(number) => number,
            None if self.kernels.len() < MAX_KERNELS => {
                self.kernels.push(kernel.to_owned());
                self.kernels.len() - 1
            }
            None => {
                return Err(RecordError::TooManyKernels(kernel.to_owned()));
            }
        };
        Ok(Origin { machine, kernel: kernel as u8, mirrored })
    }

    /// The number of an owner's machine, which is assigned if it is missing.
    ///
    /// # Errors
    /// The number of machines is at its limit.
    pub(super) fn add_machine(&mut self, owner: &str, name: &str) -> Result<MachineId, RecordError> {
        if let Some(number) = self.number(owner, name) {
            return Ok(number);
        }
        if self.list.len() >= MAX_MACHINES {
            return Err(RecordError::TooManyMachines(name.to_owned()));
        }
        let number = MachineId(self.list.len() as u32);
        let trust = self.trust_in(owner);
        self.trust_changes += u64::from(trust != Trust::Believed);
        let (owner, name) = (owner.to_owned(), name.to_owned());
        self.numbers.entry(owner.clone()).or_default().insert(name.clone(), number);
        let machine = Machine { owner, name, trust, ..Machine::default() };
        self.has_cards |= machine.hardware().is_card();
        self.list.push(machine);
        Ok(number)
    }

    /// The origin of an unrecorded count, as far as its parts have numbers.
    pub fn find_origin(&self, owner: &str, machine: &str, kernel: &str, mirrored: bool) -> Option<Origin> {
        let kernel = self.kernels.iter().position(|known| known == kernel)?;
        Some(Origin { machine: self.number(owner, machine)?, kernel: kernel as u8, mirrored })
    }

    /// Whether a count that was made like that was made otherwise than a vote, so that it says something where both are equal: on
    /// another machine, or in another way.
    pub fn is_made_in_other_way(&self, vote: &Vote, (maker, kernel, mirrored): Making<'_>) -> bool {
        let own = (self.kernel(vote.origin.kernel), vote.origin.mirrored);
        let counted = self.get(vote.origin.machine);
        Degree::between(counted.maker(), maker) > Degree::SameMachine || own != (kernel, mirrored)
    }

    /// How a vote was made.
    pub fn making(&self, vote: &Vote) -> Making<'_> {
        let Origin { machine, kernel, mirrored } = vote.origin;
        (self.get(machine).maker(), self.kernel(kernel), mirrored)
    }

    /// Whether two counts of a unit say the same: the count, and the nodes where both searched row by row.
    pub fn agree(&self, a: &Vote, b: &Vote) -> bool {
        self.matches_vote(a, b.count, b.nodes, self.kernel(b.origin.kernel))
    }

    /// True if an unrecorded count equals a vote: in the count, and in the nodes if both searched row by row.
    ///
    /// The nodes of the other method depend on the kernel's release, so in the middle of a run a difference proves
    /// nothing.
    pub fn matches_vote(&self, vote: &Vote, count: u64, nodes: u64, kernel: &str) -> bool {
        let both_searched = [self.kernel(vote.origin.kernel), kernel].map(is_search) == [true; 2];
        vote.count == count && (!both_searched || vote.nodes == nodes)
    }
}

/// Whether it is a kernel of the row-by-row search, METHOD/INSTRUCTIONS.
fn is_search(kernel: &str) -> bool {
    kernel.split('/').next() == Some("search")
}
