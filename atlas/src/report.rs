//! A study as tables for people and as CSV for programs.

use std::fmt::Debug;

use crate::study::{DETERMINISTIC_PATIENCE, Mean, PATIENCE, Restarts, SizeStudy, Work, random_rows};

/// The header of the first table: the lengths of the searches. Each table fits 80 columns.
pub fn lengths_header() -> String {
    let title = format!("{:>14} | at random", "first");
    let columns = format!(
        "{:>3} {:>10} |{:>5} {:>6} {:>6} {:>7} {:>7} {:>9} {:>9} {:>7}",
        "n", "smallest", "5%", "25%", "median", "75%", "95%", "longest", "mean", "+-"
    );
    format!("{title}\n{columns}")
}

/// One board's line of it. Numbers of runs that were broken off are written as `-`.
pub fn lengths_row(study: &SizeStudy) -> String {
    let whole = |number: Option<u64>| number.map_or("-".to_owned(), |number| number.to_string());
    let quantile = |q| whole(study.lengths.quantile(q));
    let mean = study.lengths.mean();
    format!(
        "{:>3} {:>10} |{:>5} {:>6} {:>6} {:>7} {:>7} {:>9} {:>9.1} {:>7}",
        study.n,
        whole(study.deterministic),
        quantile(0.05),
        quantile(0.25),
        quantile(0.5),
        quantile(0.75),
        quantile(0.95),
        quantile(1.0),
        mean.value,
        number(mean.error, 1),
    )
}

/// The header of the tables of restarts, after the requested limit or after the best one.
pub fn restarts_header(limit: &str) -> String {
    let title = format!("Restarts after {limit}");
    let columns = format!(
        "{:>3} |{:>6} {:>6} |{:>8} {:>5} {:>8} {:>5} |{:>8} {:>8} {:>6}",
        "n", "limit", "chance", "attempts", "+-", "measured", "+-", "work", "measured", "+-"
    );
    format!("{title}\n{columns}")
}

/// One board's line of such a table. An unknown value is written as `-`.
pub fn restarts_row(n: u8, restarts: &Restarts) -> String {
    let mean = |mean: Mean| format!("{:>8} {:>5}", number(Some(mean.value), 2), number(mean.error, 2));
    format!(
        "{n:>3} |{:>6} {:>6.3} |{} {} |{:>8} {:>8.1} {:>6}",
        restarts.limit,
        restarts.chance.value,
        mean(restarts.expected_attempts),
        mean(restarts.attempts),
        number(Some(restarts.expected), 1),
        restarts.measured.value,
        number(restarts.measured.error, 1),
    )
}

/// The header of the table of other methods.
pub fn methods_header() -> String {
    let title = format!("{:>28} | min-conflicts", "random first rows");
    let columns = format!(
        "{:>3} |{:>5} {:>9} {:>7} {:>8} {:>6} |{:>8} {:>6} {:>8} {:>6}",
        "n", "rows", "work", "+-", "attempts", "+-", "work", "+-", "attempts", "+-"
    );
    format!("{title}\n{columns}")
}

/// One board's line of it.
pub fn methods_row(study: &SizeStudy) -> String {
    let Work { placements, attempts } = study.first_rows;
    let first_rows = format!(
        "{:>5} {:>9.1} {:>7} {:>8.2} {:>6}",
        random_rows(study.n),
        placements.value,
        number(placements.error, 1),
        attempts.value,
        number(attempts.error, 2),
    );
    let Work { placements, attempts } = study.min_conflicts;
    let min_conflicts = format!(
        "{:>8.1} {:>6} {:>8.2} {:>6}",
        placements.value,
        number(placements.error, 1),
        attempts.value,
        number(attempts.error, 2),
    );
    format!("{:>3} |{first_rows} |{min_conflicts}", study.n)
}

/// The header of the last table: the gain of the best restarts, and how heavy the tail is that they cut off.
pub fn tail_header() -> String {
    format!("{:>3} |{:>6} |{:>9} {:>6} {:>5}", "n", "gain", "tail", "index", "+-")
}

/// One board's line of it.
pub fn tail_row(study: &SizeStudy) -> String {
    let tail = study.lengths.tail();
    format!(
        "{:>3} |{:>6.2} |{:>9} {:>6} {:>5}",
        study.n,
        study.gain(),
        number(tail.map(|tail| tail.from as f64), 0),
        number(tail.map(|tail| tail.index), 2),
        number(tail.map(|tail| tail.error), 2),
    )
}

/// The law behind the tables of restarts.
pub const LAW: &str = "\
By the geometric law 1 / chance attempts are to be expected, where chance is the
share of the random runs within the limit.";

/// The methods of the table of other methods.
pub const METHODS: &str = "\
Two other methods, with restarts after the same limit as in the first such
table: random columns in the first rows only, and min-conflicts, which moves
attacked queens.";

