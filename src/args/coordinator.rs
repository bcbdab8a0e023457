//! The arguments of `diadem coordinator`.

use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;
use std::{fmt, io};

use clap::Args;
use queens::Board;
use queens::kernel::Method;
use queens::plan::{PlanSpec, Scheme};
use records::DoubleCheck;
use records::policy::MOST_FOLLOWERS;
use ureq::http::Uri;

use super::external::{ExternalCommand, command_line};
use super::keys::owner_name;
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
#[allow(clippy::struct_excessive_bools, reason = "each is an option of its own")]
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
    /// Units that your own machines count once more.
    ///
    /// A share such as 1%, or all: drawn at random after each count, at least 200 units. If your machines
    /// contradict two owners who agree, both are suspended, and there is no answer until you decide. It is
    /// recorded in the ledger; none, or diadem policy, lifts it.
    #[arg(long, value_name = "SHARE", value_parser = choice::<DoubleCheck>(CHECKS), hide_possible_values = true)]
    own_checks: Option<DoubleCheck>,
    /// Owner of your own machines for --own-checks.
    ///
    /// The name of a key that only your machines have, as in diadem keys client.
    #[arg(long, value_name = "NAME", value_parser = owner_name)]
    own: Option<String>,
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
    /// An IP address or a host name, and a port. Workers and all other clients connect to it.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:7227", value_parser = ListenAddress::from_str)]
    listen: ListenAddress,
    /// Address of the dashboard [default: none].
    ///
    /// It serves a page to browsers and metrics to Prometheus, as on 127.0.0.1:7228. Beyond this machine
    /// it requires --keys: browsers then need the status token.
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = ListenAddress::from_str)]
    http: Option<ListenAddress>,
    /// Show everybody a public page on --http.
    ///
    /// It has progress, families, speed, history and credits by owner, but no machines, workers, reasons
    /// or paths. With --keys, the status token opens the whole dashboard. Without keys nobody gets more
    /// than the public page, which other machines may then reach.
    #[arg(long, requires = "http")]
    public: bool,
    /// Command to run on an event [default: none].
    ///
    /// It reads one JSON object on its input: the event (done, stalled, conflict, disk, quarantine or
    /// follower-lost) and a sentence for the operator. No shell runs; a command that takes longer than
    /// ten seconds is ended.
    #[arg(long, value_name = "CMD", value_parser = command_line)]
    notify: Option<ExternalCommand>,
    /// URL to post the same events to.
    ///
    /// Set a URL with a secret as a variable or in a file (--config): others can see command lines.
    #[arg(long, value_name = "URL", value_parser = notify_url)]
    notify_url: Option<String>,
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
#[allow(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub struct ServedRun {
    /// The board of a new run, or the required board of an existing run.
    pub board: Option<Board>,
    pub path: PathBuf,
    method: Option<Method>,
    pub scheme: Option<Scheme>,
    pub double_check: Option<DoubleCheck>,
    pub require_owners: Option<u32>,
    pub own_checks: Option<DoubleCheck>,
    pub own: Option<String>,
    pub relax_after: Option<Duration>,
    pub replicas: Option<u32>,
    pub listen: ListenAddress,
    /// The address of the dashboard, if it is served.
    pub http: Option<ListenAddress>,
    /// Whether everybody may see the public page.
    pub is_public: bool,
    /// The command that reads events, if there is one.
    pub notify: Option<ExternalCommand>,
    /// The URL that events are posted to, if there is one.
    pub notify_url: Option<String>,
    /// Whether workers without credentials may come from other machines.
    is_insecure: bool,
    pub keys: Option<PathBuf>,
    /// Who signs for the run, if it is not the run's own key.
    pub signing_key: Option<PathBuf>,
    /// Whether status requests are answered after the end.
    pub stays: bool,
    /// The losses that a resumed run accepts.
    pub loss: ServedLossArgs,
    pub json: bool,
}

