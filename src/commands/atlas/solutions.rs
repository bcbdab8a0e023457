//! `diadem atlas solutions`: solutions one by one.

mod rectangle;

use std::io::Write;
use std::process::ExitCode;

use atlas::format::SolutionFormat;
use atlas::large::LargeSolutions;
use atlas::picture::{self, Picture};
use atlas::solutions::Solutions;
use atlas::textbook::tried;
use atlas::{Placement, restarts};
use domain::counted;

use super::pictures;
use crate::args::atlas::{AskedSolutions, Listing, ListingOutput, ListingSource};
use crate::log::say;
use crate::output::print;
use crate::progress::during;
use crate::stdout::stdout;

pub fn run(asked: &AskedSolutions) -> anyhow::Result<ExitCode> {
    match asked {
        AskedSolutions::Square(listing) => of_square(listing),
        AskedSolutions::Rectangle(listing) => rectangle::run(listing),
    }
}

fn of_square(listing: &Listing) -> anyhow::Result<ExitCode> {
    let solutions = solutions(&listing.source, listing.size)?;
    match &listing.output {
        ListingOutput::Count(setting) => {
            let count = during("counting the solutions", || solutions.count());
            print(&format!("{setting}: {}", counted(count as u64, "solution")))?;
        }
        ListingOutput::Stdout(format) => show(listing, *format, (1..=listing.first).zip(solutions))?,
        ListingOutput::Tried => show_tried(listing, (1..=listing.first).zip(solutions))?,
        ListingOutput::Folder(folder, format) => {
            let name = |number| format!("solution-{}-{number:04}.{format}", listing.size);
            let drawn = |(number, solution)| (name(number), drawn(listing, number, &solution));
            print(&pictures::write_all(folder, (1..=listing.first).zip(solutions).map(drawn))?)?
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The requested solutions, found lazily.
fn solutions(source: &ListingSource, size: u8) -> anyhow::Result<Box<dyn Iterator<Item = Placement>>> {
    Ok(match source {
        ListingSource::Ascending(setting, method) => method.solutions(*setting)?,
        ListingSource::Large => {
            let mut solutions = LargeSolutions::ascending(size);
            Box::new(std::iter::from_fn(move || {
                during("searching for the next solution", || solutions.next())
            }))
        }
        ListingSource::FromList(setting, list) => Box::new(Solutions::from_list(*setting, list)?),
        ListingSource::FromRandom(setting, seed) => {
            Box::new(Solutions::from_random(*setting, drawn_seed(*seed)))
        }
        ListingSource::Restarts(seed) => Box::new(restarts::at_random(size, drawn_seed(*seed))),
    })
}

/// The seed given, or one that is drawn and printed, so that the list can be had again.
fn drawn_seed(seed: Option<u64>) -> u64 {
    seed.unwrap_or_else(|| {
        let seed = u64::from(rand::random::<u32>());
        say(format_args!("seed {seed}"));
        seed
    })
}

fn show(
    listing: &Listing,
    format: SolutionFormat,
    solutions: impl Iterator<Item = (u64, Placement)>,
) -> anyhow::Result<()> {
    let mut out = stdout();
    for (number, solution) in solutions {
        if let Some(text) = format.text(number, &solution, listing.piece, listing.first_row) {
            writeln!(out, "{text}")?;
        } else {
            pictures::show(&drawn(listing, number, &solution), format == SolutionFormat::Png)?;
        }
    }
    out.flush()?;
    Ok(())
}

/// Each solution, and after how many permutations of the list it comes.
fn show_tried(listing: &Listing, solutions: impl Iterator<Item = (u64, Placement)>) -> anyhow::Result<()> {
    let list = match &listing.source {
        ListingSource::FromList(_, list) => list.clone(),
        _ => Placement::new((0..listing.size).collect::<Vec<_>>())?,
    };
    let mut out = stdout();
    for (number, solution) in solutions {
        let rows = solution.counted_from(listing.first_row);
        writeln!(out, "{number:>4}  {rows}  {}", counted(tried(&list, &solution), "permutation"))?;
    }
    out.flush()?;
    Ok(())
}

fn drawn(listing: &Listing, number: u64, solution: &Placement) -> Picture {
    let size = listing.size;
    let rows = solution.counted_from(listing.first_row);
    let caption =
        if size <= 12 { format!("{number}: {rows}") } else { format!("n = {size}, solution {number}") };
    let picture = picture::board(solution, listing.surface, listing.piece, &caption);
    picture.in_theme(pictures::theme(listing.dark))
}
