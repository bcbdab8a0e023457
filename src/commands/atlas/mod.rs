//! The subcommands about single solutions, a file for each. They come with the feature `atlas`.

mod constellations;
mod orbits;
mod picture;
mod pictures;
mod rings;
mod show;
mod site;
mod solutions;
mod study;
mod table;

use std::process::ExitCode;

use crate::args::atlas::AtlasCommand;
use crate::output::listing;

/// Runs the parsed command.
pub fn run(command: AtlasCommand) -> anyhow::Result<ExitCode> {
    match command {
        AtlasCommand::Solutions(args) => listing(solutions::run(&args.try_into()?)),
        AtlasCommand::Show(args) => listing(show::run(&args)),
        AtlasCommand::Orbits(args) => listing(orbits::run(&args)),
        AtlasCommand::Rings(args) => listing(rings::run(&args)),
        AtlasCommand::Table(args) => table::run(args.try_into()?),
        AtlasCommand::Study(args) => study::run(&args),
        AtlasCommand::Picture(args) => listing(picture::run(&args)),
        AtlasCommand::Constellations(args) => constellations::run(args.try_into()?),
        AtlasCommand::Pages(args) => site::run(&args),
    }
}
