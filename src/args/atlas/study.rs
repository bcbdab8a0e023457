//! The arguments of `diadem atlas study`.

use std::ops::RangeInclusive;
use std::path::PathBuf;

use atlas::study::StudySpec;
use clap::Args;

use super::sizes::sizes;
use super::wrong::WrongAtlasCommand;
use crate::args::value::whole;

/// Measure the search for a first solution.
///
/// Counts the placements tried: smallest first, at random, with restarts, with random first rows alone, and by
/// min-conflicts.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  diadem atlas study 8..30
      a table, 1000 random runs for each board
  diadem atlas study 8..30 --csv study.csv --plots .
      and study.csv, placements.svg, placements.png, histograms.svg, ...
  diadem atlas study 40 --runs 200 --limit 300
      what restarts after 300 placements gain
  diadem atlas study 7 --trace                         the search step by step
  diadem atlas study 7 --trace --random --seed 3       the same, choosing at random")]
pub struct StudyArgs {
    /// Board sizes, 4 to 200, as 8..30 or 8.
    ///
    /// Both ends are included.
    #[arg(value_name = "N..M", value_parser = sizes(StudySpec::SMALLEST..=StudySpec::LARGEST))]
    pub sizes: RangeInclusive<u8>,
    /// Random runs for each board.
    #[arg(long, value_name = "R", default_value_t = 1000, value_parser = whole(1..=StudySpec::MOST_RUNS), allow_negative_numbers = true)]
    pub runs: u32,
    /// Seed of all random choices.
    #[arg(long, value_name = "S", default_value_t = 1, value_parser = whole(0..=u64::MAX), allow_negative_numbers = true)]
    pub seed: u64,
    /// Restart after this many placements [default: 5n].
    ///
    /// Besides the best limit, which is always shown.
    #[arg(long, value_name = "L", value_parser = whole(1..=u64::MAX), allow_negative_numbers = true)]
    pub limit: Option<u64>,
    /// Write the table as CSV.
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    /// Write the random runs as CSV, one per line.
    #[arg(long, value_name = "FILE")]
    pub runs_csv: Option<PathBuf>,
    /// Draw placements and histograms (SVG and PNG).
    ///
    /// Placements against n.
    #[arg(long, value_name = "DIR")]
    pub plots: Option<PathBuf>,
    /// Draw for a dark screen.
    #[arg(long, requires = "plots")]
    pub dark: bool,
    /// Show one search of one board step by step.
    #[arg(long, conflicts_with_all = ["runs", "limit", "csv", "runs_csv", "plots"])]
    pub trace: bool,
    /// Choose at random in the trace.
    #[arg(long, requires = "trace")]
    pub random: bool,
}

impl StudyArgs {
    /// The board whose search is traced.
    ///
    /// # Errors
    /// There are several.
    pub fn traced(&self) -> Result<u8, WrongAtlasCommand> {
        let (first, last) = (*self.sizes.start(), *self.sizes.end());
        if first == last { Ok(first) } else { Err(WrongAtlasCommand::TraceOfSeveral { first, last }) }
    }
}
