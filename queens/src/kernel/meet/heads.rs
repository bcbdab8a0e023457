//! Which heads the row sets of a pass have.
//!
//! A half with e columns missing may still lack e of the fixed rows that are to fall on its side, which makes it part
//! of many passes; such halves would be made again and again. Therefore lists with one column missing are made only
//! where no fixed row is missing, and with two columns only where at most one is: for the others the last two or three
//! queens, which must stand in the missing rows, are placed at once when the complete halves are
//! [gathered](super::gathering).

use crate::kernel::meet::cut::Cut;

/// How many fixed rows a half with so many columns missing may lack.
pub fn most_lacking(missing: usize) -> u32 {
    match missing {
        1 | 2 => missing as u32 - 1,
        _ => missing as u32,
    }
}

/// The fixed rows on one side, where those in `left` are on the left.
pub fn top_of_side(side: usize, left: u32, fixed: u32) -> u32 {
    if side == 0 { left } else { !left & ((1 << fixed) - 1) }
}

/// Lists in `heads` the heads of the sets that a half with so many columns missing can have, where of the `fixed` rows
/// those in `top` are on its side.
pub fn choose_heads(cut: &Cut, side: usize, missing: usize, fixed: u32, top: u32, heads: &mut Vec<u32>) {
    let sets = &cut.sets;
    let half = &cut.halves[side];
    let free = sets.head_bits() - fixed;
    let later = half.later[half.columns() - missing] >> (sets.rows() - fixed);
    let size = (half.columns() - missing) as u32;
    let fits = |head: &u32| {
        let rows = head.count_ones();
        rows <= size && size - rows <= sets.tail_bits()
    };
    heads.clear();
    let mut lacking = 0u32;
    loop {
        if lacking.count_ones() <= most_lacking(missing) && lacking & !later == 0 {
            heads.extend((0..1u32 << free).map(|low| (top & !lacking) << free | low).filter(fits));
        }
        lacking = lacking.wrapping_sub(top) & top;
        if lacking == 0 {
            break;
        }
    }
}
