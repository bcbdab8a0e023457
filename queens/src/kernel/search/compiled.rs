//! The search as it is compiled: once for each instruction set.

use super::body;
use super::descent::Descent;
use super::lanes::Lanes32;
use super::levels::Levels;
use crate::kernel::contract::{Count, Stop};
use crate::kernel::isa::Portable;
#[cfg(target_arch = "x86_64")]
use crate::kernel::isa::{Avx2, Avx512, avx2, avx512};
#[cfg(target_arch = "aarch64")]
use crate::kernel::isa::{Neon, neon};

/// An instruction set for which the search is compiled.
pub(super) trait CompiledSearch: Lanes32 {
    /// [`body::search`] with all that the instruction set offers.
    fn search(self, descent: &Descent, levels: &mut Levels, stop: &Stop) -> Option<Count>;
}

#[cfg(target_arch = "x86_64")]
impl CompiledSearch for Avx512 {
    avx512! {
        fn search(isa, descent: &Descent, levels: &mut Levels, stop: &Stop) -> Option<Count> {
            body::search(isa, descent, levels, stop)
        }
    }
}

#[cfg(target_arch = "x86_64")]
impl CompiledSearch for Avx2 {
    avx2! {
        fn search(isa, descent: &Descent, levels: &mut Levels, stop: &Stop) -> Option<Count> {
            body::search(isa, descent, levels, stop)
        }
    }
}

#[cfg(target_arch = "aarch64")]
impl CompiledSearch for Neon {
    neon! {
        fn search(isa, descent: &Descent, levels: &mut Levels, stop: &Stop) -> Option<Count> {
            body::search(isa, descent, levels, stop)
        }
    }
}

impl CompiledSearch for Portable {
    fn search(self, descent: &Descent, levels: &mut Levels, stop: &Stop) -> Option<Count> {
        body::search(self, descent, levels, stop)
    }
}
