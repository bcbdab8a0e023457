//! The subcommands, a file for each, and the way from the parsed arguments to the one that was asked for.

mod bench;
mod constellations;
mod coordinator;
mod count;
mod export;

mod keys;
mod merge;
mod orbits;
mod picture;
mod rings;
mod solutions;
mod status;
mod study;
mod verify;
mod worker;

use std::process::ExitCode;

use crate::args::Command;

/// Runs the command that was asked for.
pub fn run(command: Command) -> anyhow::Result<ExitCode> {
    match command {
        Command::Count(args) => count::run(args.try_into()?),
        Command::Coordinator(args) => coordinator::run(args.try_into()?),
        Command::Worker(args) => worker::run(args),
        Command::Status(args) => status::run(&args),
        Command::Keys(args) => keys::run(&args),
        Command::Constellations(args) => constellations::run(args),
        Command::Verify(args) => verify::run(&args),
        Command::Export(args) => export::run(&args),
        Command::Merge(args) => merge::run(&args),
        Command::Bench(args) => bench::run(&args),
        Command::Solutions(args) => solutions::run(&args.try_into()?),
        Command::Orbits(args) => orbits::run(&args),
        Command::Rings(args) => rings::run(&args),
        Command::Study(args) => study::run(&args),
        Command::Picture(args) => picture::run(&args),
    }
}
