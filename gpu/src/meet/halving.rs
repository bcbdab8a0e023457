//! The work on one cut: the order in which lists are made, and the steps if they do not fit.

use std::ops::Range;
use std::time::{Duration, Instant};

use queens::kernel::meet::Cut;
use queens::kernel::{Count, Stop};

use super::geometry::Geometry;
use super::lane::MeetLane;
use super::lists::{ListKind, NewColumn};
use super::shape::MeetShape;
use crate::error::GpuError;
use crate::session::{LAUNCH, Session};

/// Why the work on a cut, or a pass of it, ended early.
enum CutShort {
    /// The count was stopped.
    Stopped,
    /// The lists do not fit the device's memory.
    TooLong,
    /// The device has failed.
    Failed(GpuError),
}

impl From<GpuError> for CutShort {
    fn from(error: GpuError) -> Self {
        Self::Failed(error)
    }
}

/// On which side some rows are used: the last ones, the highest bits of a set.
#[derive(Clone, Copy, Debug)]
struct Sides {
    /// How many rows.
    fixed: u32,
    /// The fixed rows on the left, bit 0 for the first fixed row.
    left: u32,
}

/// The next batch size after a batch of `sets` sets, at batch size `batch`, took `taken`. A short last batch
/// does not make the size smaller.
fn next_batch(batch: usize, sets: usize, taken: Duration) -> usize {
    let factor = LAUNCH.as_secs_f64() / taken.as_secs_f64().max(1e-6);
    let next = (sets as f64 * factor.clamp(0.1, 2.0)) as usize + 1;
    if factor < 1.0 { next } else { next.max(batch) }
}

/// The work on one cut.
pub struct Halving<'a> {
    session: &'a Session,
    shape: &'a MeetShape,
    lane: &'a mut MeetLane,
    geometry: Geometry,
    forced: Sides,
    stop: &'a Stop,
}

impl<'a> Halving<'a> {
    /// Work to be done on a cut.
    pub fn new(
        session: &'a Session,
        shape: &'a MeetShape,
        lane: &'a mut MeetLane,
        cut: &Cut,
        stop: &'a Stop,
    ) -> Self {
        let forced = Sides { fixed: cut.forced, left: cut.forced_left };
        Self { session, shape, lane, geometry: Geometry::of(cut), forced, stop }
    }

    /// Counts the pairs of halves that fit, and the halves; `None` if stopped.
    pub fn count(mut self) -> Result<Option<Count>, GpuError> {
        self.lane.begin(self.session, self.shape, &self.geometry)?;
        match self.pass(self.forced) {
            Ok(()) => {}
            Err(CutShort::Stopped) => return Ok(None),
            Err(CutShort::TooLong) => return Err(self.too_little()),
            Err(CutShort::Failed(error)) => return Err(error),
        }
        let found = self.lane.found(self.session, self.shape)?;
        self.session.sum(found.as_chunks().0.iter().copied()).map(Some)
    }

    /// Whether a list of at most `states` states fits in half of its room. Then the host neither waits for
    /// its size nor checks that it fits, even if the room has shrunk: each list may have a word behind it.
    fn fits_without_check(&self, states: usize, list: ListKind) -> bool {
        states <= self.lane.room(list) / 2
    }

    fn too_little(&self) -> GpuError {
        GpuError::TooSmall {
            device: self.session.device().title(),
            mebibytes: (self.shape.most >> 17) as u64,
        }
    }

    fn pass(&mut self, sides: Sides) -> Result<(), CutShort> {
        if self.stop.is_stopped() {
            return Err(CutShort::Stopped);
        }
        if !self.fits(sides) {
            return Ok(());
        }
        self.lane.reset_cursors(self.session)?;
        let made = self.lists(0, sides).and_then(|left| Ok([left, self.lists(1, sides)?]));
        match made {
            Err(CutShort::TooLong) if sides.fixed < self.geometry.rows => {
                for choice in 0..2 {
                    self.pass(Sides { fixed: sides.fixed + 1, left: sides.left << 1 | choice })?;
                }
                Ok(())
            }
            made => self.join(sides, made?),
        }
    }

    /// Whether the fixed rows are not more than each half has columns.
    fn fits(&self, Sides { fixed, left }: Sides) -> bool {
        let [on_left, on_right] = [left.count_ones(), fixed - left.count_ones()];
        on_left as usize <= self.geometry.columns(0) && on_right as usize <= self.geometry.columns(1)
    }

    /// How a column is added to the lists of a half.
    fn column(&self, side: usize, number: usize, Sides { fixed, left }: Sides) -> NewColumn {
        let Geometry { rows, meeting, .. } = self.geometry;
        let mask = |bits: u32| (u64::from(bits) << (rows - fixed)) as u32;
        let fixed = mask((1 << fixed) - 1);
        let here = if side == 0 { mask(left) } else { fixed & !mask(left) };
        let missing = self.geometry.columns(side) - 1 - number;
        // Lists alternate between two places. The start is chosen so that the last but one are in their final place.
        let place = |missing: usize| match missing {
            0 => ListKind::Complete(side),
            odd if odd % 2 == 1 => ListKind::Last(side),
            _ => ListKind::Passing,
        };
        NewColumn {
            side,
            number,
            flip: if side == 1 && missing == 0 { (1 << rows) - 1 } else { 0 },
            fixed,
            here,
            lacking: missing as u32,
            keep: if missing == 0 { meeting } else { u64::MAX },
            from: if number == 0 { ListKind::Nothing } else { place(missing + 1) },
            to: place(missing),
        }
    }

