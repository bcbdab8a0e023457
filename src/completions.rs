//! Counts the completions of positions one by one, on all threads.
//!
//! Of many positions each thread counts one at a time. Few positions are divided among the threads, by the squares of the next queens.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use queens::kernel::meet::with_next_queen;
use queens::kernel::{Kernel, Method, Stop};
use queens::{Board, Position};

use crate::output::span;
use crate::progress::ProgressLine;

/// With fewer positions than this for each thread, positions are divided.
const FEW: usize = 16;

/// The parts of a divided position for each thread. They take unequal times.
const PARTS: usize = 16;

/// A part with no more rows than this to fill is not divided further.
const LEAST_ROWS: usize = 12;

/// The counts that may wait for earlier ones to be printed. Then the threads wait, too.
const WAITING_COUNTS: usize = 1 << 12;

/// The largest board whose single constellations the search counts faster than halves that meet: measured.
const LARGEST_FOR_SEARCH: u8 = 18;

/// The method that counts single constellations best. For families, halves that meet are better on smaller boards already.
pub fn best_method(board: Board) -> Method {
    if board.n() <= LARGEST_FOR_SEARCH { Method::Search } else { Method::Meet }
}

/// The means to count completions.
pub struct CompletionCounter<'a> {
    pub kernel: &'a dyn Kernel,
    pub threads: u32,
    /// Whether stderr shows the progress.
    pub shows_progress: bool,
}

/// A position to count, or a part of one.
struct Part {
    position: Position,
    /// The number of the position that it is a part of.
    number: usize,
    /// How many parts that position has.
    parts: usize,
}

/// The count of a part.
struct PartCount {
    completions: u64,
    number: usize,
    parts: usize,
}

impl CompletionCounter<'_> {
    /// Counts `total` positions. Calls `found` with the completions of each, in the order of the positions.
    ///
    /// # Errors
    /// The system gives no threads, or `found` fails.
    pub fn count(
        &self,
        positions: impl Iterator<Item = Position> + Send,
        total: usize,
        found: impl FnMut(u128) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let threads = self.threads as usize;
        let wanted = if total < threads * FEW { threads * PARTS } else { 1 };
        let queue = Mutex::new(positions.enumerate().flat_map(|(number, position)| {
            let positions = divided(position, wanted);
            let parts = positions.len();
            positions.into_iter().map(move |position| Part { position, number, parts })
        }));
        let stop = Stop::new();
        let count_next = || {
            let Part { position, number, parts } = queue.lock().next()?;
            let count = self.kernel.count(&position, &stop)?;
            Some(PartCount { completions: count.completions, number, parts })
        };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
        pool.in_place_scope(|scope| {
            let (sender, counts) = sync_channel(WAITING_COUNTS);
            for _ in 0..threads {
                let (sender, count_next) = (sender.clone(), &count_next);
                scope.spawn(move |_| while count_next().is_some_and(|count| sender.send(count).is_ok()) {});
            }
            drop(sender);
            self.collect(counts, total, found).inspect_err(|_| stop.stop())
        })
    }

    /// Adds up the parts, and passes on each sum after those of earlier positions.
    fn collect(
        &self,
        counts: Receiver<PartCount>,
        total: usize,
        mut found: impl FnMut(u128) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let (begun, mut done, mut next) = (Instant::now(), 0.0, 0);
        let mut line = self.shows_progress.then(ProgressLine::new);
        // For each position the parts that are left, and the sum of the others.
        let mut sums: BTreeMap<usize, (usize, u128)> = BTreeMap::new();
        line.iter_mut().for_each(|line| line.show(|| describe(done, next, total, begun.elapsed())));
        for PartCount { completions, number, parts } in counts {
            let (left, sum) = sums.entry(number).or_insert((parts, 0));
            *left -= 1;
            *sum += u128::from(completions);
            done += 1.0 / parts as f64;
            while let Some(first) =
                sums.first_entry().filter(|first| *first.key() == next && first.get().0 == 0)
            {
                line.iter_mut().for_each(ProgressLine::clear);
                found(first.remove().1)?;
                next += 1;
            }
            line.iter_mut().for_each(|line| line.show(|| describe(done, next, total, begun.elapsed())));
        }
        Ok(())
    }
}

