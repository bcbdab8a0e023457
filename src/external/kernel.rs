//! An external program as the kernel of a worker.

use std::sync::{Arc, OnceLock};

use queens::Position;
use queens::kernel::{Count, Kernel, KernelName, Stop};

use super::{ExternalError, ExternalProgram};

/// Counts by an external program, up to its first failure.
pub struct ExternalKernel {
    program: ExternalProgram,
    failure: OnceLock<Arc<ExternalError>>,
}

impl ExternalKernel {
    /// A kernel that counts by this program.
    pub fn new(program: ExternalProgram) -> Self {
        Self { program, failure: OnceLock::new() }
    }

    /// Why it counts no more, if it has failed.
    pub fn failure(&self) -> Option<&Arc<ExternalError>> {
        self.failure.get()
    }

    /// Ends the program, with all counts that it makes now.
    pub fn end(&self) {
        self.program.end();
    }
}

impl Kernel for ExternalKernel {
    fn name(&self) -> KernelName {
        KernelName::EXTERNAL
    }

    fn count(&self, position: &Position, stop: &Stop) -> Option<Count> {
        self.count_unit(0, position, stop)
    }

    fn count_unit(&self, unit: u64, position: &Position, stop: &Stop) -> Option<Count> {
        let is_wanted = || !stop.is_stopped() && self.failure.get().is_none();
        match self.program.count(unit, position, &is_wanted) {
            // Another program has no nodes that could be compared.
            Ok(completions) => Some(Count { completions: completions?, nodes: 0 }),
            Err(failure) => {
                self.failure.set(Arc::new(failure)).ok();
                None
            }
        }
    }

    /// Nobody knows by which method the program counts.
    fn other(&self) -> Option<Arc<dyn Kernel>> {
        None
    }
}
