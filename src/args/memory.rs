//! The threads and the lists that fit into the memory.

use queens::kernel::Meet;

/// Memory of a process without its counting threads, in bytes.
const OF_PROCESS: u64 = 64 << 20;

/// Memory of a unit of the plan, in bytes (docs/performance.md).
const OF_UNIT: u64 = 24;

/// Memory of a counting thread without its lists, in bytes.
const OF_THREAD: u64 = 4 << 20;

/// Lists outgrow the size that is set for them by at most a third.
const MOST_OF_LISTS: u64 = 4;
const PLANNED_OF_LISTS: u64 = 3;

/// The smallest size of the lists of a thread, in bytes.
const LEAST_LISTS: u64 = 4 << 20;

/// The memory that counting may need, at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryNeed {
    /// The number of counting threads.
    pub threads: u32,
    /// Bytes for the lists of each.
    pub lists: u64,
    /// Whether the user has set the number of threads.
    has_set_threads: bool,
    /// Whether the user has set the size of the lists.
    has_set_lists: bool,
    /// Bytes of all else.
    besides: u64,
}

impl MemoryNeed {
    /// The need of threads that count a plan of so many units. `threads` and `lists` are what the user has set. Else there is
    /// a thread for each core, and lists have the default size.
    pub fn new(threads: Option<u32>, lists: Option<usize>, cores: u32, units: u64) -> Self {
        Self {
            threads: threads.unwrap_or(cores),
            lists: lists.unwrap_or(Meet::DEFAULT_MEMORY) as u64,
            has_set_threads: threads.is_some(),
            has_set_lists: lists.is_some(),
            besides: OF_PROCESS + units * OF_UNIT,
        }
    }

    /// In bytes.
    pub fn bytes(&self) -> u64 {
        self.besides + u64::from(self.threads) * self.of_thread()
    }

    fn of_thread(&self) -> u64 {
        OF_THREAD + self.lists * MOST_OF_LISTS / PLANNED_OF_LISTS
    }

    /// The need with longer lists, of that many bytes, unless the user has set their size.
    #[must_use]
    pub fn with_longer_lists(self, bytes: u64) -> Self {
        let lists = if self.has_set_lists { self.lists } else { bytes.max(self.lists) };
        Self { lists, ..self }
    }

    /// As much of it as fits into the available bytes. The lists shrink first, then the number of threads, and neither if the user
    /// has set it. The smallest need may still be too large.
    #[must_use]
    pub fn within(mut self, available: u64) -> Self {
        let available = available.saturating_sub(self.besides);
        if !self.has_set_lists {
            let share = (available / u64::from(self.threads)).saturating_sub(OF_THREAD);
            let planned = share * PLANNED_OF_LISTS / MOST_OF_LISTS;
            self.lists = planned.clamp(LEAST_LISTS.min(self.lists), self.lists);
        }
        if !self.has_set_threads {
            let threads = u32::try_from(available / self.of_thread()).unwrap_or(u32::MAX);
            self.threads = threads.clamp(1, self.threads);
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    /// Threads, and MiB of lists.
    fn fitted(need: MemoryNeed, available: u64) -> (u32, u64) {
        let fitted = need.within(available * MIB);
        (fitted.threads, fitted.lists / MIB)
    }

    #[test]
    fn lists_shrink_before_threads_to_fit() {
        let need = MemoryNeed::new(None, None, 16, 0);
        assert_eq!(need.bytes(), (64 + 16 * 68) * MIB);
        for (available, expected) in
            [(1152, (16, 48)), (1151, (16, 47)), (512, (16, 18)), (256, (16, 6)), (128, (6, 4)), (1, (1, 4))]
        {
            assert_eq!(fitted(need, available), expected, "{available} MiB");
            let fits = need.within(available * MIB).bytes() <= available * MIB;
            assert_eq!(fits, available > 1, "{available} MiB");
        }
    }

    #[test]
    fn set_threads_and_lists_do_not_shrink() {
        let threads = MemoryNeed::new(Some(16), None, 2, 0);
        assert_eq!(fitted(threads, 100), (16, 4));
        let lists = MemoryNeed::new(None, Some(60 << 20), 16, 0);
        assert_eq!(fitted(lists, 240), (2, 60));
        let both = MemoryNeed::new(Some(16), Some(60 << 20), 2, 0);
        assert_eq!(both.within(0), both);
        let large_plan = MemoryNeed::new(None, None, 16, 10_000_000);
        assert!(large_plan.within(512 * MIB).lists < threads.within(512 * MIB).lists);
    }
}