    /// Makes the lists of a half with one column missing; returns how many states they have at most.
    fn lists(&mut self, side: usize, sides: Sides) -> Result<usize, CutShort> {
        let mut states = 1;
        for number in 0..self.geometry.columns(side) - 1 {
            // Each state is tested for each row that it does not use.
            let most = states * (self.geometry.rows as usize - number);
            let column = self.column(side, number, sides);
            states = if self.fits_without_check(most, column.to) {
                self.grow(&column).map(|()| most)?
            } else {
                self.grow_and_check(&column, most)?
            };
        }
        Ok(states)
    }

    fn grow(&mut self, column: &NewColumn) -> Result<(), GpuError> {
        let sets = self.lane.sets(self.geometry.rows).of_size(column.number + 1);
        self.lane.grow(self.session, self.shape, &self.geometry, sets, column)
    }

    /// Like `grow`, with at most `most` states and more room for lists if they need it. Returns the number of
    /// their states.
    fn grow_and_check(&mut self, column: &NewColumn, most: usize) -> Result<usize, CutShort> {
        loop {
            let made = self.grow_in_batches(column, most)?;
            if made <= self.lane.room(column.to) {
                return Ok(made);
            }
            if !self.lane.enlarge(self.session, column.to, self.shape.most)? {
                return Err(CutShort::TooLong);
            }
            self.lane.reset_cursors(self.session)?;
        }
    }

    /// Like `grow`, in batches of sets that take the time of a launch, but at least one set for each group.
    /// Returns the number of states in the lists: more than there is room for if they do not fit.
    fn grow_in_batches(&mut self, column: &NewColumn, most: usize) -> Result<usize, CutShort> {
        let mut sets = self.lane.sets(self.geometry.rows).of_size(column.number + 1);
        let all = sets.len();
        loop {
            let end = sets.end.min(sets.start + self.lane.batches.grow);
            let begun = Instant::now();
            let batch = sets.start..end;
            self.lane.grow(self.session, self.shape, &self.geometry, batch, column)?;
            self.session.settle(&self.lane.queue)?;
            if self.stop.is_stopped() {
                return Err(CutShort::Stopped);
            }
            // With fewer sets than groups a launch takes as long as the longest list, however few they are.
            let next = next_batch(self.lane.batches.grow, end - sets.start, begun.elapsed());
            self.lane.batches.grow = next.max(self.shape.grow_groups);
            let [made] = self.lane.made(self.session, [[column.side, column.number, most]], all)?;
            sets.start = end;
            if sets.is_empty() || made > self.lane.room(column.to) {
                return Ok(made);
            }
        }
    }

    /// Joins the halves of all row sets that agree with the fixed rows. The lists with one column missing
    /// have at most `states` states.
    fn join(&mut self, sides: Sides, states: [usize; 2]) -> Result<(), CutShort> {
        let Geometry { rows, .. } = self.geometry;
        let last = [0, 1].map(|side| self.geometry.columns(side) - 1);
        let columns = [0, 1].map(|side| self.column(side, last[side], sides));
        let free = rows - sides.fixed;
        let least = (u64::from(sides.left) << free) as u32;
        let all = self.lane.sets(rows).between(last[0] + 1, least, least | ((1u64 << free) - 1) as u32);
        let most = [0, 1].map(|side| states[side] * (rows as usize - last[side]));
        if [0, 1].iter().all(|side| self.fits_without_check(most[*side], ListKind::Complete(*side))) {
            return self.batch(all, &columns);
        }
        let mut first = all.start;
        while first < all.end {
            let end = all.end.min(first + self.lane.batches.join);
            let begun = Instant::now();
            self.lane.reset_cursors(self.session)?;
            self.batch(first..end, &columns)?;
            let halves = [0, 1].map(|side| [side, last[side], most[side]]);
            let made = self.lane.made(self.session, halves, end - first)?;
            let long = [0, 1].map(|side| made[side] > self.lane.room(ListKind::Complete(side)));
            if long != [false; 2] {
                self.make_room(end - first, long)?;
                continue;
            }
            self.lane.batches.join = next_batch(self.lane.batches.join, end - first, begun.elapsed());
            first = end;
        }
        Ok(())
    }

    /// Grows the last column of both halves for these sets, and joins them.
    fn batch(&mut self, sets: Range<usize>, columns: &[NewColumn; 2]) -> Result<(), CutShort> {
        if sets.is_empty() {
            return Ok(());
        }
        if self.stop.is_stopped() {
            return Err(CutShort::Stopped);
        }
        for column in columns {
            self.lane.grow(self.session, self.shape, &self.geometry, sets.clone(), column)?;
        }
        self.lane.join(self.session, self.shape, &self.geometry, sets)?;
        Ok(self.session.settle(&self.lane.queue)?)
    }

    /// Takes fewer sets at a time, as long as all groups have one of their own; then makes room for complete halves.
    fn make_room(&mut self, sets: usize, long: [bool; 2]) -> Result<(), CutShort> {
        if sets > 2 * self.shape.groups {
            self.lane.batches.join = sets / 2;
            return Ok(());
        }
        let mut more = true;
        for side in [0, 1].into_iter().filter(|side| long[*side]) {
            more &= self.lane.enlarge(self.session, ListKind::Complete(side), self.shape.most)?;
        }
        self.lane.batches.join = if more { sets } else { sets / 2 };
        if self.lane.batches.join == 0 { Err(CutShort::Failed(self.too_little())) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batch_size_follows_launch_time() {
        assert_eq!(next_batch(100, 100, LAUNCH), 101);
        assert_eq!(next_batch(100, 100, LAUNCH * 2), 51);
        assert_eq!(next_batch(100, 100, LAUNCH * 1000), 11);
        assert_eq!(next_batch(100, 100, LAUNCH / 1000), 201);
        assert_eq!(next_batch(100, 3, LAUNCH / 1000), 100);
        assert_eq!(next_batch(100, 3, LAUNCH * 2), 2);
    }
}
