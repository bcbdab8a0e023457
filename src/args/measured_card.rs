//! Graphics cards whose speed docs/gpu.md has, for estimates without such a card.

use queens::Board;

/// A card that was measured.
#[derive(Debug, PartialEq)]
pub struct MeasuredCard {
    /// Its name.
    pub name: &'static str,
    /// For each board: n, nanoseconds a solution by the better method, and the relative standard error.
    speeds: &'static [(u8, f64, f64)],
}

/// All of them. The source is the table in docs/gpu.md, "Speed". A range there stands here as its middle with the larger error.
pub const MEASURED: &[MeasuredCard] = &[MeasuredCard {
    name: "H200",
    speeds: &[
        (20, 0.23, 0.06),
        (21, 0.26, 0.01),
        (22, 0.18, 0.04),
        (23, 0.16, 0.08),
        (24, 0.14, 0.04),
        (25, 0.14, 0.11),
        (26, 0.13, 0.10),
        (27, 0.115, 0.24),
        (28, 0.06, 0.20),
    ],
}];

impl MeasuredCard {
    /// The card of that name, in small or capital letters.
    pub fn named(name: &str) -> Option<&'static Self> {
        MEASURED.iter().find(|card| card.name.eq_ignore_ascii_case(name))
    }

    /// The seconds of one card for a board with so many solutions, and their relative standard error; none for a board
    /// that was not measured.
    pub fn seconds(&self, board: Board, solutions: f64) -> Option<(f64, f64)> {
        let (_, nanoseconds, error) = self.speeds.iter().find(|(n, ..)| *n == board.n())?;
        Some((solutions / 8.0 * nanoseconds / 1e9, *error))
    }

    /// The measured boards in words: `20 to 28`.
    pub fn boards(&self) -> String {
        let boards = self.speeds.iter().map(|(n, ..)| *n);
        let (first, last) = (boards.clone().min().unwrap_or(0), boards.max().unwrap_or(0));
        format!("{first} to {last}")
    }
}

#[cfg(test)]
mod tests {
    use queens::known;

    use super::*;

    #[test]
    fn table_gives_the_times_of_the_book() {
        let h200 = MeasuredCard::named("h200").unwrap();
        assert!(MeasuredCard::named("H201").is_none());
        let days = |n: u8| {
            let board = Board::new(n).unwrap();
            let solutions = known::totals(board).map_or(2.56e18, |totals| totals.solutions() as f64);
            h200.seconds(board, solutions).map(|(seconds, _)| seconds / 86_400.0)
        };
        // docs/gpu.md: 1.1 s, 39 days, 6 to 9 months.
        assert!((days(20).unwrap() * 86_400.0 - 1.1).abs() < 0.05);
        assert!((days(27).unwrap() - 39.0).abs() < 1.0);
        assert!((180.0..275.0).contains(&days(28).unwrap()));
        assert_eq!((days(19), h200.boards()), (None, "20 to 28".to_owned()));
    }
}
