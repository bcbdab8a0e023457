//! The command line: one binary for everything that diadem does. Errors become one sentence and an exit code here.

mod access;
mod command_line;
mod commands;
mod completions;
#[cfg(test)]
mod documented;
mod ending;
mod exit;
mod external;
mod highest_term;
mod host;
mod idleness;
mod live_status;
mod local;
mod log;
mod measurement;
mod notification;
mod output;
mod output_file;
mod progress;
#[cfg(test)]
mod samples;
mod service;
mod service_manager;
mod settings;
mod signals;
mod stdout;
mod terminal;
mod version;
mod worker_group;

use std::process::ExitCode;

use clap::error::ErrorKind;
use diadem::args;

use log::say;
use settings::{CompletedLine, Settings};

fn main() -> ExitCode {
    host::memory::keep_to_one_arena();
    log::open();
    signals::survive_file_size_limits().ok();
    signals::end_process_one().ok();
    let code = match CompletedLine::read(std::env::args_os().collect(), std::env::vars_os()) {
        Ok((completed, settings)) => run(&completed, &settings),
        Err(error) => {
            let code = if error.is_passing() { ExitCode::FAILURE } else { ExitCode::from(exit::USAGE) };
            say(format_args!("diadem: {}", output::sentence(&error.into())));
            code
        }
    };
    log::finish();
    exit::end_main(code)
}

/// Runs the command.
fn run(completed: &CompletedLine, settings: &Settings) -> ExitCode {
    match completed.parse() {
        Ok(args) => {
            log::set_format(args.log_format);
            ended(commands::run(args.command, settings))
        }
        Err(error) => usage(&error, completed),
    }
}

/// The exit code of a command, after printing its error.
fn ended(result: anyhow::Result<ExitCode>) -> ExitCode {
    match result {
        Ok(code) => code,
        Err(error) => {
            say(format_args!("diadem: {}", output::sentence(&error)));
            exit::of(&error)
        }
    }
}

/// Prints the requested help or version, or the error in one sentence.
fn usage(error: &clap::Error, completed: &CompletedLine) -> ExitCode {
    if error.kind() == ErrorKind::DisplayVersion {
        return ended(output::listing(output::print(&version::text()).map(|()| ExitCode::SUCCESS)));
    }
    if !error.use_stderr() {
        let printed = error.print().map_err(|error| stdout::of_stdout(error).into());
        return ended(output::listing(printed.map(|()| ExitCode::SUCCESS)));
    }
    match command_line::usage_error(error, completed) {
        Some(sentence) => say(format_args!("diadem: {sentence}")),
        None => say(format_args!("{}", error.render().to_string().trim_end())),
    }
    ExitCode::from(exit::USAGE)
}
