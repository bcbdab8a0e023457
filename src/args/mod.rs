//! The arguments. clap reads them first; then they become requests, so that the rest of the program sees no
//! strings and no contradictory options.

#[cfg(feature = "atlas")]
pub mod atlas;
mod autoalloc;
mod bench;
mod coordinator;
mod count;
mod estimate;
mod external;
mod follow;
mod gpu;
mod installation;
mod kernel;
mod keys;
mod limits;
mod loss;
mod measured_card;
mod memory;
mod overview;
mod placed;
mod plan;
mod policy;
mod published;
mod records;
mod relax;
mod steering;
mod unit_span;
mod value;
mod watching;
mod worker;
mod wrong_command;

use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum};

pub use self::coordinator::{CoordinatorArgs, ListenAddress, ServedRun};
pub use self::worker::{CountingArgs, JoinArgs, OnLost, ServiceArgs, WorkerArgs};
pub use autoalloc::{AutoallocArgs, Engine, SlurmArgs};
pub use bench::BenchArgs;
pub use count::{CountArgs, CountTask, LocalCount, Storage};
pub use estimate::{Equipment, EstimateArgs, Fleet, Price};
pub use external::{ExternalArgs, ExternalCommand};
pub use follow::FollowArgs;
pub use gpu::{Cards, GpusArgs};
pub use installation::{CompletionsArgs, ConfigArgs, ManArgs};
pub use kernel::KernelChoice;
pub use keys::{InviteArgs, KeysArgs, KeysCommand, client_name, host, owner_name};
pub use limits::End;
pub use memory::MemoryNeed;
pub use placed::{NO_QUEENS, PlacedCount, PlacedSource, read_queens};
pub use plan::{new_plan, new_plan_for_cards};
pub use policy::{PolicyArgs, PolicyChangeArgs};
pub use published::{CertifyArgs, HeadArgs, ReportArgs};
pub use records::{ExportArgs, MergeArgs, RetractArgs, RetractIn, VerifyArgs};
pub use steering::{DrainArgs, OperatorArgs, PauseArgs, ResumeArgs};
pub use unit_span::UnitSpan;
pub use value::{ThreadsArgs, cores, machine};
pub use watching::{ObserverArgs, StatusArgs, TopArgs, UnitArgs};
pub use wrong_command::WrongCommand;

/// Count the solutions of the n queens problem, on one machine or on hundreds.
#[derive(Debug, Parser)]
#[command(
    version,
    term_width = 80,
    help_template = overview::template(),
    // The template leaves this out; the manual page has it.
    after_help = "\
Examples:
  diadem count 16                                    count on this machine
  diadem coordinator --n 20 --run ./diadem-20        or hand the work out ...
  diadem worker --coordinator http://127.0.0.1:7227  ... to any number of workers
  diadem status --coordinator http://127.0.0.1:7227  see how far it is

Options may also stand in variables (DIADEM_THREADS=4) or in a file: diadem
config --help.

Exit codes: 0 complete, for a worker also drained as asked; 1 an error;
2 wrong usage; 3 not sound, not complete, or the answer withheld; 129, 130
and 143 interrupted."
)]
pub struct Args {
    #[command(subcommand)]
    pub command: Command,
    /// Log format: text or json.
    #[arg(
        long,
        global = true,
        value_name = "FORMAT",
        value_enum,
        default_value = "text",
        hide_possible_values = true
    )]
    pub log_format: LogFormat,
    /// TOML file of settings.
    ///
    /// It sets options that are not typed (see diadem config --help).
    #[arg(long, global = true, value_name = "FILE")]
    pub config: Option<PathBuf>,
}

/// The format of the log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// A line of text for each event.
    #[default]
    Text,
    /// A JSON object for each event, on a line of its own: timestamp, level, message, fields, and the spans around it.
    Json,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    Count(CountArgs),
    Estimate(EstimateArgs),
    Bench(BenchArgs),
    Gpus(GpusArgs),
    Coordinator(CoordinatorArgs),
    Worker(WorkerArgs),
    Autoalloc(AutoallocArgs),
    Keys(KeysArgs),
    Invite(InviteArgs),
    Join(JoinArgs),
    Status(StatusArgs),
    Top(TopArgs),
    Unit(UnitArgs),
    Follow(FollowArgs),
    Policy(PolicyArgs),
    Pause(PauseArgs),
    Resume(ResumeArgs),
    Drain(DrainArgs),
    Verify(VerifyArgs),
    Certify(CertifyArgs),
    Export(ExportArgs),
    Head(HeadArgs),
    Report(ReportArgs),
    Merge(MergeArgs),
    Retract(RetractArgs),
    #[cfg(feature = "atlas")]
    Atlas(atlas::AtlasArgs),
    Config(ConfigArgs),
    Completions(CompletionsArgs),
    Man(ManArgs),
}
