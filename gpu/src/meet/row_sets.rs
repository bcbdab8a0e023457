//! All sets of a number of rows, by size, in the order in which the device takes them.

use std::ops::Range;

/// The sets of a number of rows, as masks; those of each size together, ascending.
#[derive(Debug)]
pub struct SetsBySize {
    masks: Vec<u32>,
    /// For each size the index of its first set, and the end behind the last.
    begins: Vec<usize>,
}

impl SetsBySize {
    /// All 2^rows sets of `rows` rows.
    pub fn new(rows: u32) -> Self {
        let mut begins = vec![0; rows as usize + 2];
        (0..1u32 << rows).for_each(|mask| begins[mask.count_ones() as usize + 1] += 1);
        (1..begins.len()).for_each(|size| begins[size] += begins[size - 1]);
        let (mut masks, mut ends) = (vec![0; 1 << rows], begins.clone());
        for mask in 0..1u32 << rows {
            let end = &mut ends[mask.count_ones() as usize];
            masks[*end] = mask;
            *end += 1;
        }
        Self { masks, begins }
    }

    /// All masks.
    pub fn masks(&self) -> &[u32] {
        &self.masks
    }

    /// The sets of that size, by their indices.
    pub fn of_size(&self, size: usize) -> Range<usize> {
        self.begins[size]..self.begins[size + 1]
    }

    /// The sets of that size between two masks, by their indices.
    pub fn between(&self, size: usize, least: u32, most: u32) -> Range<usize> {
        let all = self.of_size(size);
        let masks = &self.masks[all.clone()];
        let before = |is_before: &dyn Fn(u32) -> bool| masks.partition_point(|mask| is_before(*mask));
        all.start + before(&|mask| mask < least)..all.start + before(&|mask| mask <= most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_set_is_listed_by_its_size() {
        for rows in [1, 6, 11] {
            let sets = SetsBySize::new(rows);
            let mut all: Vec<u32> = Vec::new();
            for size in 0..=rows as usize {
                let masks = &sets.masks()[sets.of_size(size)];
                assert!(masks.is_sorted() && masks.iter().all(|mask| mask.count_ones() as usize == size));
                all.extend(masks);
            }
            all.sort_unstable();
            assert!(all.into_iter().eq(0..1 << rows));
        }
        let sets = SetsBySize::new(8);
        let expected: Vec<u32> =
            (0b1010_0000..=0b1011_1111u32).filter(|mask| mask.count_ones() == 4).collect();
        assert_eq!(sets.masks()[sets.between(4, 0b1010_0000, 0b1011_1111)], expected);
    }
}
