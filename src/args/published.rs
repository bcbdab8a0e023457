//! The arguments of the commands about what is published of a run while it goes on, and in the end.

use std::path::PathBuf;

use clap::Args;

use super::value::ThreadsArgs;

/// Prints the head of a run's chain, to be published: whoever has it can tell later that nothing was rewritten.
///
/// The run may be in use. The line names the run, how many records its ledger has up to its last commit mark, and the hash
/// of that mark, which stands for all before it. diadem verify --heads compares such lines with the ledger.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  diadem head ./diadem-20 >> heads.txt     now and then, where others see it")]
pub struct HeadArgs {
    /// The run directory.
    #[arg(value_name = "DIR")]
    pub run: PathBuf,
    /// Print it as one JSON object.
    #[arg(long)]
    pub json: bool,
}

/// Signs a certificate of a finished run: totals, head of the ledger, how far it was checked.
///
/// The ledger is audited first, and the symmetric counts are made again by a second algorithm; a run that is not finished, or
/// not sound, is refused. diadem verify --certificate checks a certificate, and docs/ledger.md says how to do that by other
/// means.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  diadem certify ./diadem-20 -o 20.json
  diadem certify ./diadem-20 --key ~/diadem.key -o 20.json
      one key for several runs, which coordinators had with --key")]
pub struct CertifyArgs {
    /// The run directory.
    #[arg(value_name = "DIR")]
    pub run: PathBuf,
    /// The private key, Ed25519 in PKCS#8; made where there is none [default: certify.key in the run directory, unless the ledger
    /// names only others].
    #[arg(long, value_name = "FILE")]
    pub key: Option<PathBuf>,
    /// Where to write it [default: stdout].
    #[arg(short, long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub threads: ThreadsArgs,
}

/// Writes a run as one page of HTML that needs nothing beside it: the answer and what it is worth, who counted what, how to
/// verify it.
///
/// It is made from the ledger alone, which is audited first; the run may be unfinished, or in use.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  diadem report ./diadem-20 -o 20.html")]
pub struct ReportArgs {
    /// The run directory.
    #[arg(value_name = "DIR")]
    pub run: PathBuf,
    /// Where to write it [default: stdout].
    #[arg(short, long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}
