//! The arguments of `diadem policy`.

use clap::Args;
use records::DoubleCheck;
use records::policy::MOST_FOLLOWERS;

use super::keys::owner_name;
use super::records::reason;
use super::steering::OperatorArgs;
use super::value::{CHECKS, choice, whole};

/// Change how a served run is checked and copied.
///
/// The change stands in the ledger with its reason.
/// More may be checked than before, not less. With fewer replicas, waiting counts are acknowledged at once.
/// The command prints how to undo it.
/// The change is permanent: remove the same options from the command that starts the coordinator.
#[derive(Debug, Args)]
#[command(
    override_usage = "\
diadem policy [OPTIONS] --reason <TEXT>
           <--double-check <POLICY>|--replicas <K>|--require-owners <K>|
           --own-checks <SHARE>|--own <NAME>> [URL]",
    after_help = "\
Examples:
  diadem policy --coordinator https://10.0.0.7:7227 --keys keys/admin \\
     --double-check all --reason \"it is a record\"
  diadem policy --coordinator https://10.0.0.7:7227 --keys keys/admin \\
     --replicas 0 --reason \"the follower's disk is broken\"

Environment: DIADEM_ADMIN_TOKEN stands for admin.token, DIADEM_COORDINATOR for the address."
)]
pub struct PolicyArgs {
    /// Coordinator URL, instead of --coordinator.
    #[arg(value_name = "URL", value_delimiter = ',', conflicts_with = "coordinator")]
    pub urls: Vec<String>,
    #[command(flatten)]
    pub operator: OperatorArgs,
    #[command(flatten)]
    pub change: PolicyChangeArgs,
    /// Only print what would change.
    #[arg(long)]
    pub dry_run: bool,
    /// Reason, recorded in the ledger.
    #[arg(long, value_name = "TEXT", value_parser = reason)]
    pub reason: String,
}

/// The changes.
#[derive(Clone, Debug, Args)]
#[group(required = true, multiple = true)]
pub struct PolicyChangeArgs {
    /// Checks from now on: 5%, all.
    ///
    /// A share such as 5% is drawn at random from new counts; all includes the counts on record.
    #[arg(long, value_name = "POLICY", value_parser = choice::<DoubleCheck>(&CHECKS[1..]), hide_possible_values = true)]
    pub double_check: Option<DoubleCheck>,
    /// Followers that must have a count: 0 to 16.
    ///
    /// A count is acknowledged only when so many have it on disk.
    #[arg(long, value_name = "K", value_parser = whole(0..=MOST_FOLLOWERS as u32), allow_negative_numbers = true)]
    pub replicas: Option<u32>,
    /// Owners who must count a checked unit: 1, 2.
    ///
    /// 1 lifts the requirement.
    #[arg(long, value_name = "K", value_parser = whole(1..=2_u32), allow_negative_numbers = true)]
    pub require_owners: Option<u32>,
    /// Units that your own machines count once more.
    ///
    /// A share such as 1%, drawn anew, or all; none lifts it. Needs --own if there were none before.
    #[arg(long, value_name = "SHARE", value_parser = choice::<DoubleCheck>(CHECKS), hide_possible_values = true)]
    pub own_checks: Option<DoubleCheck>,
    /// Owner of your own machines for --own-checks.
    #[arg(long, value_name = "NAME", value_parser = owner_name)]
    pub own: Option<String>,
}
