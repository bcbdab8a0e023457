//! Units whose counts are beyond doubt, to be lent now and then to a machine that has not counted them: it cannot tell
//! them from others, and a wrong count of one shows a wrong machine at once.

use std::collections::VecDeque;

use queens::UnitId;
use records::standing::MachineId;

/// As many as are kept: the youngest.
const KEPT: usize = 64;

/// Units that two machines have counted with the same outcome, and these machines.
#[derive(Debug, Default)]
pub struct Canaries(VecDeque<(UnitId, [MachineId; 2])>);

impl Canaries {
    /// Two machines have counted the unit.
    pub fn keep(&mut self, unit: UnitId, machines: [MachineId; 2]) {
        if self.0.len() == KEPT {
            self.0.pop_front();
        }
        self.0.push_back((unit, machines));
    }

    /// One that the machine has not counted; another machine may get it later.
    pub fn take_for(&mut self, machine: Option<MachineId>) -> Option<UnitId> {
        let is_new = |machines: &[MachineId; 2]| machine.is_none_or(|machine| !machines.contains(&machine));
        let at = self.0.iter().position(|(_, machines)| is_new(machines))?;
        self.0.remove(at).map(|(unit, _)| unit)
    }
}
