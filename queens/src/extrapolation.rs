//! The number of solutions by extrapolation of the published ones.
//!
//! Q(n) = (e^-c (1 + o(1)) n)^n with c between 1.944000752 and 1.944001082 (Simkin 2021; Nobel, Agrawal and
//! Boyd 2023), or n! e^-(c - 1)n by Stirling's formula. From n = 15 on the remainder of the
//! logarithm, ln(Q(n) / n!) + (c - 1) n, is a + b / n, with fluctuations of some thousandths. A third term mistakes
//! these for a trend. Fitted up to n = 24, three terms are off by up to 1 % at n = 27, two terms by 0.1 %.

use crate::board::Board;
use crate::known;

/// c - 1, and half the width of its interval.
const DECLINE: f64 = 0.944_000_917;
const DECLINE_ERROR: f64 = 1.65e-7;

/// The first board of the fit, and a later first board, whose fit shows how much that choice matters.
const FIRST: u16 = 15;
const LATER: u16 = 17;

/// The logarithm of a number of solutions, extrapolated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Extrapolation {
    /// The natural logarithm of the number: it may be too large for a float.
    pub ln: f64,
    /// The standard error, relative to the number.
    pub error: f64,
}

/// The extrapolation, from the first board on that the fit takes in.
pub fn extrapolate(n: u16) -> Option<Extrapolation> {
    if n < FIRST {
        return None;
    }
    let (fit, later) = (Fit::from(FIRST), Fit::from(LATER));
    let rest = fit.at(n);
    let ln = rest + ln_factorial(n) - DECLINE * f64::from(n);
    let errors = [fit.error(n), rest - later.at(n), DECLINE_ERROR * f64::from(n)];
    let error = errors.iter().map(|error| error * error).sum::<f64>().sqrt();
    Some(Extrapolation { ln, error })
}

/// A least-squares line through the points (1 / n, remainder of the logarithm).
struct Fit {
    /// The number of points, the mean of each coordinate, and the sum of squares of the first around it.
    points: f64,
    mean: [f64; 2],
    squares: f64,
    slope: f64,
    /// The standard deviation of the points around the line.
    deviation: f64,
}

impl Fit {
    /// Through the points of the boards from `first` on with known numbers.
    fn from(first: u16) -> Self {
        let left = |n: u16| {
            let solutions = known::totals(Board::new(n as u8).ok()?)?.solutions() as f64;
            let rest = solutions.ln() - ln_factorial(n) + DECLINE * f64::from(n);
            Some([1.0 / f64::from(n), rest])
        };
        let all: Vec<[f64; 2]> = (first..).map_while(left).collect();
        let points = all.len() as f64;
        let mean = [0, 1].map(|i| all.iter().map(|point| point[i]).sum::<f64>() / points);
        let sum = |f: &dyn Fn(&[f64; 2]) -> f64| all.iter().map(f).sum::<f64>();
        let squares = sum(&|point| (point[0] - mean[0]).powi(2));
        let slope = sum(&|point| (point[0] - mean[0]) * (point[1] - mean[1])) / squares;
        let around = sum(&|point| (point[1] - mean[1] - slope * (point[0] - mean[0])).powi(2));
        Self { points, mean, squares, slope, deviation: (around / (points - 2.0)).sqrt() }
    }

    fn at(&self, n: u16) -> f64 {
        self.mean[1] + self.slope * (1.0 / f64::from(n) - self.mean[0])
    }

    /// The standard error of a prediction.
    fn error(&self, n: u16) -> f64 {
        let away = (1.0 / f64::from(n) - self.mean[0]).powi(2) / self.squares;
        self.deviation * (1.0 + 1.0 / self.points + away).sqrt()
    }
}

fn ln_factorial(n: u16) -> f64 {
    (2..=n).map(|k| f64::from(k).ln()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_totals_lie_within_the_extrapolated_error() {
        for n in 15..=27 {
            let Extrapolation { ln, error } = extrapolate(n).unwrap();
            let known = known::totals(Board::new(n as u8).unwrap()).unwrap().solutions() as f64;
            let off = (ln.exp() / known - 1.0).abs();
            assert!(off < 3.0 * error && error < 0.03, "n = {n}: {off} of {error}");
        }
    }

    #[test]
    fn next_total_matches_published_extrapolation() {
        let Extrapolation { ln, error } = extrapolate(28).unwrap();
        assert!((ln.exp() / 2.561e18 - 1.0).abs() < 0.005, "{}", ln.exp());
        assert!(error < 0.02);
    }

    #[test]
    fn boards_of_a_thousand_rows_are_near_the_limit() {
        // (e^-1.944 n)^n.
        let simkin = 1000.0 * (1000f64.ln() - 1.944);
        assert!((extrapolate(1000).unwrap().ln / simkin - 1.0).abs() < 0.002);
    }
}
