//! `diadem solutions`: solutions one by one.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, bail};
use atlas::format::SolutionFormat;
use atlas::picture::{self, Picture};
use atlas::solutions::Solutions;
use atlas::{Placement, restarts};
use queens::Board;

use crate::args::SolutionsArgs;
use crate::output::print;
use crate::pictures;

pub fn run(args: &SolutionsArgs) -> anyhow::Result<ExitCode> {
    let solutions = solutions(args)?;
    if args.count {
        let setting = args.setting.on(Board::new(args.n)?);
        print(&format!("{setting}: {} solutions", solutions.count()))?;
        return Ok(ExitCode::SUCCESS);
    }
    let first = args.first.unwrap_or(if args.n > Board::LARGEST.n() { 1 } else { u64::MAX });
    let numbered = (1..=first).zip(solutions);
    match (&args.out, args.format) {
        (Some(_), format) if !is_picture(format) => {
            bail!("--out is for pictures; with --format {format} the solutions go to standard output")
        }
        (Some(folder), format) => write_pictures(args, folder, format, numbered)?,
        (None, format) if is_picture(format) && args.first != Some(1) => bail!(
            "--format {format} makes a file for each solution: name a directory with --out DIR, or ask for one with \
             --first 1"
        ),
        (None, _) => show(args, numbered)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn is_picture(format: SolutionFormat) -> bool {
    matches!(format, SolutionFormat::Svg | SolutionFormat::Png)
}

/// The solutions asked for, found as they are taken.
fn solutions(args: &SolutionsArgs) -> anyhow::Result<Box<dyn Iterator<Item = Placement>>> {
    if args.n > Board::LARGEST.n() {
        if !args.random
            || args.count
            || args.setting.on(Board::LARGEST) != atlas::Setting::queens(Board::LARGEST)
        {
            bail!(
                "solutions are listed in order for n up to {}, not {}; larger boards have plain queens with --random",
                Board::LARGEST,
                args.n
            );
        }
        return Ok(Box::new(restarts::at_random(args.n, seed(args))));
    }
    let setting = args.setting.on(Board::new(args.n)?);
    Ok(match &args.from {
        Some(list) => Box::new(Solutions::from_list(setting, list)?),
        None if args.random => Box::new(Solutions::from_random(setting, seed(args))),
        None => args.method.solutions(setting)?,
    })
}

/// The seed given, or one that is drawn and told, so that the list can be had again.
fn seed(args: &SolutionsArgs) -> u64 {
    args.seed.unwrap_or_else(|| {
        let seed = u64::from(rand::random::<u32>());
        eprintln!("seed {seed}");
        seed
    })
}

fn show(args: &SolutionsArgs, solutions: impl Iterator<Item = (u64, Placement)>) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    for (number, solution) in solutions {
        match args.format.text(number, &solution, args.setting.piece) {
            Some(text) => writeln!(out, "{text}")?,
            None => out.write_all(&pictures::bytes(
                &drawn(args, number, &solution),
                args.format == SolutionFormat::Png,
            )?)?,
        }
    }
    out.flush()?;
    Ok(())
}

fn drawn(args: &SolutionsArgs, number: u64, solution: &Placement) -> Picture {
    let caption =
        if args.n <= 12 { format!("{number}: {solution}") } else { format!("n = {}, {number}", args.n) };
    picture::board(solution, args.setting.piece, &caption)
}

fn write_pictures(
    args: &SolutionsArgs,
    folder: &Path,
    format: SolutionFormat,
    solutions: impl Iterator<Item = (u64, Placement)>,
) -> anyhow::Result<()> {
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot make the directory {}", folder.display()))?;
    let mut files = 0;
    for (number, solution) in solutions {
        let file = folder.join(format!("solution-{}-{number:04}.{format}", args.n));
        pictures::write(&file, &drawn(args, number, &solution))?;
        files += 1;
    }
    print(&format!("{files} pictures in {}", folder.display()))
}
