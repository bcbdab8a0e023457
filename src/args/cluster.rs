//! The arguments of the commands that work together over a network: coordinator, follow, worker, policy.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use coordinator::{DoubleCheck, MOST_FOLLOWERS};
use queens::Board;
use queens::kernel::Method;
use queens::plan::{PlanSpec, Scheme};
use thiserror::Error;

use super::gpu::GpuArgs;
use super::kernel::KernelArgs;
use super::limits::LimitsArgs;
use super::loss::LossArgs;
use super::plan::{SplitArgs, new_plan};
use super::records::reason;
use super::value::{Auto, ValueError, auto, time};

/// Serves a run to workers until all is counted, and prints the answer.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  diadem coordinator --n 20 --run ./diadem-20   begin a run
  diadem coordinator --run ./diadem-20          go on with it
  diadem coordinator --run ./diadem-20 --http 127.0.0.1:7228
      with a dashboard at http://127.0.0.1:7228
  diadem coordinator --run ./diadem-20 --listen 0.0.0.0:7227 \\
     --keys keys/coordinator
      for other machines too

Environment: DIADEM_JOIN_TOKEN and DIADEM_STATUS_TOKEN stand for join.token and status.token.")]
pub struct CoordinatorArgs {
    /// The board size, 1 to 32; needed only to begin a run.
    #[arg(long, value_name = "N")]
    n: Option<Board>,
    /// The run directory.
    #[arg(long, value_name = "DIR")]
    run: PathBuf,
    /// The method that a new run is planned for: auto, meet, search.
    #[arg(long, visible_alias = "kernel", value_name = "NAME", default_value = "auto", value_parser = auto::<Method>)]
    method: Auto<Method>,
    #[command(flatten)]
    split: SplitArgs,
    /// Which counts are made a second time, in another way and if possible on another machine: none, a share drawn at
    /// random as in 0.5%, all.
    ///
    /// A run goes on as it was told before; one that was told nothing checks 1%. What is said here goes on record; it
    /// may be raised later, and not lowered.
    #[arg(long, value_name = "POLICY")]
    double_check: Option<DoubleCheck>,
    /// Acknowledge a count only when so many followers (diadem follow) have it on disk, too: 0 to 16.
    ///
    /// A run goes on as it was told before; one that was told nothing waits for none. What is said here goes on record.
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(0..=MOST_FOLLOWERS as i64))]
    replicas: Option<u32>,
    /// Where to listen for workers.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:7227", value_parser = address)]
    listen: SocketAddr,
    /// Serve a dashboard of the run to browsers, and metrics to Prometheus, as on 127.0.0.1:7228 [default: none].
    ///
    /// Elsewhere than on this machine alone it wants --keys: browsers are asked for the status token then.
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = address)]
    http: Option<SocketAddr>,
    /// Speak TLS, and let those in who have a token or a certificate: a folder as diadem keys init makes it, with
    /// server.pem, server.key, join.token and, if wished, status.token and ca.pem (for client certificates).
    #[arg(long, value_name = "DIR")]
    keys: Option<PathBuf>,
    /// Listen also where others can connect, without TLS: whoever can reach the port can take part.
    #[arg(long, conflicts_with = "keys")]
    insecure: bool,
    /// The private key that the run is certified with (diadem certify): the ledger names its public half as the
    /// coordinator's. Ed25519 in PKCS#8; made where there is none [default: certify.key in the run directory].
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
    /// Go on answering status requests after the count is complete.
    #[arg(long)]
    stay: bool,
    #[command(flatten)]
    loss: LossArgs,
    /// Print the answer as one JSON object on stdout and nothing else there.
    #[arg(long)]
    json: bool,
}

/// A run that is served to workers.
#[derive(Debug)]
pub struct ServedRun {
    /// What to begin where there is no run yet, and what a run that is there must be of.
    pub board: Option<Board>,
    pub path: PathBuf,
    method: Option<Method>,
    scheme: Option<Scheme>,
    pub double_check: Option<DoubleCheck>,
    pub replicas: Option<u32>,
    pub listen: SocketAddr,
    /// Where the dashboard is served, if it is.
    pub http: Option<SocketAddr>,
    pub keys: Option<PathBuf>,
    /// Who signs for the run, if it is not the run's own key.
    pub signing_key: Option<PathBuf>,
    /// Whether status requests are answered after the end.
    pub stays: bool,
    /// Whether it goes on where acknowledged records are missing.
    pub accepts_loss: bool,
    pub json: bool,
}

