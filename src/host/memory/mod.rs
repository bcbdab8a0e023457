//! The memory that this process may use, and the threads that fit into it.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

use domain::counted;
use queens::kernel::Meet;
use tracing::warn;

use crate::args::{KernelChoice, MemoryNeed, ThreadsArgs, cores};
use crate::log::say;
#[cfg(unix)]
use unix as system;
#[cfg(windows)]
use windows as system;

pub use system::keep_to_one_arena;

/// The address space that a command with a run, or with a connection to one, needs at least.
const LEAST_ADDRESS_SPACE: u64 = 128 << 20;

/// Fails if the address space is too small.
pub fn ensure_address_space() -> anyhow::Result<()> {
    let limit = system::address_space().unwrap_or(u64::MAX);
    anyhow::ensure!(
        limit >= LEAST_ADDRESS_SPACE,
        "only {} MiB of address space may be used and {} are needed: say ulimit -v {}",
        limit >> 20,
        LEAST_ADDRESS_SPACE >> 20,
        LEAST_ADDRESS_SPACE >> 10
    );
    Ok(())
}

/// The choice with threads and lists that fit into the memory. A warning says if they do not, or only just.
pub fn fitting_kernel(choice: KernelChoice, units: u64) -> KernelChoice {
    let need = choice.memory_need(units);
    let Some((fitted, shortage)) = system::available().and_then(|available| available.shortage(need)) else {
        return choice;
    };
    warn!("{shortage}");
    choice.with_memory(fitted)
}

/// The number of threads that fit into the memory. A message says if they are fewer than cores.
pub fn fitting_threads(threads: ThreadsArgs) -> u32 {
    let need = MemoryNeed::new(threads.asked(), Some(Meet::DEFAULT_MEMORY), cores(), 0);
    let Some((fitted, shortage)) = system::available().and_then(|available| available.shortage(need)) else {
        return need.threads;
    };
    say(format_args!("diadem: {shortage}"));
    fitted.threads
}

/// The memory that this process may still take, and what limits it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Available {
    bytes: u64,
    limit: &'static str,
}

impl Available {
    /// The need that fits, and the message about it, unless the whole need fits.
    fn shortage(self, need: MemoryNeed) -> Option<(MemoryNeed, String)> {
        if need.bytes() <= self.bytes {
            return None;
        }
        let fitted = need.within(self.bytes);
        let (needed, available, limit) = (need.bytes() >> 20, self.bytes >> 20, self.limit);
        let threads = counted(need.threads, "thread");
        let consequence = if fitted.bytes() <= self.bytes {
            format!(
                "counts on {} with lists of {} MiB each",
                counted(fitted.threads, "thread"),
                fitted.lists >> 20
            )
        } else {
            "the system may end this process; raise the limit, or use fewer --threads".into()
        };
        let shortage = format!(
            "{threads} may need {needed} MiB of memory and {available} MiB are available ({limit}): {consequence}"
        );
        Some((fitted, shortage))
    }
}
