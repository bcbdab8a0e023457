//! `diadem export`: the counts of a run as a table.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

use anyhow::Context;
use coordinator::audit;
use coordinator::counted;
use coordinator::export::{ExportError, TableSource};
use coordinator::run_directory::RunDirectory;

use crate::args::ExportArgs;
use crate::log::say;
use crate::waiting::during;

pub fn run(args: &ExportArgs) -> anyhow::Result<ExitCode> {
    let directory = RunDirectory::open(&args.run)?;
    let audit = during("auditing the ledger", || audit(&directory))?;
    let source = TableSource { directory: &directory, standing: &audit.standing, totals: audit.totals };
    let format = args.format.format();
    let digest = if let Some(path) = &args.out {
        let failed = || format!("cannot write {}", path.display());
        let mut out = BufWriter::new(File::create(path).with_context(failed)?);
        let digest = source.write(format, args.by, &mut out).map_err(reason).with_context(failed)?;
        out.into_inner().map_err(io::IntoInnerError::into_error).with_context(failed)?.sync_all()?;
        digest
    } else {
        let mut out = BufWriter::new(io::stdout().lock());
        let digest = source.write(format, args.by, &mut out).map_err(reason)?;
        out.flush()?;
        digest
    };
    say(format_args!("blake3 {digest}"));
    if audit.missing_units > 0 {
        say(format_args!(
            "diadem: the run is not complete: {} missing",
            counted(audit.missing_units, "unit")
        ));
    }
    Ok(ExitCode::SUCCESS)
}

/// The disk's or the reader's own reason, where it is that.
fn reason(error: ExportError) -> anyhow::Error {
    match error {
        ExportError::Io(error) => error.into(),
        other => other.into(),
    }
}
