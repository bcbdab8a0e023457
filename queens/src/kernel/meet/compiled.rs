//! The parts of the kernel that are compiled once for each instruction set: making lists, gathering, joining.

use crate::kernel::isa::Portable;
#[cfg(target_arch = "x86_64")]
use crate::kernel::isa::{Avx2, Avx512, avx2, avx512};
#[cfg(target_arch = "aarch64")]
use crate::kernel::isa::{Neon, neon};
use crate::kernel::meet::by_last_row::ByLastRow;
use crate::kernel::meet::cut::Cut;
use crate::kernel::meet::gathering::{Gathering, Source};
use crate::kernel::meet::growth::{Grown, Growth};
use crate::kernel::meet::join::{self, Order};
use crate::kernel::meet::lanes::Lanes64;
use crate::kernel::meet::lists::Lists;
use crate::kernel::meet::matcher::Matcher;
use crate::kernel::meet::sieve;
use crate::kernel::meet::signatures::Signatures;

/// An instruction set for which the kernel is compiled.
pub trait CompiledMeet: Lanes64 {
    /// [`Growth::grow`] with all that the instruction set offers.
    fn grow(self, growth: &Growth<'_>, from: &Lists, to: &mut Lists) -> Grown;
    /// [`Gathering::collect`] with all that the instruction set offers.
    fn collect<'a>(self, gathering: &Gathering<'a>, set: u32, sources: &mut Vec<Source<'a>>) -> usize;
    /// [`Gathering::gather`] with all that the instruction set offers.
    fn gather<'a>(self, gathering: &Gathering<'a>, sources: &[Source<'a>], out: &mut Signatures);
    /// [`Gathering::gather_apart`] with all that the instruction set offers.
    fn gather_apart(self, sources: &[Source<'_>], out: &mut ByLastRow);
    /// [`sieve::order`] with all that the instruction set offers.
    fn order_apart(self, cut: &Cut, apart: &mut [ByLastRow; 2]) -> Order;
    /// [`join::join`] with all that the instruction set offers.
    fn join(
        self,
        matcher: &mut Matcher<Self>,
        bytes: usize,
        a: &mut Signatures,
        b: &mut Signatures,
        order: Order,
    );
    /// [`Signatures::sieve`] with all that the instruction set offers.
    fn sieve(self, words: &[u64], test: u64, keep: u64, out: &mut Signatures);
}

/// The kernel for a token, by the macro that compiles the token's methods.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
macro_rules! compiled_meet {
    ($token:ident, $methods:ident) => {
        impl CompiledMeet for $token {
            $methods! {
                fn grow(isa, growth: &Growth<'_>, from: &Lists, to: &mut Lists) -> Grown {
                    growth.grow(isa, from, to)
                }

                fn collect<'a>(_isa, gathering: &Gathering<'a>, set: u32, sources: &mut Vec<Source<'a>>) -> usize {
                    gathering.collect(set, sources)
                }

                fn gather<'a>(isa, gathering: &Gathering<'a>, sources: &[Source<'a>], out: &mut Signatures) {
                    gathering.gather(isa, sources, out)
                }

                fn gather_apart(isa, sources: &[Source<'_>], out: &mut ByLastRow) {
                    Gathering::gather_apart(isa, sources, out)
                }

                fn order_apart(isa, cut: &Cut, apart: &mut [ByLastRow; 2]) -> Order {
                    sieve::order(isa, cut, apart)
                }

                fn join(isa, matcher: &mut Matcher<$token>, bytes: usize, a: &mut Signatures, b: &mut Signatures, order: Order) {
                    join::join(isa, matcher, bytes, a, b, order)
                }

                fn sieve(isa, words: &[u64], test: u64, keep: u64, out: &mut Signatures) {
                    out.sieve(isa, words, test, keep)
                }
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
compiled_meet!(Avx512, avx512);
#[cfg(target_arch = "x86_64")]
compiled_meet!(Avx2, avx2);
#[cfg(target_arch = "aarch64")]
compiled_meet!(Neon, neon);

impl CompiledMeet for Portable {
    fn grow(self, growth: &Growth<'_>, from: &Lists, to: &mut Lists) -> Grown {
        growth.grow(self, from, to)
    }

    fn collect<'a>(self, gathering: &Gathering<'a>, set: u32, sources: &mut Vec<Source<'a>>) -> usize {
        gathering.collect(set, sources)
    }

    fn gather<'a>(self, gathering: &Gathering<'a>, sources: &[Source<'a>], out: &mut Signatures) {
        gathering.gather(self, sources, out)
    }

    fn gather_apart(self, sources: &[Source<'_>], out: &mut ByLastRow) {
        Gathering::gather_apart(self, sources, out)
    }

    fn order_apart(self, cut: &Cut, apart: &mut [ByLastRow; 2]) -> Order {
        sieve::order(self, cut, apart)
    }

    fn join(
        self,
        matcher: &mut Matcher<Self>,
        bytes: usize,
        a: &mut Signatures,
        b: &mut Signatures,
        order: Order,
    ) {
        join::join(self, matcher, bytes, a, b, order)
    }

    fn sieve(self, words: &[u64], test: u64, keep: u64, out: &mut Signatures) {
        out.sieve(self, words, test, keep)
    }
}
