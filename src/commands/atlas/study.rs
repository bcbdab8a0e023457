//! `diadem atlas study`: how many placements the search for a first solution takes.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use anyhow::bail;
use atlas::picture::{self, Theme};
use atlas::report;
use atlas::search::ColumnChoice;
use atlas::study::{Restarts, SizeStudy, StudySpec};
use atlas::trace::Trace;

use super::pictures;
use crate::args::atlas::{StudyArgs, WrongAtlasCommand};
use crate::output::{listing, print};
use crate::output_file::OutputFile;
use crate::stdout::stdout;

/// The most steps of a trace; a longer one is not readable.
const LONGEST_TRACE: usize = 100_000;

pub fn run(args: &StudyArgs) -> anyhow::Result<ExitCode> {
    if args.trace {
        listing(trace(args))?;
        return Ok(ExitCode::SUCCESS);
    }
    let studied = study(args);
    // If files were requested, a reader of the table that has gone away is an error: the files are missing.
    let has_files = args.csv.is_some() || args.runs_csv.is_some() || args.plots.is_some();
    if has_files { studied } else { listing(studied) }
}

fn study(args: &StudyArgs) -> anyhow::Result<ExitCode> {
    let spec = StudySpec { sizes: args.sizes.clone(), runs: args.runs, seed: args.seed, limit: args.limit };
    // Before the runs, which may take hours.
    let [csv, runs_csv] =
        [&args.csv, &args.runs_csv].map(|file| file.as_deref().map(OutputFile::named).transpose());
    let (csv, runs_csv) = (csv?, runs_csv?);
    if let (Some(csv), Some(runs)) = (&csv, &args.runs_csv)
        && csv.is(runs)
    {
        return Err(WrongAtlasCommand::OneFile(runs.display().to_string()).into());
    }
    let mut studies = Vec::new();
    let all = spec.studies()?;
    print(&format!(
        "Placements until the first solution; {} random runs for each n, seed {}.",
        spec.runs, spec.seed
    ))?;
    print(&report::lengths_header())?;
    for study in all {
        print(&report::lengths_row(&study))?;
        studies.push(study);
    }
    print(&format!("\n{}", report::LAW))?;
    print_restarts("the limit", studies.iter().map(|study| (study.n, &study.asked)))?;
    print_restarts("the best limit", studies.iter().map(|study| (study.n, &study.best)))?;
    print(&format!("\n{}\n{}", report::METHODS, report::methods_header()))?;
    studies.iter().try_for_each(|study| print(&report::methods_row(study)))?;
    print(&format!("\n{}\n{}", report::TAIL, report::tail_header()))?;
    studies.iter().try_for_each(|study| print(&report::tail_row(study)))?;
    if let Some(legend) = report::legend(&studies) {
        print(&legend)?;
    }
    if let Some(file) = csv {
        let table = report::csv(&studies)?;
        file.write(|out| Ok(out.write_all(table.as_bytes())?))?;
    }
    if let Some(file) = runs_csv {
        file.write(|out| Ok(out.write_all(report::runs_csv(&studies).as_bytes())?))?;
    }
    if let Some(folder) = &args.plots {
        draw(folder, &studies, pictures::theme(args.dark))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn print_restarts<'a>(limit: &str, mut of: impl Iterator<Item = (u8, &'a Restarts)>) -> anyhow::Result<()> {
    print(&format!("\n{}", report::restarts_header(limit)))?;
    of.try_for_each(|(n, restarts)| print(&report::restarts_row(n, restarts)))
}

fn draw(folder: &Path, studies: &[SizeStudy], theme: Theme) -> anyhow::Result<()> {
    let plots =
        [("placements", picture::placements(studies)?), ("histograms", picture::histograms(studies)?)];
    let files = plots.into_iter().flat_map(|(name, picture)| {
        let picture = picture.in_theme(theme);
        ["svg", "png"].map(|extension| (format!("{name}.{extension}"), picture.clone()))
    });
    pictures::write_all(folder, files).map(|_| ())
}

fn trace(args: &StudyArgs) -> anyhow::Result<()> {
    let n = args.traced()?;
    let choice = if args.random { ColumnChoice::random(args.seed, 0) } else { ColumnChoice::Smallest };
    let mut out = stdout();
    for (steps, line) in Trace::new(n, choice).enumerate() {
        if steps == LONGEST_TRACE {
            bail!("the trace is cut off after {LONGEST_TRACE} steps; a smaller n, or --random, is shorter");
        }
        writeln!(out, "{line}")?;
    }
    out.flush()?;
    Ok(())
}