impl From<CoordinatorArgs> for ServedRun {
    fn from(args: CoordinatorArgs) -> Self {
        Self {
            board: args.n,
            path: args.run,
            method: args.method.0,
            scheme: args.split.scheme(),
            double_check: args.double_check,
            require_owners: args.require_owners,
            own_checks: args.own_checks,
            own: args.own,
            relax_after: args.relax.relax_checks_after,
            replicas: args.replicas,
            listen: args.listen,
            http: args.http,
            is_public: args.public,
            notify: args.notify,
            notify_url: args.notify_url,
            is_insecure: args.insecure,
            keys: args.keys,
            signing_key: args.key,
            stays: args.stay,
            loss: args.loss,
            json: args.json,
        }
    }
}

impl ServedRun {
    /// The plan of the run, should it have to be begun.
    pub fn plan(&self) -> Option<PlanSpec> {
        self.board.map(|board| new_plan(board, self.method, self.scheme))
    }

    /// Refuses addresses that other machines can reach, unless callers need credentials or the user lets everybody in.
    ///
    /// # Errors
    /// Other machines can reach one.
    pub fn refuse_unguarded(&self, listen: SocketAddr, http: Option<SocketAddr>) -> Result<(), WrongCommand> {
        let is_open = |address: &SocketAddr| !address.ip().is_loopback();
        if self.keys.is_some() || self.is_insecure {
            return Ok(());
        }
        if is_open(&listen) {
            return Err(WrongCommand::UnguardedRun(listen));
        }
        http.filter(|http| is_open(http) && !self.is_public)
            .map_or(Ok(()), |address| Err(WrongCommand::UnguardedDashboard(address)))
    }
}

fn notify_url(text: &str) -> Result<String, ValueError> {
    let is_http = |url: Uri| matches!(url.scheme_str(), Some("http" | "https")) && url.host().is_some();
    let is_url = text.parse().is_ok_and(is_http);
    let wanted = || ValueError::new(text, "a URL such as https://example.org/hook");
    is_url.then(|| text.to_owned()).ok_or_else(wanted)
}

/// An address to listen on: an IP address or a host name, and a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListenAddress {
    host: String,
    port: u16,
}

impl FromStr for ListenAddress {
    type Err = ValueError;

    fn from_str(text: &str) -> Result<Self, ValueError> {
        let wanted = || ValueError::new(text, "an address and a port, as in 127.0.0.1:7227 or node7:7227");
        let (host, port) = text.rsplit_once(':').ok_or_else(wanted)?;
        let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        let is_whole = bare.map_or(!host.contains([':', '[', ']']), |bare| bare.contains(':'));
        let port = port.parse().ok().filter(|_| is_whole && !host.is_empty() && !host.contains(['/', ' ']));
        Ok(Self { host: bare.unwrap_or(host).to_owned(), port: port.ok_or_else(wanted)? })
    }
}

impl ListenAddress {
    /// The address of this machine: of a name the first one of IPv4, or else of IPv6.
    ///
    /// # Errors
    /// The name has no address.
    pub fn resolve(&self) -> io::Result<SocketAddr> {
        let addresses: Vec<_> = (self.host.as_str(), self.port).to_socket_addrs()?.collect();
        let first = addresses.iter().find(|address| address.is_ipv4()).or(addresses.first());
        first.copied().ok_or_else(|| io::Error::other("it has no address"))
    }
}

impl fmt::Display for ListenAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { host, port } = self;
        if host.contains(':') { write!(f, "[{host}]:{port}") } else { write!(f, "{host}:{port}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listening_address_may_be_a_name_or_have_a_zone() {
        for text in ["127.0.0.1:7227", "node7.example.org:0", "[::1]:7227", "[fe80::1%eth0]:7227"] {
            assert_eq!(ListenAddress::from_str(text).unwrap().to_string(), text);
        }
        for text in
            ["localhost", "7227", ":7227", "::1:7227", "node7:", "node7:70000", "[node7]:1", "http://a:1", ""]
        {
            assert!(ListenAddress::from_str(text).unwrap_err().to_string().contains("node7:7227"), "{text}");
        }
        let local = ListenAddress::from_str("localhost:7227").unwrap().resolve().unwrap();
        assert!(local.ip().is_loopback() && local.port() == 7227, "{local}");
        let scoped = ListenAddress::from_str("[fe80::1%1]:7227").unwrap().resolve().unwrap();
        assert!(matches!(scoped, SocketAddr::V6(address) if address.scope_id() == 1), "{scoped}");
    }
}
