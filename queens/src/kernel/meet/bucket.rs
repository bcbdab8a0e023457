//! One row set: its left halves and the right halves of its complement, gathered and joined.

use crate::kernel::meet::by_last_row::ByLastRow;
use crate::kernel::meet::compiled::CompiledMeet;
use crate::kernel::meet::cut::Cut;
use crate::kernel::meet::gathering::{Gathering, Source};
use crate::kernel::meet::join::Order;
use crate::kernel::meet::matcher::Matcher;
#[cfg(test)]
use crate::kernel::meet::reached::Reached;
use crate::kernel::meet::sieve::Sieve;
use crate::kernel::meet::signatures::Signatures;

/// Sources with fewer states on both sides are joined without the sieve: measured (docs/performance.md).
const WORTH_THE_SIEVE: usize = 8_000;

/// Buffers for the halves of one row set.
#[derive(Debug, Default)]
pub struct Bucket {
    complete: [Signatures; 2],
    apart: [ByLastRow; 2],
    sieve: Sieve,
}

impl Bucket {
    /// Counts with the matcher the pairs of halves that fit; the sources of each side have so many states. Returns how many halves there were, 0 if one side had none.
    pub fn count<'a, L: CompiledMeet>(
        &mut self,
        isa: L,
        matcher: &mut Matcher<L>,
        cut: &Cut,
        gatherings: &[Gathering<'a>; 2],
        sources: &[Vec<Source<'a>>; 2],
        states: [usize; 2],
    ) -> u64 {
        let fewest = states[0].min(states[1]);
        if fewest == 0 {
            return 0;
        }
        if cut.is_wide || fewest >= WORTH_THE_SIEVE {
            return self.sieve(isa, matcher, cut, sources);
        }
        let mut sides = gatherings.iter().zip(sources).zip(&mut self.complete);
        let is_empty = sides.any(|((gathering, sources), out)| {
            isa.gather(gathering, sources, out);
            out.is_empty()
        });
        if is_empty {
            return 0;
        }
        let [left, right] = &mut self.complete;
        let halves = left.len() + right.len();
        isa.join(matcher, cut.shared.bytes, left, right, Order::Free);
        halves as u64
    }

    /// The same with a sieve.
    fn sieve<L: CompiledMeet>(
        &mut self,
        isa: L,
        matcher: &mut Matcher<L>,
        cut: &Cut,
        sources: &[Vec<Source<'_>>; 2],
    ) -> u64 {
        let mut sides = sources.iter().zip(&mut self.apart);
        let is_empty = sides.any(|(sources, out)| {
            isa.gather_apart(sources, out);
            out.len() == 0
        });
        if is_empty {
            return 0;
        }
        #[cfg(test)]
        Reached::Sieve.note();
        let order = isa.order_apart(cut, &mut self.apart);
        self.sieve.join(isa, matcher, cut, &self.apart, order);
        self.apart.iter().map(ByLastRow::len).sum::<usize>() as u64
    }
}
