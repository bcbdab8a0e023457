//! Which row sets the lists of a pass are made for.
//!
//! A half with e columns missing may still lack e of the fixed rows on its side. Such a half is part of many
//! passes, and would be made again in each of them. Therefore lists with one column missing are made only if
//! no fixed row is missing, and lists with two columns missing only if at most one fixed row is. For the
//! other halves the last two or three queens must stand in the missing rows; they are placed at once when the
//! complete halves are [gathered](super::gathering).

use crate::kernel::meet::cut::Cut;
use crate::kernel::meet::row_sets::RowSets;

/// The most fixed rows that a half with `missing` columns missing may lack.
pub fn most_lacking(missing: usize) -> u32 {
    match missing {
        1 | 2 => missing as u32 - 1,
        _ => missing as u32,
    }
}

/// The row sets that a half with some columns missing can have in a pass.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// How many rows such a set has.
    size: u32,
    /// The rows whose side is fixed.
    fixed: u32,
    /// The fixed rows that must be on this side.
    here: u32,
    /// The rows that may still be lacking, since a later column has an open square there.
    later: u32,
    most_lacking: u32,
}

impl Wanted {
    /// The sets of one side with `missing` columns missing. Of the `fixed` highest rows, the rows in `left`
    /// (bit 0 is the lowest) must be on the left.
    pub fn new(cut: &Cut, side: usize, missing: usize, fixed: u32, left: u32) -> Self {
        let half = &cut.halves[side];
        let column = half.columns() - missing;
        let below = cut.sets.rows() - fixed;
        let (fixed, left) = (cut.sets.full() >> below << below, left << below);
        let here = if side == 0 { left } else { fixed & !left };
        Self {
            size: column as u32,
            fixed,
            here,
            later: half.later[column],
            most_lacking: most_lacking(missing),
        }
    }

    /// How many rows the sets have.
    pub fn size(&self) -> usize {
        self.size as usize
    }

    /// Whether a set of that size is one of them.
    #[inline(always)]
    pub fn has(&self, set: u32) -> bool {
        let lacking = self.here & !set;
        set & self.fixed == self.here & set && self.may_lack(lacking)
    }

    /// Whether sets with one row less that have this head, whose tail is left open, may become one of them.
    pub fn may_come_of(&self, sets: &RowSets, head: u32) -> bool {
        let (here, fixed) = (self.here >> sets.tail_bits(), self.fixed >> sets.tail_bits());
        head & fixed & !here == 0 && (here & !head).count_ones() <= self.most_lacking + 1
    }

    /// The rows that make a set with one row less one of them, each by itself.
    #[inline(always)]
    pub fn rows_to(&self, set: u32) -> u32 {
        let lacking = self.here & !set;
        let elsewhere = self.fixed & !self.here;
        let overdue = lacking & !self.later;
        if set & elsewhere != 0 || lacking.count_ones() > self.most_lacking + 1 || overdue.count_ones() > 1 {
            0
        } else if self.may_lack(lacking) {
            !set & !elsewhere
        } else if overdue != 0 {
            overdue
        } else {
            lacking
        }
    }

    #[inline(always)]
    fn may_lack(&self, lacking: u32) -> bool {
        lacking & !self.later == 0 && lacking.count_ones() <= self.most_lacking
    }

    /// Lists in `heads` the heads that such sets may have.
    pub fn heads(&self, sets: &RowSets, heads: &mut Vec<u32>) {
        let tail = sets.tail_bits();
        let here = self.here >> tail;
        let free = (sets.full() & !self.fixed) >> tail;
        let fits = |head: &u32| {
            let rows = head.count_ones();
            rows <= self.size && self.size - rows <= tail
        };
        heads.clear();
        let mut lacking = 0u32;
        loop {
            if self.may_lack(lacking << tail) {
                // Free rows are the lowest of a head.
                heads.extend((0..=free).map(|low| here & !lacking | low).filter(fits));
            }
            lacking = lacking.wrapping_sub(here) & here;
            if lacking == 0 {
                break;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_offered_are_exactly_rows_of_wanted_sets() {
        let sets = RowSets::new(9, 5);
        for (fixed, here, later, most_lacking) in
            [(0, 0, 0, 0), (5, 0b101, 0b1_1010_1101, 1), (3, 0b110, 0b1_1111_1111, 2), (6, 0b11_0110, 0, 3)]
        {
            let below = 9 - fixed;
            let wanted = Wanted {
                size: 4,
                fixed: 0b1_1111_1111 >> below << below,
                here: here << below,
                later,
                most_lacking,
            };
            for set in (0u32..1 << 9).filter(|set| set.count_ones() == 3) {
                let rows = (0..9).map(|row| 1 << row).filter(|row| set & row == 0 && wanted.has(set | row));
                let rows: u32 = rows.sum();
                assert_eq!(wanted.rows_to(set) & sets.full(), rows, "{wanted:?} {set:09b}");
                assert!(rows == 0 || wanted.may_come_of(&sets, set >> sets.tail_bits()));
            }
        }
    }
}
