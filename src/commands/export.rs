//! `diadem export`: the counts of a run as a table.

mod recount;

use std::io::{BufWriter, Write};
use std::process::ExitCode;

use domain::counted;
use records::audit;
use records::export::{By, ExportError, TableSource};
use records::run_directory::RunDirectory;

use crate::args::{ExportArgs, KernelChoice, WrongCommand};
use crate::exit::UNSOUND;
use crate::log::say;
use crate::output_file::OutputFile;
use crate::progress::during;
use crate::stdout::stdout;
use recount::recount;

pub fn run(args: ExportArgs) -> anyhow::Result<ExitCode> {
    let ExportArgs { run, format, by, only, kernel, out } = args;
    if by != By::Constellation && !only.is_empty() {
        return Err(WrongCommand::OnlyOfConstellations.into());
    }
    let kernel = KernelChoice::try_from(kernel)?;
    let directory = RunDirectory::open(&run)?;
    let out = out.as_deref().map(OutputFile::named).transpose()?;
    let audit = during("auditing the ledger", || audit(&directory))?;
    let source = TableSource { directory: &directory, standing: &audit.standing, totals: audit.totals };
    let rows = match by {
        By::Constellation => match recount(source.constellation_rows(&only)?, kernel)? {
            Ok(rows) => Some(rows),
            Err(interrupted) => return Ok(interrupted),
        },
        By::Unit | By::Family => None,
    };
    let write = |out: &mut dyn Write| match &rows {
        Some(rows) => source.write_constellations(format.format(), rows, out),
        None => source.write(format.format(), by, out),
    };
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
