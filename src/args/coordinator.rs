//! The arguments of `diadem coordinator`.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use queens::Board;
use queens::kernel::Method;
use queens::plan::{PlanSpec, Scheme};
use records::DoubleCheck;
use records::policy::MOST_FOLLOWERS;

use super::loss::ServedLossArgs;
use super::plan::{SplitArgs, new_plan};
use super::relax::RelaxArgs;
use super::value::{Auto, CHECKS, METHODS, ValueError, auto, choice, whole};
use super::wrong_command::WrongCommand;

/// Lend the units of a run to workers.
///
/// Serves the run directory until all units are counted and checked, then prints the answer.
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

Environment: DIADEM_JOIN_TOKEN, DIADEM_STATUS_TOKEN, DIADEM_FOLLOW_TOKEN and DIADEM_ADMIN_TOKEN stand for \
join.token, status.token, follow.token and admin.token.")]
pub struct CoordinatorArgs {
    /// Board size of a new run, 1 to 32.
    #[arg(long, value_name = "N")]
    n: Option<Board>,
    /// Run directory.
    #[arg(long, value_name = "DIR")]
    run: PathBuf,
    /// Method of a new run: auto, meet, search.
    ///
    /// auto chooses by the board [default: auto].
    #[arg(long, value_name = "NAME", default_value = "auto", hide_default_value = true, value_parser = auto::<Method>(METHODS), hide_possible_values = true)]
    method: Auto<Method>,
    #[command(flatten)]
    split: SplitArgs,
    /// Checks: none, 0.5%, all [default: 1%].
    ///
    /// A check counts a unit a second time, in another way and if possible on another machine. A share
    /// such as 0.5% is drawn at random. The value is recorded in the ledger: a resumed run keeps it, and
    /// it may be raised but not lowered.
    #[arg(long, value_name = "POLICY", value_parser = choice::<DoubleCheck>(CHECKS), hide_possible_values = true)]
    double_check: Option<DoubleCheck>,
    /// Owners who must count a checked unit: 2.
    ///
    /// Checks wait for another owner, however long that takes. Needs --keys, by which owners are known.
    /// The requirement is recorded in the ledger; diadem policy lifts it.
    #[arg(long, value_name = "K", value_parser = whole(2..=2_u32), allow_negative_numbers = true, requires = "keys")]
    require_owners: Option<u32>,
    #[command(flatten)]
    relax: RelaxArgs,
    /// Followers that must have a count: 0 to 16.
    ///
    /// A count is acknowledged only when so many followers (diadem follow) have it on disk. The value is
    /// recorded in the ledger: a resumed run keeps it, and a new run waits for none.
    #[arg(long, value_name = "K", value_parser = whole(0..=MOST_FOLLOWERS as u32), allow_negative_numbers = true)]
    replicas: Option<u32>,
    /// Listen address.
    ///
    /// Workers and all other clients connect to it.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:7227", value_parser = address)]
    listen: SocketAddr,
    /// Address of the dashboard [default: none].
    ///
    /// It serves a page to browsers and metrics to Prometheus, as on 127.0.0.1:7228. Beyond this machine
    /// it requires --keys: browsers then need the status token.
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = address)]
    http: Option<SocketAddr>,
    /// Folder with certificate and tokens.
    ///
    /// Use TLS, and accept only clients with a token or a certificate. diadem keys init makes the folder.
    /// It has server.pem, server.key and join.token; status.token, follow.token, admin.token and ca.pem
    /// (for client certificates) are optional.
    #[arg(long, value_name = "DIR")]
    keys: Option<PathBuf>,
    /// Let anybody connect without keys.
    ///
    /// Whoever can reach the port can take part.
    #[arg(long, conflicts_with = "keys")]
    insecure: bool,
    /// Private key that certifies the run.
    ///
    /// The ledger records its public half, which diadem certify uses. Ed25519 in PKCS#8, made if missing
    /// [default: certify.key in the run directory].
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
    /// Answer status requests after the end.
    ///
    /// The coordinator does not exit when the count is complete or its answer is withheld.
    #[arg(long)]
    stay: bool,
    #[command(flatten)]
    loss: ServedLossArgs,
    /// Print the answer as one JSON object.
    #[arg(long)]
    json: bool,
}

/// A run that is served to workers.
#[derive(Debug)]
pub struct ServedRun {
    /// The board of a new run, or the required board of an existing run.
    pub board: Option<Board>,
    pub path: PathBuf,
    method: Option<Method>,
    pub scheme: Option<Scheme>,
    pub double_check: Option<DoubleCheck>,
    pub require_owners: Option<u32>,
    pub relax_after: Option<Duration>,
    pub replicas: Option<u32>,
    pub listen: SocketAddr,
    /// The address of the dashboard, if it is served.
    pub http: Option<SocketAddr>,
    pub keys: Option<PathBuf>,
    /// Who signs for the run, if it is not the run's own key.
    pub signing_key: Option<PathBuf>,
    /// Whether status requests are answered after the end.
    pub stays: bool,
    /// The losses that a resumed run accepts.
    pub loss: ServedLossArgs,
    pub json: bool,
}

impl TryFrom<CoordinatorArgs> for ServedRun {
    type Error = WrongCommand;
    fn try_from(args: CoordinatorArgs) -> Result<Self, WrongCommand> {
        let is_guarded = args.keys.is_some() || args.insecure;
        if !is_guarded && !args.listen.ip().is_loopback() {
            return Err(WrongCommand::UnguardedRun(args.listen));
        }
        if let Some(address) = args.http.filter(|address| !is_guarded && !address.ip().is_loopback()) {
            return Err(WrongCommand::UnguardedDashboard(address));
        }
        Ok(Self {
            board: args.n,
            path: args.run,
            method: args.method.0,
            scheme: args.split.scheme(),
            double_check: args.double_check,
            require_owners: args.require_owners,
            relax_after: args.relax.relax_checks_after,
            replicas: args.replicas,
            listen: args.listen,
            http: args.http,
            keys: args.keys,
            signing_key: args.key,
            stays: args.stay,
            loss: args.loss,
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

fn address(text: &str) -> Result<SocketAddr, ValueError> {
    text.parse().map_err(|_| ValueError::new(text, "an IP address and a port, as in 127.0.0.1:7227"))
}