/// The progress after counting `done` of the positions, `whole` of them completely.
fn describe(done: f64, whole: usize, total: usize, elapsed: Duration) -> String {
    let share = done / total.max(1) as f64;
    // Before the first part is counted, nobody knows.
    let left = Duration::try_from_secs_f64(elapsed.as_secs_f64() * (1.0 / share - 1.0));
    let left = left.map(|left| format!(", about {} left", span(left))).unwrap_or_default();
    format!("{:.2} %, {whole}/{total} counted{left}", 100.0 * share)
}

/// The position, or at least so many parts with the same completions together. Small positions have fewer parts.
fn divided(position: Position, wanted: usize) -> Vec<Position> {
    let is_large = |part: &Position| usize::from(part.board().n()) > LEAST_ROWS + part.queens().len();
    let can_be_divided = position.is_consistent();
    let mut parts = vec![position];
    while can_be_divided && parts.len() < wanted && parts.iter().all(is_large) {
        let narrower: Vec<Position> = parts.iter().flat_map(with_next_queen).collect();
        if narrower.is_empty() {
            break;
        }
        parts = narrower;
    }
    parts
}

#[cfg(test)]
mod tests {
    use queens::Square;
    use queens::kernel::kernel;

    use super::*;

    /// The completions of the board with each queen of the first row.
    fn of_first_row(n: u8, method: Method, threads: u32) -> Vec<u128> {
        let board = Board::new(n).unwrap();
        let kernel = kernel(method, None).unwrap();
        let counter = CompletionCounter { kernel: &*kernel, threads, shows_progress: false };
        let positions = board.lines().map(|col| Position::empty(board).with_queen(Square::new(0, col)));
        let mut counts = Vec::new();
        let count = counter.count(positions, n.into(), |completions| {
            counts.push(completions);
            Ok(())
        });
        count.map(|()| counts).unwrap()
    }

    #[test]
    fn completions_come_in_order_by_each_method() {
        let expected: Vec<u128> = vec![4, 8, 16, 18, 18, 16, 8, 4];
        for method in Method::ALL {
            assert_eq!(of_first_row(8, method, 1), expected);
            assert_eq!(of_first_row(8, method, 3), expected);
        }
    }

    #[test]
    fn divided_positions_have_the_same_completions() {
        // Fewer positions than threads to count them.
        let divided = of_first_row(14, Method::Meet, 2);
        assert_eq!(divided.iter().sum::<u128>(), 365_596);
        assert_eq!(divided, of_first_row(14, Method::Search, 1));
        let board = Board::new(14).unwrap();
        assert!(super::divided(Position::empty(board), 32).len() >= 14);
        assert_eq!(super::divided(Position::empty(board), 1).len(), 1);
    }

    #[test]
    fn failure_to_print_ends_the_count() {
        let board = Board::new(20).unwrap();
        let kernel = kernel(Method::Search, None).unwrap();
        let counter = CompletionCounter { kernel: &*kernel, threads: 2, shows_progress: false };
        let attacked = Position::empty(board).with_queen(Square::new(0, 0)).with_queen(Square::new(1, 1));
        let positions = [attacked, Position::empty(board)];
        let failed = counter.count(positions.into_iter(), 2, |_| anyhow::bail!("nobody reads"));
        assert_eq!(failed.unwrap_err().to_string(), "nobody reads");
    }

    #[test]
    fn progress_has_share_and_time_left() {
        let minutes = Duration::from_mins(2);
        assert_eq!(describe(0.0, 0, 2, minutes), "0.00 %, 0/2 counted");
        assert_eq!(describe(0.5, 0, 2, minutes), "25.00 %, 0/2 counted, about 6m left");
        assert_eq!(describe(2.0, 2, 2, minutes), "100.00 %, 2/2 counted, about 0.00 s left");
    }
}
