//! The arguments of `diadem worker`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Arg, ArgGroup, Args, ValueEnum};

use super::external::ExternalArgs;
use super::gpu::GpuArgs;
use super::kernel::KernelArgs;
use super::limits::LimitsArgs;
use super::value::{name, time};

/// Count units for a coordinator until all are counted.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("place").args(["coordinator", "remove_service"]).required(true))]
#[command(after_help = "\
Examples:
  diadem worker --coordinator http://127.0.0.1:7227
  diadem worker --coordinator https://10.0.0.7:7227 --keys keys/worker
  diadem worker --coordinator http://127.0.0.1:7227 --threads 8 \\
     --name rack-3 --give-up-after 10m
  diadem worker --coordinator http://10.0.0.7:7227,http://10.0.0.8:7227
      the second after a takeover
  diadem worker --coordinator https://10.0.0.7:7227 --keys keys/worker \\
     --install-service --when-idle

Environment: DIADEM_JOIN_TOKEN stands for join.token, DIADEM_COORDINATOR for --coordinator.")]
pub struct WorkerArgs {
    /// Coordinator URL; may be repeated.
    ///
    /// Several, also with commas between, are tried in turn. @FILE stands for the addresses in a file, one a line;
    /// the worker reads it again when it loses the coordinator.
    #[arg(long, value_name = "URL", value_delimiter = ',')]
    pub coordinator: Vec<String>,
    /// Folder with ca.pem and join.token.
    ///
    /// The certificate by which the worker knows the coordinator, and what the coordinator knows it by:
    /// join.token, or client.pem and client.key.
    #[arg(long, value_name = "DIR")]
    pub keys: Option<PathBuf>,
    #[command(flatten)]
    pub service: ServiceArgs,
    #[command(flatten)]
    pub counting: CountingArgs,
}

/// Count units for a coordinator that has invited you.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("place").args(["invitation", "remove_service"]).required(true))]
#[command(after_help = "\
Examples:
  diadem join diadem-CioxMjcuMC4w...
  diadem join - --threads 8
      then paste the invitation: other users of this machine see arguments
  diadem join - --install-service --when-idle

The operator of the coordinator makes invitations with diadem invite.")]
pub struct JoinArgs {
    /// The invitation, its file, or - for the input.
    // A line that was cut can begin with -. Then it is not named as an unknown option: it is a secret.
    #[arg(value_name = "INVITATION", allow_hyphen_values = true)]
    pub invitation: Option<String>,
    #[command(flatten)]
    pub service: ServiceArgs,
    #[command(flatten)]
    pub counting: CountingArgs,
}

/// Whether the worker becomes a service.
#[derive(Clone, Copy, Debug, Args)]
pub struct ServiceArgs {
    /// Install the worker as a service and start it.
    ///
    /// It counts with these options at low priority whenever you are logged in. Other settings (variables and a
    /// file) are kept as they are now.
    #[arg(long, conflicts_with = "remove_service")]
    pub install_service: bool,
    /// Stop and remove the installed service.
    #[arg(long)]
    pub remove_service: bool,
}

/// What a worker does with the units of its coordinator.
#[derive(Debug, Args)]
#[command(mut_args(of_worker))]
pub struct CountingArgs {
    #[command(flatten)]
    pub kernel: KernelArgs,
    #[command(flatten)]
    pub gpu: GpuArgs,
    #[command(flatten)]
    pub external: ExternalArgs,
    /// Worker name [default: host name and PID].
    ///
    /// It stands in the status and in the ledger.
    #[arg(long, value_name = "NAME", value_parser = name)]
    pub name: Option<String>,
    /// Machine name [default: host name].
    ///
    /// Counts are checked on another machine than the one that made them.
    #[arg(long, value_name = "NAME", value_parser = name)]
    pub machine: Option<String>,
    /// When it is lost: wait, finish or exit.
    ///
    /// The coordinator is lost when it has not answered for the time of --give-up-after. The worker then
    /// keeps waiting, finishes the units in hand and leaves, or exits at once [default: wait; exit if
    /// --give-up-after is given].
    #[arg(long, value_name = "WHAT", value_enum, hide_possible_values = true)]
    pub on_coordinator_lost: Option<OnLost>,
    /// Time until it is lost [default: 10s].
    ///
    /// How long the coordinator may not answer, as in 90s, 10m, 2h.
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub give_up_after: Option<Duration>,
    #[command(flatten)]
    pub limits: LimitsArgs,
    /// Hold units for this long [default: 10s].
    ///
    /// More units in hand bridge outages, as in 1h. A worker holds at most a quarter of its share of the
    /// remaining units, and at most 50,000 units.
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub ahead: Option<Duration>,
    /// Time left after SIGTERM.
    ///
    /// After Ctrl-C or SIGTERM the worker counts its current units for this long, and gives back all
    /// others at once. A second signal ends it within two seconds. Choose less time than the batch engine
    /// waits before it kills.
    #[arg(long, value_name = "TIME", default_value = "20s", value_parser = time)]
    pub drain: Duration,
    /// Pause while somebody uses this machine.
    ///
    /// Also while it runs on its battery. For a pause the worker drains as after SIGTERM, so that it holds no
    /// units. It counts again when the machine is idle. If the system does not tell who uses it, it counts.
    #[arg(long)]
    pub when_idle: bool,
}

/// An external program only checks: diadem's own kernels do not count beside it.
fn of_worker(option: Arg) -> Arg {
    if option.get_id() != "external" {
        return option;
    }
    option.conflicts_with_all(["method", "isa", "memory", "cards", "install_service"])
}

/// The reaction of a worker to a lost coordinator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OnLost {
    /// Wait for it, for as long as it takes.
    Wait,
    /// Count what is in hand, and leave when that is done and it is still away.
    Finish,
    /// Leave.
    Exit,
}

/// By default the coordinator is lost after this long without an answer.
const LOST: Duration = Duration::from_secs(10);

impl CountingArgs {
    /// After how long the worker gives its coordinator up, if ever.
    pub fn give_up_after(&self) -> Option<Duration> {
        match self.on_coordinator_lost {
            None => self.give_up_after,
            Some(OnLost::Wait) => None,
            Some(OnLost::Finish | OnLost::Exit) => Some(self.give_up_after.unwrap_or(LOST)),
        }
    }
}
