//! The memory that this process may use, and the threads that fit into it.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

use domain::counted;
use queens::Board;
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

/// The choice with threads and lists that fit into the memory, beside a plan of so many units. A warning says if they do not, or only just.
pub fn fitting_kernel(choice: KernelChoice, board: Board, units: u64) -> KernelChoice {
    let (need, limits) = (choice.memory_need(units), system::limits());
    let need = need.with_longer_lists(longest_lists(&limits, board, need.threads));
    let Some((fitted, shortage)) = shortage(&limits, need) else { return choice.with_memory(need) };
    warn!("{shortage}");
    choice.with_memory(fitted)
}

/// The number of threads that fit into the memory. A message says if they are fewer than cores.
pub fn fitting_threads(threads: ThreadsArgs) -> u32 {
    let need = MemoryNeed::new(threads.asked(), Some(Meet::DEFAULT_MEMORY), cores(), 0);
    let Some((fitted, shortage)) = shortage(&system::limits(), need) else { return need.threads };
    say(format_args!("diadem: {shortage}"));
    fitted.threads
}

/// The bytes for the lists of each of so many threads that count this board, unless the user sets them.
pub fn default_lists(board: Board, threads: u32) -> usize {
    longest_lists(&system::limits(), board, threads) as usize
}

/// Other programs, and the caches of files, need memory as well.
const PART_FOR_LISTS: u64 = 4;

/// As long lists as the board profits from and as these limits allow, but not less than the default.
fn longest_lists(limits: &[Limit], board: Board, threads: u32) -> u64 {
    let share = |limit: &Limit| limit.bytes / PART_FOR_LISTS / u64::from(limit.cores.max(threads).max(1));
    let useful = Meet::most_useful_memory(board) as u64;
    limits.iter().map(share).min().unwrap_or(0).min(useful).max(Meet::DEFAULT_MEMORY as u64)
}

/// The need that fits within the limits, and the message about it, unless the whole need fits.
fn shortage(limits: &[Limit], need: MemoryNeed) -> Option<(MemoryNeed, String)> {
    limits.iter().min_by_key(|limit| limit.left())?.shortage(need)
}

/// A limit of the memory of this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Limit {
    /// The bytes that the process may have.
    bytes: u64,
    /// Of these it has so many.
    used: u64,
    /// How many cores share it: processes that were given the others may use as much.
    cores: u32,
    /// What limits it.
    name: &'static str,
}

impl Limit {
    /// The bytes that the process may still take.
    fn left(&self) -> u64 {
        self.bytes.saturating_sub(self.used)
    }

    /// The need that fits, and the message about it, unless the whole need fits.
    fn shortage(self, need: MemoryNeed) -> Option<(MemoryNeed, String)> {
        let left = self.left();
        if need.bytes() <= left {
            return None;
        }
        let fitted = need.within(left);
        let (needed, available, limit) = (need.bytes() >> 20, left >> 20, self.name);
        let threads = counted(need.threads, "thread");
        let consequence = if fitted.bytes() <= left {
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
