//! The arguments of the commands that publish facts about a run: its head, its certificate, its report.

use std::path::PathBuf;

use clap::Args;

use super::value::ThreadsArgs;

/// Print the head of a run's hash chain, for publication.
///
/// A published head shows later that no record before it was rewritten.
/// The run may be in use. The line has the run, the number of its records up to the last commit mark, and the
/// hash of that mark, which covers all records before it. diadem verify --heads compares such lines with the
/// ledger.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  diadem head ./diadem-20 >> heads.txt     now and then, where others see it
  diadem head ./diadem-20 -o head-1.txt
      for a time-stamping service, which takes the SHA-256 hash of the file")]
pub struct HeadArgs {
    /// Run directory.
    #[arg(value_name = "DIR")]
    pub run: PathBuf,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
    /// Output file, with its SHA-256 hash on stderr.
    ///
    /// Such a file and hash can be time-stamped [default: stdout].
    #[arg(short, long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// Sign a certificate of a complete run.
///
/// It has the totals, the head of the ledger, and how far the counts were checked.
/// First the ledger is audited, and the symmetric counts are repeated by a second algorithm. An unfinished or
/// unsound run is refused. diadem verify --certificate checks a certificate; docs/ledger.md describes how to
/// check it without diadem.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  diadem certify ./diadem-20 -o 20.json
  diadem certify ./diadem-20 --key ~/diadem.key -o 20.json
      one key for several runs, which coordinators had with --key")]
pub struct CertifyArgs {
    /// Run directory.
    #[arg(value_name = "DIR")]
    pub run: PathBuf,
    /// Private key, made if missing.
    ///
    /// Ed25519 in PKCS#8 [default: certify.key in the run directory, unless the ledger names only other
    /// keys].
    #[arg(long, value_name = "FILE")]
    pub key: Option<PathBuf>,
    /// Output file [default: stdout].
    #[arg(short, long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub threads: ThreadsArgs,
}

/// Write a run as one HTML page.
///
/// The page has the answer and its evidence, the contributors, and the commands to verify it.
/// It is made from the ledger alone, which is audited first; the run may be unfinished, or in use.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  diadem report ./diadem-20 -o 20.html")]
pub struct ReportArgs {
    /// Run directory.
    #[arg(value_name = "DIR")]
    pub run: PathBuf,
    /// Output file [default: stdout].
    #[arg(short, long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}
