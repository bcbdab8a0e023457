//! The command line: one binary for everything that diadem does. Errors become one sentence and an exit code here.

#![forbid(unsafe_code)]

mod access;
mod args;
mod assurance;
mod command_line;
mod commands;
mod ending;
mod host;
mod local;
mod log;
mod output;
mod pictures;
mod progress;
mod signals;

use std::process::ExitCode;

use clap::Parser;

use args::Args;

/// The exit codes besides 0 and 1.
const USAGE: u8 = 2;

fn main() -> ExitCode {
    log::quiet_panics();
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => return usage(&error),
    };
    match commands::run(args.command) {
        Ok(code) => code,
        Err(error) if output::is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("diadem: {}", output::sentence(&error));
            ExitCode::FAILURE
        }
    }
}

/// Help as asked for, or what was wrong in one sentence.
fn usage(error: &clap::Error) -> ExitCode {
    if !error.use_stderr() {
        error.print().ok();
        return ExitCode::SUCCESS;
    }
    match command_line::complaint(error) {
        Some(sentence) => eprintln!("diadem: {sentence}"),
        None => eprint!("{}", error.render()),
    }
    ExitCode::from(USAGE)
}
