//! Counts by another program: somebody else's kernel, which shares no code with diadem. The command line names it.

mod kernel;
mod process;
mod protocol;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use queens::Position;

use crate::args::ExternalCommand;
use process::Process;

pub use kernel::ExternalKernel;
pub use process::ExternalError;

/// How long the end waits for threads that end their copies. They look every 20 ms whether they must.
const END_TIMEOUT: Duration = Duration::from_secs(1);

/// The running copies of one external program, one for each thread that counts by it.
pub struct ExternalProgram {
    command: ExternalCommand,
    timeout: Duration,
    /// Those that wait for a unit.
    idle: Mutex<Vec<Process>>,
    /// How many count.
    counting: AtomicUsize,
    is_ended: AtomicBool,
}

impl ExternalProgram {
    /// The program, of which no copy runs yet.
    pub fn new(command: ExternalCommand, timeout: Duration) -> Self {
        let (idle, counting, is_ended) = (Mutex::default(), AtomicUsize::new(0), AtomicBool::new(false));
        Self { command, timeout, idle, counting, is_ended }
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
        self.counting.fetch_add(1, Ordering::SeqCst);
        let is_wanted = || is_wanted() && !self.is_ended.load(Ordering::SeqCst);
        let counted = if is_wanted() { self.count_now(unit, position, &is_wanted) } else { Ok(None) };
        self.counting.fetch_sub(1, Ordering::SeqCst);
        counted
    }

    fn count_now(
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

    /// Waits until the program has ended by itself.
    ///
    /// # Errors
    /// It has written more than it was asked for.
    pub fn finish(self) -> Result<(), ExternalError> {
        self.idle.into_inner().into_iter().try_for_each(Process::finish)
    }

    /// Ends all copies now, with what they count.
    pub fn end(&self) {
        self.is_ended.store(true, Ordering::SeqCst);
        let begun = Instant::now();
        while self.counting.load(Ordering::SeqCst) > 0 && begun.elapsed() < END_TIMEOUT {
            thread::sleep(Duration::from_millis(5));
        }
        self.idle.lock().clear();
    }
}
