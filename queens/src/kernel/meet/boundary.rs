//! Allowed pairs of boundary queens as bits of a signature.
//!
//! Two halves with outermost queens in rows l and r may be joined only if (l, r) is allowed. The forbidden
//! pairs are covered by products L x R of rows. Each product is one bit: a left half sets it for every row of
//! L, a right half for every row of R. So a forbidden pair has a bit in common. The families of the plan need
//! two products, or up to eighteen at n = 27 where the half turn maps a family to itself. A matrix never
//! needs more products than it has different rows.

use crate::bits::set_bits;
use crate::kernel::meet::uncut::Uncut;
use crate::position::Position;
use crate::squares::Squares;

/// A position's open squares once the boundary pairs are taken into account.
#[derive(Clone, Debug)]
pub struct Restriction {
    /// The open squares, without boundary squares that no allowed pair has.
    pub squares: Squares,
    /// Sets of left rows and sets of right rows that do not go together.
    pub forbidden: Vec<(u32, u32)>,
}

/// Takes the position's boundary pairs into account.
///
/// # Errors
/// If none of them is possible.
pub fn restrict(position: &Position) -> Result<Restriction, Uncut> {
    let mut squares = Squares::of(position);
    let Some(allowed) = keep_allowed(position, &mut squares)? else {
        return Ok(Restriction { squares, forbidden: Vec::new() });
    };
    let last = position.board().last();
    let rights = allowed.iter().fold(0, |all, rights| all | rights);
    let lefts = (0..32).filter(|left| allowed[*left] != 0).fold(0u32, |all, left| all | 1 << left);
    let missing = std::array::from_fn(|l| if lefts >> l & 1 == 1 { rights & !allowed[l] } else { 0 });
    // Queens of one row never meet, nor do those of opposite corners: such pairs need not be forbidden.
    let attacked =
        |l: usize| (0..32).filter(move |r| l.abs_diff(*r) == 0 || l.abs_diff(*r) == usize::from(last));
    let impossible = std::array::from_fn(|l| attacked(l).fold(0, |rights, r| rights | 1u32 << r));
    Ok(Restriction { squares, forbidden: cover(missing, impossible) })
}

/// The bits of a signature that the position's boundary pairs need. `None` if no pair is possible.
pub fn boundary_bits(position: &Position) -> Option<u32> {
    restrict(position).ok().map(|restriction| restriction.forbidden.len() as u32)
}

/// Closes the boundary squares of a position that no allowed pair has. Returns for each left row the allowed
/// right rows; `None` if all pairs are allowed.
///
/// # Errors
/// If no pair is possible.
pub fn keep_allowed(position: &Position, squares: &mut Squares) -> Result<Option<[u32; 32]>, Uncut> {
    let Some(pairs) = position.boundary() else { return Ok(None) };
    let last = position.board().last();
    let candidates = |col: u8| {
        let placed = position.queens().iter().find(|q| q.col == col);
        placed.map_or_else(|| squares.open_rows(col), |q| 1 << q.row)
    };
    let (lefts, rights) = (candidates(0), candidates(last));
    let mut allowed = [0; 32];
    for left in set_bits(lefts) {
        allowed[usize::from(left)] = pairs.rights(left) & rights;
    }
    let rights = allowed.iter().fold(0, |all, rights| all | rights);
    let lefts = (0..32).filter(|left| allowed[*left] != 0).fold(0, |all, left| all | 1 << left);
    squares.keep_rows(0, lefts);
    squares.keep_rows(last, rights);
    if lefts == 0 { Err(Uncut::Impossible) } else { Ok(Some(allowed)) }
}

/// Products that cover, for each left row, the right rows that it excludes, the largest first. They may also cover
/// pairs that are impossible anyway, but no other pairs.
fn cover(missing: [u32; 32], impossible: [u32; 32]) -> Vec<(u32, u32)> {
    let mut open: [u32; 32] = std::array::from_fn(|l| missing[l] & !impossible[l]);
    // Each with an upper bound of its coverage, from its last evaluation. Coverage only decreases.
    let mut products: Vec<_> = products(missing, impossible).map(|product| (product, u32::MAX)).collect();
    let next = || {
        let mut best = ((0, 0), 0);
        for ((lefts, rights), most) in &mut products {
            if *most >= best.1 {
                *most = set_bits(*lefts).map(|l| (open[usize::from(l)] & *rights).count_ones()).sum();
                if *most >= best.1 {
                    best = ((*lefts, *rights), *most);
                }
            }
        }
        let ((lefts, rights), covered) = best;
        set_bits(lefts).for_each(|l| open[usize::from(l)] &= !rights);
        (covered > 0).then_some((lefts, rights))
    };
    std::iter::from_fn(next).collect()
}

/// Products to choose from. One is given by its rows or by its columns; those of one or two lines of the matrix, made as large as
/// they can be, are enough.
fn products(missing: [u32; 32], impossible: [u32; 32]) -> impl Iterator<Item = (u32, u32)> {
    let closed: [u32; 32] = std::array::from_fn(|l| missing[l] | impossible[l]);
    let columns: [u32; 32] =
        std::array::from_fn(|r| (0..32).fold(0, |lefts, l| lefts | (closed[l] >> r & 1) << l));
    let common =
        |lines: &[u32; 32], of: u32| set_bits(of).fold(u32::MAX, |all, i| all & lines[usize::from(i)]);
    let lines = (0..32).flat_map(|l| (0..=l).map(move |k| (k, l)));
    let of_rows = lines.clone().map(move |(k, l)| closed[k] & closed[l]).filter(|rights| *rights != 0);
    let of_columns = lines.map(move |(q, r)| columns[q] & columns[r]).filter(|lefts| *lefts != 0);
    of_rows
        .map(move |rights| (common(&columns, rights), rights))
        .chain(of_columns.map(move |lefts| (lefts, common(&closed, lefts))))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        #[cfg_attr(miri, ignore = "too slow")]
        fn cover_contains_missing_and_only_impossible_pairs(
            missing in prop::array::uniform32(any::<u32>()),
            impossible in prop::array::uniform32(any::<u32>()),
            mask in any::<u32>(),
        ) {
            let missing = missing.map(|rights| rights & mask);
            let mut covered = [0; 32];
            for (lefts, rights) in cover(missing, impossible) {
                set_bits(lefts).for_each(|l| covered[usize::from(l)] |= rights);
            }
            for l in 0..32 {
                prop_assert_eq!(covered[l] & !impossible[l], missing[l] & !impossible[l]);
            }
        }
    }

    #[test]
    fn a_staircase_needs_one_product_a_step() {
        let mut missing = [0; 32];
        for (l, rights) in missing.iter_mut().enumerate().take(6) {
            *rights = (1 << (l / 2)) - 1;
        }
        assert_eq!(cover(missing, [0; 32]).len(), 2);
    }
}
