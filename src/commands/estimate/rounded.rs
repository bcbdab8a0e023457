//! Figures that are no more precise than their error.

use dashboard::words::grouped;

/// The relative error of a number whose error is unknown, for its figures.
const UNKNOWN_ERROR: f64 = 0.1;

/// The least relative error: no number has more than four figures.
const LEAST_ERROR: f64 = 0.001;

/// The number up to the first figure of its error: `190`, `1,230`, `0.58`.
pub fn rounded(number: f64, error: Option<f64>) -> String {
    if number <= 0.0 || !number.is_finite() {
        return "0".into();
    }
    let error = number * error.unwrap_or(UNKNOWN_ERROR).clamp(LEAST_ERROR, 1.0);
    let power = error.log10().floor() as i32;
    let last = 10f64.powi(power);
    let number = (number / last).round() * last;
    if number >= 1000.0 {
        return grouped(number as u128);
    }
    let decimals = (-power).max(0) as usize;
    format!("{number:.decimals$}")
}

/// The error as text: `± 9 %`.
pub fn error_text(error: Option<f64>) -> String {
    let percent = |error: f64| {
        let percent = 100.0 * error;
        if percent < 0.95 { format!("± {percent:.1} %") } else { format!("± {percent:.0} %") }
    };
    error.map_or_else(|| "error unknown".to_owned(), percent)
}

/// A time of a wall clock in the unit that fits it: `40 days`.
pub fn time(seconds: f64, error: Option<f64>) -> String {
    let (unit, name) = match seconds {
        ..120.0 => (1.0, "seconds"),
        ..7_200.0 => (60.0, "minutes"),
        ..172_800.0 => (3_600.0, "hours"),
        ..63_115_200.0 => (86_400.0, "days"),
        _ => (31_557_600.0, "years"),
    };
    format!("{} {name}", rounded(seconds / unit, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_figures_that_their_error_leaves() {
        let cases = [
            (186.05, Some(0.088), "190"),
            (186.05, Some(0.012), "186"),
            (186.05, Some(0.23), "190"),
            (186.05, None, "190"),
            (0.5849, Some(0.05), "0.58"),
            (23_456.0, Some(0.09), "23,000"),
            (9.96, Some(0.09), "10.0"),
            (1.234_567, Some(0.0), "1.235"),
            (0.0, Some(0.1), "0"),
        ];
        for (number, error, text) in cases {
            assert_eq!(rounded(number, error), text, "{number} {error:?}");
        }
        assert_eq!([Some(0.088), Some(0.0042), None].map(error_text), ["± 9 %", "± 0.4 %", "error unknown"]);
        assert_eq!(time(3_500_000.0, Some(0.09)), "41 days");
        assert_eq!(time(90.0, Some(0.09)), "90 seconds");
    }
}
