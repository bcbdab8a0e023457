//! The arguments of the commands about what is on record: verified, exported, joined.

use std::path::PathBuf;

use clap::Args;
use coordinator::export::{By, TableFormat};
use coordinator::verify::SampleSize;

use super::value::{ThreadsArgs, ValueError};

/// Re-checks a run from its ledger alone, and counts a sample of its units again.
///
/// In this order, up to the first thing that is wrong: chain and CRCs of the ledger, one standing count a unit,
/// identities among the sums, the symmetric counts by a second algorithm, a random sample of units with another kernel
/// than the one that counted each and mirrored, the published value, and a table of diadem export if one is named.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  diadem verify ./diadem-16                          50 units counted again
  diadem verify ./diadem-16 --recount all --json     every one, the report as JSON
  diadem verify ./diadem-16 --recount 0              only what the ledger itself shows
  diadem verify ./diadem-16 --export diadem-16.csv   and a published table")]
pub struct VerifyArgs {
    /// The run directory.
    #[arg(value_name = "DIR")]
    pub run: PathBuf,
    /// How many units, chosen at random, to count again: a number or all.
    #[arg(long, value_name = "K", default_value = "50", value_parser = sample)]
    pub recount: SampleSize,
    /// What the choice of units follows from [default: drawn, and printed].
    #[arg(long, value_name = "SEED")]
    pub seed: Option<u64>,
    #[command(flatten)]
    pub threads: ThreadsArgs,
    /// A table written by diadem export: it must say what the ledger says.
    #[arg(long, value_name = "FILE")]
    pub export: Option<PathBuf>,
    /// Print the report as one JSON object.
    #[arg(long)]
    pub json: bool,
}

/// A number of units, or all.
fn sample(text: &str) -> Result<SampleSize, ValueError> {
    match text.parse() {
        _ if text == "all" => Ok(SampleSize::All),
        Ok(units) => Ok(SampleSize::Units(units)),
        Err(_) => Err(ValueError::new(text, "a number or \"all\"")),
    }
}

/// Writes the counts of a run as a table, for publication.
///
/// The table depends on the plan and the counts alone, not on who counted; its last line has the BLAKE3 hash of all
/// lines before. diadem verify --export compares it with the ledger.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  diadem export ./diadem-16 --csv                        the count of every unit, on stdout
  diadem export ./diadem-16 --csv --by family -o 16.csv  sums by top and bottom queen
  diadem export ./diadem-16 --jsonl --by constellation -o 16.jsonl")]
pub struct ExportArgs {
    /// The run directory.
    #[arg(value_name = "DIR")]
    pub run: PathBuf,
    #[command(flatten)]
    pub format: ExportFormat,
    /// What a row is about: unit, family, constellation.
    #[arg(long, value_name = "GROUP", default_value = "unit")]
    pub by: By,
    /// Where to write it [default: stdout].
    #[arg(short, long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub struct ExportFormat {
    /// Values separated by commas.
    #[arg(long)]
    csv: bool,
    /// One JSON object a line.
    #[arg(long)]
    jsonl: bool,
}

impl ExportFormat {
    /// The format that was asked for.
    pub fn format(&self) -> TableFormat {
        if self.jsonl { TableFormat::JsonLines } else { TableFormat::Csv }
    }
}

/// Joins runs of one plan, shards above all, into a new run directory.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  diadem merge ./diadem-20 ./shard-1 ./shard-2 ./shard-3")]
pub struct MergeArgs {
    /// The run directory to make.
    #[arg(value_name = "OUT")]
    pub out: PathBuf,
    /// The run directories to join.
    #[arg(value_name = "IN", required = true)]
    pub parts: Vec<PathBuf>,
}
