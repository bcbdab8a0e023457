//! The sieve: complete halves that the last queen of the other half attacks go before the join.
//!
//! ```text
//! for each row z of the left halves' last queen:
//!     for each row w of the right halves' last queen:
//!         lefts  = the left halves with z that leave both diagonals of the square of w free
//!         rights = the right halves with w that leave both diagonals of the square of z free
//!         join lefts and rights
//! ```
//!
//! The sieve also handles a diagonal that has open squares only in the last column of one half, so such a
//! diagonal needs no bit of the signatures. Signatures are as short as if both last columns lay between the
//! halves.

use crate::kernel::meet::by_last_row::ByLastRow;
use crate::kernel::meet::compiled::CompiledMeet;
use crate::kernel::meet::cut::Cut;
use crate::kernel::meet::join::Order;
use crate::kernel::meet::lanes::Lanes64;
use crate::kernel::meet::matcher::Matcher;
use crate::kernel::meet::order::{MOST_BITS, common_bits};
use crate::kernel::meet::signatures::Signatures;

/// Shorter lists are not worth an order: measured (docs/performance.md).
const WORTH_AN_ORDER: usize = 50_000;

/// Puts the halves of each row in an order that makes neighbours alike, if lists are long. The sieve keeps the order.
#[inline(always)]
pub fn order<L: Lanes64>(isa: L, cut: &Cut, apart: &mut [ByLastRow; 2]) -> Order {
    let [left, right] = apart;
    if left.len().max(right.len()) < WORTH_AN_ORDER {
        return Order::Unordered;
    }
    let bits = common_bits(isa, cut.joint.bytes, cut.joint.keep, left.words(), right.words(), MOST_BITS);
    left.order(isa, &bits);
    right.order(isa, &bits);
    Order::Ordered
}

/// The halves that pass the sieve.
#[derive(Debug, Default)]
pub struct Sieve {
    lefts: Signatures,
    rights: Signatures,
}

impl Sieve {
    /// Counts with the matcher the pairs of a left and a right half of a cut that fit.
    pub fn join<L: CompiledMeet>(
        &mut self,
        isa: L,
        matcher: &mut Matcher<L>,
        cut: &Cut,
        [left, right]: &[ByLastRow; 2],
        order: Order,
    ) {
        let [attacked_left, attacked_right] = [0, 1].map(|side| &cut.halves[side].attacked);
        let (joint, Self { lefts, rights }) = (cut.joint, self);
        for (z, with_z) in left.iter() {
            for (w, with_w) in right.iter() {
                isa.sieve(with_w, attacked_right[z], joint.keep, rights);
                if !rights.is_empty() {
                    isa.sieve(with_z, attacked_left[w], joint.keep, lefts);
                    isa.join(matcher, joint.bytes, lefts, rights, order);
                }
            }
        }
    }
}
