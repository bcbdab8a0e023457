//! The command line: one binary for everything that diadem does. Errors become one sentence and an exit code here.

#![forbid(unsafe_code)]

mod access;
mod args;
mod assurance;
mod bench;
mod constellation_files;
mod constellations;
mod coordinator;
mod count;
mod export;
mod families;
mod keys;
mod local;
mod log;
mod merge;
mod output;
mod picture;
mod pictures;
mod progress;
mod recount;
mod rings;
mod signals;
mod solutions;
mod status;
mod study;
mod verify;
mod worker;

use std::process::ExitCode;

use clap::Parser;

use args::{Args, Command};

/// The exit codes besides 0 and 1.
const USAGE: u8 = 2;

fn main() -> ExitCode {
    log::quiet_panics();
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => return usage(&error),
    };
    match run(args.command) {
        Ok(code) => code,
        Err(error) if output::is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("diadem: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command) -> anyhow::Result<ExitCode> {
    match command {
        Command::Count(args) => count::run(args),
        Command::Coordinator(args) => coordinator::run(args),
        Command::Worker(args) => worker::run(args),
        Command::Status(args) => status::run(&args),
        Command::Keys(args) => keys::run(&args),
        Command::Constellations(args) => constellations::run(&args),
        Command::Verify(args) => verify::run(&args),
        Command::Export(args) => export::run(&args),
        Command::Merge(args) => merge::run(&args),
        Command::Bench(args) => bench::run(&args),
        Command::Solutions(args) => solutions::run(&args),
        Command::Families(args) => families::run(&args),
        Command::Rings(args) => rings::run(&args),
        Command::Study(args) => study::run(&args),
        Command::Picture(args) => picture::run(&args),
    }
}

/// Help as asked for, or what was wrong in one sentence.
fn usage(error: &clap::Error) -> ExitCode {
    if !error.use_stderr() {
        error.print().ok();
        return ExitCode::SUCCESS;
    }
    let text = error.render().to_string();
    let paragraph: Vec<_> = text.lines().take_while(|line| !line.trim().is_empty()).map(str::trim).collect();
    let sentence = paragraph.join(" ");
    if sentence.starts_with("error:") {
        eprintln!("diadem: {} (see diadem --help)", sentence.trim_start_matches("error:").trim());
    } else {
        eprint!("{text}");
    }
    ExitCode::from(USAGE)
}
