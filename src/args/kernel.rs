//! The arguments that select the kernel and the number of threads.

use std::sync::Arc;

use clap::Args;
use queens::Position;
use queens::kernel::{Count, Isa, Kernel, KernelError, KernelName, Meet, Method, Stop, kernel};
use queens::plan::PlanSpec;

use super::memory::MemoryNeed;
use super::value::{Auto, ISAS, METHODS, ThreadsArgs, auto, whole};

/// The kernel and the number of threads.
#[derive(Debug, Args)]
pub struct KernelArgs {
    #[command(flatten)]
    threads: ThreadsArgs,
    /// Method: auto, meet, search.
    ///
    /// auto chooses by the board, by the plan of the run and, on a graphics card, by speed [default: auto].
    #[arg(long, value_name = "NAME", default_value = "auto", hide_default_value = true, value_parser = auto::<Method>(METHODS), hide_possible_values = true)]
    method: Auto<Method>,
    /// ISA: auto, avx512, avx2, neon, portable.
    ///
    /// auto chooses the best set of this machine; a set that the machine lacks is refused [default: auto].
    #[arg(long, value_name = "NAME", default_value = "auto", hide_default_value = true, value_parser = auto::<Isa>(ISAS), hide_possible_values = true)]
    isa: Auto<Isa>,
    #[command(flatten)]
    memory: MemoryArgs,
}

/// The memory of the method meet.
#[derive(Clone, Copy, Debug, Args)]
pub struct MemoryArgs {
    /// MiB per thread of meet [default: auto].
    ///
    /// The memory for its lists. From n = 25 on, more of it makes counting faster. By default the threads share
    /// a quarter of the memory, of 48 MiB to 2 GiB for each. Smaller boards get 48 MiB.
    #[arg(long, value_name = "MIB", value_parser = whole::<u32>(4..=65536), allow_negative_numbers = true)]
    memory: Option<u32>,
}

impl MemoryArgs {
    /// Bytes for the lists of each thread, if given.
    pub fn lists(self) -> Option<usize> {
        self.memory.map(|mib| (mib as usize) << 20)
    }
}

/// The kernel and the number of threads, as requested and as this machine supports.
#[derive(Clone, Copy, Debug)]
pub struct KernelChoice {
    /// How many units are counted at a time.
    pub threads: u32,
    /// Whether the number of threads was given.
    pub says_threads: bool,
    /// The method, unless it follows from the board or the plan.
    pub method: Option<Method>,
    isa: Isa,
    /// Bytes for the lists of each thread, if given.
    memory: Option<usize>,
}

impl TryFrom<KernelArgs> for KernelChoice {
    type Error = KernelError;
    fn try_from(args: KernelArgs) -> Result<Self, KernelError> {
        let isa = args.isa.0.unwrap_or_else(Isa::best);
        if !isa.is_available() {
            return Err(KernelError::Unavailable(isa));
        }
        let memory = args.memory.lists();
        let says_threads = args.threads.asked().is_some();
        Ok(Self { threads: args.threads.count(), says_threads, method: args.method.0, isa, memory })
    }
}

impl KernelChoice {
    /// The memory that counting a plan of so many units may need.
    pub fn memory_need(&self, units: u64) -> MemoryNeed {
        let threads = self.says_threads.then_some(self.threads);
        MemoryNeed::new(threads, self.memory, self.threads, units)
    }

    /// The choice with the threads and lists of this need.
    #[must_use]
    pub fn with_memory(self, need: MemoryNeed) -> Self {
        Self { threads: need.threads, memory: Some(need.lists as usize), ..self }
    }

    /// The requested method, or the plan's method.
    pub fn method_for(&self, plan: &PlanSpec) -> Method {
        self.method.unwrap_or(plan.method())
    }

    /// The requested kernel, or the best for the plan. The kernel that checks it has no more memory.
    ///
    /// # Errors
    /// This processor has no such kernel.
    pub fn kernel(&self, plan: &PlanSpec) -> Result<Arc<dyn Kernel>, KernelError> {
        let kernel = kernel(self.method_for(plan), Some(self.isa))?;
        Ok(match (self.memory, kernel.name().method) {
            (None, _) => kernel,
            (Some(bytes), Method::Meet) => Arc::new(Meet::with_memory(self.isa, bytes)?),
            (Some(bytes), Method::Search) => {
                let check = Arc::new(Meet::with_memory(self.isa, bytes)?);
                Arc::new(CheckedWithin { kernel, check })
            }
        })
    }
}

/// A kernel with the one that checks it, which has memory of its own.
struct CheckedWithin {
    kernel: Arc<dyn Kernel>,
    check: Arc<Meet>,
}

impl Kernel for CheckedWithin {
    fn name(&self) -> KernelName {
        self.kernel.name()
    }

    fn count(&self, position: &Position, stop: &Stop) -> Option<Count> {
        self.kernel.count(position, stop)
    }

    fn is_on_processor(&self) -> bool {
        self.kernel.is_on_processor()
    }

    fn other(&self) -> Option<Arc<dyn Kernel>> {
        Some(self.check.clone())
    }
}

#[cfg(test)]
mod tests {
    use queens::Board;

    use super::*;

    #[test]
    fn check_kernel_of_a_search_has_the_given_memory() {
        let board = Board::new(10).unwrap();
        let (isa, memory) = (Isa::best(), Some(4 << 20));
        let choice =
            KernelChoice { threads: 1, says_threads: true, method: Some(Method::Search), isa, memory };
        let search = choice.kernel(&PlanSpec::new(board)).unwrap();
        let check = search.other().unwrap();
        assert_eq!(check.name(), search.name().other());
        let count = |kernel: &dyn Kernel| kernel.count(&Position::empty(board), &Stop::new()).unwrap();
        assert_eq!([&*search, &*check].map(|kernel| count(kernel).completions), [724, 724]);
    }
}
