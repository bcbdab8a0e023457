//! The machines and kernels that have counted, by the numbers under which the rest speaks of them.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::record_error::RecordError;
use super::vote::{MOST_KERNELS, MOST_MACHINES, MachineId, Origin, Vote};

/// What the records say of one machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// What people call it.
    pub name: String,
    /// Units whose standing count it made.
    pub counts: u64,
    /// Those of them that no other machine has confirmed.
    pub unverified: u64,
    /// Its counts that another machine has confirmed, or that confirmed another's.
    pub verified: u64,
    /// Its first counts, each of which is checked.
    pub trials: u64,
    /// Its counts that two other counts have proved wrong.
    pub wrong: u64,
}

impl Machine {
    /// Whether it was wrong: nothing is lent to it any more, and only its verified counts stand.
    pub fn is_quarantined(&self) -> bool {
        self.wrong > 0
    }
}

/// All of them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(from = "Listed", into = "Listed")]
pub struct Machines {
    list: Vec<Machine>,
    kernels: Vec<String>,
    numbers: HashMap<String, MachineId>,
}

/// As the checkpoint keeps them.
#[derive(Serialize, Deserialize)]
struct Listed {
    machines: Vec<Machine>,
    kernels: Vec<String>,
}

impl From<Listed> for Machines {
    fn from(Listed { machines, kernels }: Listed) -> Self {
        let numbers = machines.iter().zip(0..).map(|(m, id)| (m.name.clone(), MachineId(id))).collect();
        Self { list: machines, kernels, numbers }
    }
}

impl From<Machines> for Listed {
    fn from(Machines { list, kernels, .. }: Machines) -> Self {
        Self { machines: list, kernels }
    }
}

impl PartialEq for Machines {
    fn eq(&self, other: &Self) -> bool {
        self.list == other.list && self.kernels == other.kernels
    }
}

impl Machines {
    /// The machine's number, if it has counted.
    pub fn number(&self, name: &str) -> Option<MachineId> {
        self.numbers.get(name).copied()
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

    /// The origin of a record; machines and kernels that were not heard of before get their numbers.
    ///
    /// # Errors
    /// There are as many machines or kernels as there can be, and this is one more.
    pub fn origin(&mut self, machine: &str, kernel: &str, mirrored: bool) -> Result<Origin, RecordError> {
        let machine = self.enrol(machine)?;
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

    fn enrol(&mut self, name: &str) -> Result<MachineId, RecordError> {
        if let Some(number) = self.number(name) {
            return Ok(number);
        }
        if self.list.len() >= MOST_MACHINES {
            return Err(RecordError::TooManyMachines(name.to_owned()));
        }
        let number = MachineId(self.list.len() as u32);
        self.list.push(Machine { name: name.to_owned(), ..Machine::default() });
        self.numbers.insert(name.to_owned(), number);
        Ok(number)
    }

    /// The origin of a count that is not on record, as far as it has numbers.
    pub fn find_origin(&self, machine: &str, kernel: &str, mirrored: bool) -> Option<Origin> {
        let kernel = self.kernels.iter().position(|known| known == kernel)?;
        Some(Origin { machine: self.number(machine)?, kernel: kernel as u8, mirrored })
    }

    /// Whether two counts of a unit say the same: the count, and the nodes where the method is the same.
    pub fn agree(&self, a: &Vote, b: &Vote) -> bool {
        self.says_the_same(a, b.count, b.nodes, self.kernel(b.origin.kernel))
    }

    /// Whether a count that is not on record says what a vote says: the count, and the nodes where the method is the same.
    pub fn says_the_same(&self, vote: &Vote, count: u64, nodes: u64, kernel: &str) -> bool {
        let same_method = method(self.kernel(vote.origin.kernel)) == method(kernel);
        vote.count == count && (!same_method || vote.nodes == nodes)
    }

    /// The machines that were wrong.
    pub fn quarantined(&self) -> impl Iterator<Item = &Machine> {
        self.iter().filter(|machine| machine.is_quarantined())
    }
}

fn method(kernel: &str) -> &str {
    kernel.split_once('/').map_or(kernel, |(method, _)| method)
}
