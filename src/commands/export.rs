//! `diadem export`: the counts of a run as a table.

use std::io::{BufWriter, Write};
use std::process::ExitCode;

use domain::counted;
use records::audit;
use records::export::{ExportError, TableSource};
use records::run_directory::RunDirectory;

use crate::args::ExportArgs;
use crate::exit::UNSOUND;
use crate::log::say;
use crate::output_file::OutputFile;
use crate::progress::during;
use crate::stdout::stdout;

pub fn run(args: &ExportArgs) -> anyhow::Result<ExitCode> {
    let directory = RunDirectory::open(&args.run)?;
    let out = args.out.as_deref().map(OutputFile::named).transpose()?;
    let audit = during("auditing the ledger", || audit(&directory))?;
    let source = TableSource { directory: &directory, standing: &audit.standing, totals: audit.totals };
    let format = args.format.format();
    let write = |out: &mut dyn Write| source.write(format, args.by, out);
    let digest = if let Some(out) = out {
        out.write(|out| write(out).map_err(reason))?
    } else {
        let mut out = BufWriter::new(stdout());
        write(&mut out).and_then(|digest| Ok(out.flush().map(|()| digest)?)).map_err(reason)?
    };
    say(format_args!("blake3 {digest}"));
    if audit.missing_units > 0 {
        say(format_args!(
            "diadem: the run is not complete: {} missing",
            counted(audit.missing_units, "unit")
        ));
        return Ok(ExitCode::from(UNSOUND));
    }
    Ok(ExitCode::SUCCESS)
}

/// The underlying error of the disk or of the reader, if there is one.
fn reason(error: ExportError) -> anyhow::Error {
    match error {
        ExportError::Io(error) => error.into(),
        other => other.into(),
    }
}