/// The law behind the last table.
pub const TAIL: &str = "\
Longer runs become rarer like their length to the power of minus the index (by
Hill, of the longest tenth). Gain: by the best restarts, over none.";

/// A number with this many digits behind the point, or `-` if it is missing.
fn number(value: Option<f64>, digits: usize) -> String {
    let known = value.filter(|value| value.is_finite());
    known.map_or("-".to_owned(), |value| format!("{value:.digits$}"))
}

/// The reasons for dashes in these rows, if there are any.
pub fn legend(studies: &[SizeStudy]) -> Option<String> {
    let sizes = |is_so: fn(&SizeStudy) -> bool| {
        let those = studies.iter().filter(|study| is_so(study)).map(|study| study.n.to_string());
        those.collect::<Vec<_>>().join(", ")
    };
    let reasons = [
        (
            format!("The search smallest first was broken off after {DETERMINISTIC_PATIENCE} placements"),
            sizes(|study| study.deterministic.is_none()),
        ),
        (
            format!("Random runs were broken off after {PATIENCE} placements, the mean is more"),
            sizes(|study| study.lengths.broken_off > 0),
        ),
        ("A single random run tells no standard error".to_owned(), sizes(|study| study.lengths.runs() == 1)),
        (
            "No random run stayed within the limit, nothing is to be expected".to_owned(),
            sizes(|study| study.asked.chance.value <= 0.0),
        ),
        (
            "The longest tenth has fewer than ten ended runs, or equal ones".to_owned(),
            sizes(|study| study.lengths.tail().is_none()),
        ),
    ];
    let told = reasons.iter().filter(|(_, sizes)| !sizes.is_empty());
    let lines: Vec<String> = told.map(|(reason, sizes)| format!("{reason}: n = {sizes}")).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// A number as a field of the CSV, empty if broken-off runs or too few runs leave it unknown.
fn field(number: Option<impl Debug>) -> String {
    number.map_or_else(String::new, |number| format!("{number:?}"))
}

/// A mean as a field of the CSV, empty if no run lets expect anything.
fn finite(mean: f64) -> String {
    field(Some(mean).filter(|mean| mean.is_finite()))
}

/// One board's record: the columns with their fields.
fn record(study: &SizeStudy) -> [(&'static str, String); 41] {
    let quantile = |q| field(study.lengths.quantile(q));
    let (mean, tail) = (study.lengths.mean(), study.lengths.tail());
    let (asked, best) = (study.asked, study.best);
    let (first_rows, min_conflicts) = (study.first_rows, study.min_conflicts);
    [
        ("n", field(Some(study.n))),
        ("smallest_first", field(study.deterministic)),
        ("runs", field(Some(study.lengths.runs()))),
        ("broken_off", field(Some(study.lengths.broken_off))),
        ("quantile_05", quantile(0.05)),
        ("quantile_25", quantile(0.25)),
        ("median", quantile(0.5)),
        ("quantile_75", quantile(0.75)),
        ("quantile_95", quantile(0.95)),
        ("longest", quantile(1.0)),
        ("mean", field(Some(mean.value))),
        ("mean_error", field(mean.error)),
        ("limit", field(Some(asked.limit))),
        ("limit_expected", finite(asked.expected)),
        ("limit_measured", field(Some(asked.measured.value))),
        ("limit_error", field(asked.measured.error)),
        ("best_limit", field(Some(best.limit))),
        ("best_expected", finite(best.expected)),
        ("best_measured", field(Some(best.measured.value))),
        ("best_error", field(best.measured.error)),
        ("gain", field(Some(study.gain()))),
        ("limit_chance", field(Some(asked.chance.value))),
        ("limit_attempts_expected", finite(asked.expected_attempts.value)),
        ("limit_attempts_measured", field(Some(asked.attempts.value))),
        ("limit_attempts_error", field(asked.attempts.error)),
        ("best_chance", field(Some(best.chance.value))),
        ("best_attempts_expected", finite(best.expected_attempts.value)),
        ("best_attempts_measured", field(Some(best.attempts.value))),
        ("best_attempts_error", field(best.attempts.error)),
        ("tail_from", field(tail.map(|tail| tail.from))),
        ("tail_index", field(tail.map(|tail| tail.index))),
        ("tail_error", field(tail.map(|tail| tail.error))),
        ("first_rows", field(Some(random_rows(study.n)))),
        ("first_rows_measured", field(Some(first_rows.placements.value))),
        ("first_rows_error", field(first_rows.placements.error)),
        ("first_rows_attempts", field(Some(first_rows.attempts.value))),
        ("first_rows_attempts_error", field(first_rows.attempts.error)),
        ("min_conflicts_measured", field(Some(min_conflicts.placements.value))),
        ("min_conflicts_error", field(min_conflicts.placements.error)),
        ("min_conflicts_attempts", field(Some(min_conflicts.attempts.value))),
        ("min_conflicts_attempts_error", field(min_conflicts.attempts.error)),
    ]
}

/// The studies as CSV, with a header.
///
/// # Errors
/// An error of the CSV writer, which cannot occur in memory.
pub fn csv(studies: &[SizeStudy]) -> Result<String, csv::Error> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for (index, record) in studies.iter().map(record).enumerate() {
        if index == 0 {
            writer.write_record(record.iter().map(|(name, _)| name))?;
        }
        writer.write_record(record.iter().map(|(_, field)| field))?;
    }
    let bytes = writer.into_inner().map_err(csv::IntoInnerError::into_error)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The random runs of the studies as CSV, one a line, the shortest first; a run that was broken off has no placements.
pub fn runs_csv(studies: &[SizeStudy]) -> String {
    let mut text = "n,placements\n".to_owned();
    for study in studies {
        let broken_off = std::iter::repeat_n(String::new(), study.lengths.broken_off);
        for length in study.lengths.found.iter().map(u64::to_string).chain(broken_off) {
            text += &format!("{},{length}\n", study.n);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::{Lengths, StudySpec};

    #[test]
    fn table_and_csv_rows_have_the_fields_of_the_header() {
        let spec = StudySpec { sizes: 8..=12, runs: 100, seed: 1, limit: None };
        let studies: Vec<_> = spec.studies().unwrap().collect();
        let bars = |line: &str| line.match_indices('|').map(|(at, _)| at).collect::<Vec<_>>();
        let below = |header: String, row: &dyn Fn(&SizeStudy) -> String| {
            let columns = header.lines().last().unwrap().to_owned();
            for line in studies.iter().map(row).chain([columns.clone()]) {
                assert!(bars(&line) == bars(&columns) && line.len() <= 80, "{line}");
            }
        };
        below(lengths_header(), &lengths_row);
        below(restarts_header("the limit"), &|study| restarts_row(study.n, &study.asked));
        below(methods_header(), &methods_row);
        below(tail_header(), &tail_row);
        let csv = csv(&studies).unwrap();
        let fields: Vec<_> = csv.lines().map(|line| line.split(',').count()).collect();
        assert_eq!(fields, [41; 6]);
        assert!(csv.lines().nth(1).unwrap().starts_with("8,113,100,0,"));
        assert_eq!(legend(&studies), None);
        assert_eq!(runs_csv(&studies).lines().count(), 1 + 5 * 100);
    }

    #[test]
    fn empty_table_cells_have_a_reason() {
        let legend_of = |n, runs| {
            let spec = StudySpec { sizes: n..=n, runs, seed: 1, limit: Some(100_000) };
            legend(&spec.studies().unwrap().collect::<Vec<_>>()).unwrap_or_default()
        };
        let tail = "The longest tenth has fewer than ten ended runs, or equal ones: n = 8";
        assert_eq!(legend_of(8, 99), tail);
        assert_eq!(legend_of(8, 100), "");
        let single = format!("A single random run tells no standard error: n = 8\n{tail}");
        assert_eq!(legend_of(8, 1), single);
        let short = Lengths { found: vec![900, 1_000], broken_off: 0 };
        let spec = StudySpec { sizes: 8..=8, runs: 2, seed: 1, limit: Some(8) };
        let mut study = spec.studies().unwrap().next().unwrap();
        study.asked.chance = short.chance(8);
        let nothing = "No random run stayed within the limit, nothing is to be expected: n = 8";
        assert_eq!(legend(&[study]).unwrap(), format!("{nothing}\n{tail}"));
    }

    #[test]
    fn broken_off_runs_are_named() {
        let spec = StudySpec { sizes: 8..=9, runs: 100, seed: 1, limit: None };
        let mut studies: Vec<_> = spec.studies().unwrap().collect();
        studies[1].deterministic = None;
        let expected = "The search smallest first was broken off after 100000000 placements: n = 9";
        assert_eq!(legend(&studies).unwrap(), expected);
        studies[0].lengths = Lengths { found: vec![8], broken_off: 1 };
        assert!(legend(&studies).unwrap().contains("the mean is more: n = 8\n"));
        assert!(runs_csv(&studies).starts_with("n,placements\n8,8\n8,\n9,"));
        studies[0].asked.chance.value = 0.0;
        studies[0].asked.expected_attempts = Mean { value: f64::INFINITY, error: Some(f64::NAN) };
        assert!(restarts_row(8, &studies[0].asked).starts_with("  8 |    40  0.000 |       -     - "));
        studies[0].asked.expected = f64::INFINITY;
        let told = csv(&studies).unwrap();
        assert!(!told.contains("inf") && told.lines().nth(1).unwrap().contains(",40,,"), "{told}");
    }
}