/// Whoever can reach an address could take part or look on, and nobody has said that they may.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum UnguardedError {
    #[error(
        "{0} can be reached from other machines: say --keys DIR (diadem keys init makes one), or --insecure if everybody \
         who can reach it may take part"
    )]
    Run(SocketAddr),
    #[error(
        "{0} can be reached from other machines: say --keys DIR (diadem keys init makes one, with a status token), or \
         --insecure if everybody who can reach it may see the dashboard"
    )]
    Dashboard(SocketAddr),
}

impl TryFrom<CoordinatorArgs> for ServedRun {
    type Error = UnguardedError;
    fn try_from(args: CoordinatorArgs) -> Result<Self, UnguardedError> {
        let is_guarded = args.keys.is_some() || args.insecure;
        if !is_guarded && !args.listen.ip().is_loopback() {
            return Err(UnguardedError::Run(args.listen));
        }
        if let Some(address) = args.http.filter(|address| !is_guarded && !address.ip().is_loopback()) {
            return Err(UnguardedError::Dashboard(address));
        }
        Ok(Self {
            board: args.n,
            path: args.run,
            method: args.method.0,
            scheme: args.split.scheme(),
            double_check: args.double_check,
            replicas: args.replicas,
            listen: args.listen,
            http: args.http,
            keys: args.keys,
            signing_key: args.key,
            stays: args.stay,
            accepts_loss: args.loss.accept_loss,
            json: args.json,
        })
    }
}

impl ServedRun {
    /// The plan of the run, should it have to be begun.
    pub fn plan(&self) -> Option<PlanSpec> {
        self.board.map(|board| new_plan(board, self.method, self.scheme))
    }
}

/// Counts units for a coordinator until it says that all is counted.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  diadem worker --coordinator http://127.0.0.1:7227
  diadem worker --coordinator https://10.0.0.7:7227 --keys keys/worker
  diadem worker --coordinator http://127.0.0.1:7227 --threads 8 \\
     --name rack-3 --give-up-after 10m
  diadem worker --coordinator http://10.0.0.7:7227,http://10.0.0.8:7227
      the second after a takeover

Environment: DIADEM_JOIN_TOKEN stands for join.token, DIADEM_COORDINATOR for --coordinator.")]
pub struct WorkerArgs {
    /// The coordinator's address; several, one after the other or with commas between, are tried in turn.
    #[arg(long, value_name = "URL", value_delimiter = ',', required = true)]
    pub coordinator: Vec<String>,
    /// Know the coordinator, and be known: a folder with ca.pem and join.token, or client.pem and client.key.
    #[arg(long, value_name = "DIR")]
    pub keys: Option<PathBuf>,
    #[command(flatten)]
    pub kernel: KernelArgs,
    #[command(flatten)]
    pub gpu: GpuArgs,
    /// What to be called in status and ledger [default: host name and process number].
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// The machine's name: counts are checked on another machine than the one that made them [default: host name].
    #[arg(long, value_name = "NAME")]
    pub machine: Option<String>,
    /// What to do when the coordinator has not answered for as long as --give-up-after says: wait for it all the same; finish
    /// the units in hand, then leave; exit at once [default: wait, with --give-up-after exit].
    #[arg(long, value_name = "WHAT", value_enum)]
    pub on_coordinator_lost: Option<OnLost>,
    /// After how long without an answer the coordinator is lost, as in 90s, 10m, 2h [default: 10s].
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub give_up_after: Option<Duration>,
    #[command(flatten)]
    pub limits: LimitsArgs,
    /// Hold units for this long ahead, to go on counting through outages, as in 1h; at most a quarter of its share of what
    /// is left, and 50,000 units [default: 10s].
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub ahead: Option<Duration>,
    /// When it is asked to end (Ctrl-C or SIGTERM), go on for so long with the units that are being counted, and give back all
    /// others at once; asked again, it ends at once. It is killed by a batch engine that waits for less.
    #[arg(long, value_name = "TIME", default_value = "20s", value_parser = time)]
    pub drain: Duration,
}

