//! The subcommands, one file each, and the dispatch of the parsed arguments.

#[cfg(feature = "atlas")]
mod atlas;
mod autoalloc;
mod bench;
mod certify;
mod config;
mod coordinator;
mod count;
mod estimate;
mod export;
mod follow;
mod gpus;
mod head;
mod installation;
mod keys;
mod merge;
mod policy;
mod report;
mod retract;
mod status;
mod steer;
mod top;
mod unit;
mod verify;
mod worker;

use std::process::ExitCode;

use crate::args::{Command, CountTask};
use crate::output::listing;
use crate::settings::Settings;

/// Runs the parsed command.
pub fn run(command: Command, settings: &Settings) -> anyhow::Result<ExitCode> {
    match command {
        Command::Count(args) => match args.try_into()? {
            CountTask::Board(count) => count::run(count),
            CountTask::Placed(count) => count::placed::run(count),
        },
        Command::Coordinator(args) => coordinator::run(args.into()),
        Command::Worker(args) => worker::run(args),
        Command::Autoalloc(args) => autoalloc::run(&args),
        Command::Follow(args) => follow::run(args),
        Command::Status(args) => status::run(&args),
        Command::Top(args) => top::run(&args),
        Command::Unit(args) => unit::run(&args),
        Command::Keys(args) => keys::run(&args),
        Command::Invite(args) => keys::invite(&args),
        Command::Join(args) => worker::join(args),
        Command::Verify(args) => verify::run(&args),
        Command::Export(args) => listing(export::run(args)),
        Command::Head(args) => listing(head::run(&args)),
        Command::Certify(args) => certify::run(&args),
        Command::Report(args) => report::run(&args),
        Command::Merge(args) => merge::run(&args),
        Command::Retract(args) => retract::run(&args),
        Command::Estimate(args) => listing(estimate::run(&args)),
        Command::Policy(args) => policy::run(&args),
        Command::Pause(args) => steer::pause(args),
        Command::Resume(args) => steer::resume(&args),
        Command::Drain(args) => steer::drain(&args),
        Command::Bench(args) => listing(bench::run(&args)),
        Command::Gpus(args) => listing(gpus::run(&args)),
        Command::Config(args) => listing(config::run(&args, settings)),
        Command::Completions(args) => listing(installation::completions(&args)),
        Command::Man(args) => listing(installation::man(&args)),
        #[cfg(feature = "atlas")]
        Command::Atlas(args) => atlas::run(args.command),
    }
}
