//! A study as a table for people and as CSV for programs.

use serde::Serialize;

use crate::study::{Restarts, SizeStudy};

/// The columns of the table; `row` writes below them.
pub fn header() -> String {
    format!(
        "{:>3} {:>11} |{:>6} {:>6} {:>7} {:>7} {:>8} {:>8} {:>9} |{:>6} {:>8} |{:>6} {:>8} {:>7}",
        "n",
        "smallest",
        "5%",
        "25%",
        "median",
        "75%",
        "95%",
        "longest",
        "mean",
        "limit",
        "mean",
        "best",
        "mean",
        "gain"
    )
}

/// What stands above the header.
pub fn title() -> String {
    format!(
        "{:>15} |{:<57} |{:<15} |{}",
        "first", " at random", " restarts after", " restarts at the best limit"
    )
}

/// One board's line. Numbers of runs that were broken off are written as `-`.
pub fn row(study: &SizeStudy) -> String {
    let number = |number: Option<u64>| number.map_or("-".to_owned(), |number| number.to_string());
    let quantile = |q| number(study.lengths.quantile(q));
    format!(
        "{:>3} {:>11} |{:>6} {:>6} {:>7} {:>7} {:>8} {:>8} {:>9.1} |{:>6} {:>8.1} |{:>6} {:>8.1} {:>7.2}",
        study.n,
        number(study.deterministic),
        quantile(0.05),
        quantile(0.25),
        quantile(0.5),
        quantile(0.75),
        quantile(0.95),
        quantile(1.0),
        study.lengths.mean(),
        study.asked.limit,
        study.asked.measured,
        study.best.limit,
        study.best.measured,
        study.gain(),
    )
}

/// One board's record. Empty fields are of runs that were broken off.
#[derive(Serialize)]
struct CsvRow {
    n: u8,
    smallest_first: Option<u64>,
    runs: usize,
    broken_off: usize,
    quantile_05: Option<u64>,
    quantile_25: Option<u64>,
    median: Option<u64>,
    quantile_75: Option<u64>,
    quantile_95: Option<u64>,
    longest: Option<u64>,
    mean: f64,
    limit: u64,
    limit_expected: f64,
    limit_measured: f64,
    best_limit: u64,
    best_expected: f64,
    best_measured: f64,
    gain: f64,
}

/// The studies as CSV, with a header.
///
/// # Errors
/// What the CSV writer says; it has no cause to in memory.
pub fn csv(studies: &[SizeStudy]) -> Result<String, csv::Error> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for study in studies {
        let quantile = |q| study.lengths.quantile(q);
        let (Restarts { limit, expected, measured }, best) = (study.asked, study.best);
        writer.serialize(CsvRow {
            n: study.n,
            smallest_first: study.deterministic,
            runs: study.lengths.found.len() + study.lengths.broken_off,
            broken_off: study.lengths.broken_off,
            quantile_05: quantile(0.05),
            quantile_25: quantile(0.25),
            median: quantile(0.5),
            quantile_75: quantile(0.75),
            quantile_95: quantile(0.95),
            longest: quantile(1.0),
            mean: study.lengths.mean(),
            limit,
            limit_expected: expected,
            limit_measured: measured,
            best_limit: best.limit,
            best_expected: best.expected,
            best_measured: best.measured,
            gain: study.gain(),
        })?;
    }
    let bytes = writer.into_inner().map_err(csv::IntoInnerError::into_error)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::StudySpec;

    #[test]
    fn every_line_of_the_table_and_of_the_csv_has_the_fields_of_its_header() {
        let spec = StudySpec { sizes: 8..=12, runs: 40, seed: 1, limit: None };
        let studies: Vec<_> = spec.studies().unwrap().collect();
        let bars = |line: &str| line.match_indices('|').map(|(at, _)| at).collect::<Vec<_>>();
        assert_eq!(bars(&title()), bars(&header()));
        assert!(studies.iter().all(|study| bars(&row(study)) == bars(&header())));
        let csv = csv(&studies).unwrap();
        let fields: Vec<_> = csv.lines().map(|line| line.split(',').count()).collect();
        assert_eq!(fields, [18; 6]);
        assert!(csv.lines().nth(1).unwrap().starts_with("8,113,40,0,"));
    }
}
