//! Sets of rows as bit masks, numbered densely.
//!
//! The free rows of a position are put in an order, and a set of them is a mask in that order. The upper bits are
//! called the *head* of the set, the lower [`RowSets::tail_bits`] bits its *tail*. Lists of half boards are kept for
//! all sets of one size with given heads; within a head, tails of the same size are numbered from 0.

/// The numbering of sets of a fixed number of rows.
#[derive(Debug)]
pub struct RowSets {
    rows: u32,
    tail_bits: u32,
    /// The bits of the tail.
    tail_mask: u32,
    /// For each tail, its number among the tails of the same size.
    ranks: Vec<u16>,
    /// For each size, the tails of that size, ascending.
    tails: Vec<Vec<u32>>,
}

impl RowSets {
    /// The sets of `rows` rows; the last `tail_bits` of them (at most 16) make the tail.
    pub fn new(rows: u32, tail_bits: u32) -> Self {
        let mut tails = vec![Vec::new(); tail_bits as usize + 1];
        let ranks = (0..1u32 << tail_bits)
            .map(|tail| {
                let same_size = &mut tails[tail.count_ones() as usize];
                same_size.push(tail);
                (same_size.len() - 1) as u16
            })
            .collect();
        Self { rows, tail_bits, tail_mask: (1 << tail_bits) - 1, ranks, tails }
    }

    /// The number of rows.
    pub fn rows(&self) -> u32 {
        self.rows
    }

    /// The bits of a tail.
    pub fn tail_bits(&self) -> u32 {
        self.tail_bits
    }

    /// The bits of a head.
    pub fn head_bits(&self) -> u32 {
        self.rows - self.tail_bits
    }

    /// The set of all rows.
    pub fn full(&self) -> u32 {
        ((1u64 << self.rows) - 1) as u32
    }

    /// The tails that make sets of `size` rows with this head, ascending.
    pub fn tails(&self, head: u32, size: usize) -> &[u32] {
        let missing = size.checked_sub(head.count_ones() as usize);
        missing.and_then(|missing| self.tails.get(missing)).map_or(&[], Vec::as_slice)
    }

    /// The head of a set.
    #[inline(always)]
    pub fn head(&self, set: u32) -> usize {
        (set >> self.tail_bits) as usize
    }

    /// The number of the set's tail among the tails of its size.
    #[inline(always)]
    pub fn rank(&self, set: u32) -> u32 {
        u32::from(self.ranks[(set & self.tail_mask) as usize])
    }
}

/// The ways to choose k of n, which is at most 32.
pub fn binomial(n: u32, k: u32) -> u64 {
    BINOMIALS[n as usize].get(k as usize).copied().unwrap_or(0)
}

/// Pascal's triangle.
static BINOMIALS: [[u64; 33]; 33] = {
    let mut rows = [[0; 33]; 33];
    let mut n = 0;
    while n <= 32 {
        rows[n][0] = 1;
        let mut k = 1;
        while k <= n {
            rows[n][k] = rows[n - 1][k - 1] + rows[n - 1][k];
            k += 1;
        }
        n += 1;
    }
    rows
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_set_of_a_head_has_a_number_of_its_own() {
        let sets = RowSets::new(11, 6);
        for head in 0..1 << sets.head_bits() {
            for size in 0..=11 {
                for (rank, tail) in sets.tails(head, size).iter().enumerate() {
                    let set = head << 6 | tail;
                    assert_eq!(set.count_ones() as usize, size);
                    assert_eq!((sets.head(set), sets.rank(set) as usize), (head as usize, rank));
                }
            }
        }
        let all: usize = (0..1 << 5).map(|head| sets.tails(head, 4).len()).sum();
        assert_eq!(all as u64, binomial(11, 4));
        assert_eq!((binomial(32, 16), binomial(5, 6)), (601_080_390, 0));
    }
}
