//! Counts by another program: somebody else's kernel, which shares no code with diadem. The command line names it.

mod process;
mod protocol;

use std::time::Duration;

use parking_lot::Mutex;
use queens::Position;

use crate::args::ExternalCommand;
use process::Process;

pub use process::ExternalError;

/// The running copies of one external program, one for each thread that counts by it.
pub struct ExternalProgram {
    command: ExternalCommand,
    timeout: Duration,
    /// Those that wait for a unit.
    idle: Mutex<Vec<Process>>,
}

impl ExternalProgram {
    /// The program, of which no copy runs yet.
    pub fn new(command: ExternalCommand, timeout: Duration) -> Self {
        Self { command, timeout, idle: Mutex::default() }
    }

    /// The program as it was named.
    pub fn name(&self) -> &str {
        &self.command.text
    }

    /// The completions of the position, by an idle copy or a new one. `None` if the count is no longer wanted.
    ///
    /// # Errors
    /// The program cannot be started, or answers wrongly or not at all.
    pub fn count(
        &self,
        unit: u64,
        position: &Position,
        is_wanted: &dyn Fn() -> bool,
    ) -> Result<Option<u64>, ExternalError> {
        let idle = self.idle.lock().pop();
        let mut process = idle.map_or_else(|| Process::start(&self.command), Ok)?;
        let count = process.count(unit, position, self.timeout, is_wanted)?;
        if count.is_some() {
            self.idle.lock().push(process);
        }
        Ok(count)
    }

    /// Ends the program.
    ///
    /// # Errors
    /// It has written more than it was asked for.
    pub fn finish(self) -> Result<(), ExternalError> {
        self.idle.into_inner().into_iter().try_for_each(Process::finish)
    }
}