/// What a worker does when its coordinator is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OnLost {
    /// Wait for it, for as long as it takes.
    Wait,
    /// Count what is in hand, and leave when that is done and it is still away.
    Finish,
    /// Leave.
    Exit,
}

/// Without an answer for so long the coordinator is lost, unless told otherwise.
const LOST: Duration = Duration::from_secs(10);

impl WorkerArgs {
    /// After how long the worker gives its coordinator up, if ever.
    pub fn give_up_after(&self) -> Option<Duration> {
        match self.on_coordinator_lost {
            None => self.give_up_after,
            Some(OnLost::Wait) => None,
            Some(OnLost::Finish | OnLost::Exit) => Some(self.give_up_after.unwrap_or(LOST)),
        }
    }
}

/// Keeps a verified copy of a coordinator's run as it grows; it can be started as the coordinator.
///
/// Ends when the run is complete and all of it is copied. Until then it waits for a coordinator that is away, for as long as
/// --give-up-after says, and tells every ten minutes how to go on without.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  diadem follow http://127.0.0.1:7227 --run ./copy
  diadem follow https://10.0.0.7:7227 --keys keys/follower --run ./copy
  diadem coordinator --run ./copy --listen 10.0.0.8:7227 --keys keys/coordinator
      when the first one is gone

Environment: DIADEM_FOLLOW_TOKEN stands for follow.token, DIADEM_COORDINATOR for the address.")]
pub struct FollowArgs {
    /// The coordinator's address; several are tried in turn.
    #[arg(value_name = "URL", env = "DIADEM_COORDINATOR", value_delimiter = ',', required = true)]
    pub coordinator: Vec<String>,
    /// The directory of the copy: made where it is missing, gone on with where it is there.
    #[arg(long, value_name = "DIR")]
    pub run: PathBuf,
    /// Know the coordinator, and be known: a folder with ca.pem and follow.token.
    #[arg(long, value_name = "DIR")]
    pub keys: Option<PathBuf>,
    /// Leave when the coordinator has not answered for this long, as in 90s, 10m, 2h [default: wait].
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub give_up_after: Option<Duration>,
}

/// Changes how the counts of a run are checked and copied, while it is served; it stands in the ledger with the reason.
///
/// More may be checked than before, not less. With fewer replicas, counts that wait to be acknowledged are so at once.
#[derive(Debug, Args)]
#[command(
    override_usage = "\
diadem policy [OPTIONS] --reason <TEXT>
           <--double-check <POLICY>|--replicas <K>> <URL>",
    after_help = "\
Examples:
  diadem policy https://10.0.0.7:7227 --keys keys/admin \\
     --double-check all --reason \"it is a record\"
  diadem policy https://10.0.0.7:7227 --keys keys/admin --replicas 0 \\
     --reason \"the follower's disk is broken\"

Environment: DIADEM_ADMIN_TOKEN stands for admin.token."
)]
pub struct PolicyArgs {
    /// The coordinator's address.
    #[arg(value_name = "URL")]
    pub coordinator: String,
    /// Know the coordinator, and be known: a folder with ca.pem and admin.token.
    #[arg(long, value_name = "DIR")]
    pub keys: Option<PathBuf>,
    #[command(flatten)]
    pub change: PolicyChangeArgs,
    /// Why, for those who read the ledger.
    #[arg(long, value_name = "TEXT", value_parser = reason)]
    pub reason: String,
}

/// What is changed.
#[derive(Debug, Args)]
#[group(required = true, multiple = true)]
pub struct PolicyChangeArgs {
    /// Which counts are made a second time from now on: a share drawn at random as in 5%, all; with all, those that are
    /// on record, too.
    #[arg(long, value_name = "POLICY")]
    pub double_check: Option<DoubleCheck>,
    /// How many followers must have a record before it is acknowledged: 0 to 16.
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(0..=MOST_FOLLOWERS as i64))]
    pub replicas: Option<u32>,
}

fn address(text: &str) -> Result<SocketAddr, ValueError> {
    text.parse().map_err(|_| ValueError::new(text, "an IP address and a port, as in 127.0.0.1:7227"))
}
