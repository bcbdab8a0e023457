//! The arguments of the commands by which an operator steers a run while it is served: pause, resume, drain.

use std::path::PathBuf;

use clap::Args;

use super::records::reason;

/// The coordinator of a request, and the keys of the operator.
#[derive(Debug, Args)]
pub struct OperatorArgs {
    /// Coordinator URL.
    ///
    /// Of several, the coordinator of the highest term is used. @FILE stands for the addresses in a file.
    #[arg(long, value_name = "URL", value_delimiter = ',', default_value = "http://127.0.0.1:7227")]
    pub coordinator: Vec<String>,
    /// Folder with ca.pem and admin.token.
    #[arg(long, value_name = "DIR")]
    pub keys: Option<PathBuf>,
}

/// Stop lending new units.
///
/// Workers count the units they hold (two for each thread, or more with --ahead). Then they wait. To free
/// cores at once, use diadem drain.
///
/// The run stays so, also when its coordinator is started again, until diadem resume. A follower that takes over does not
/// pause.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  diadem pause --reason \"the cluster is needed until Monday\"
  diadem pause --coordinator https://10.0.0.7:7227 --keys keys/admin \\
     --reason maintenance

Environment: DIADEM_ADMIN_TOKEN stands for admin.token, DIADEM_COORDINATOR for the address.")]
pub struct PauseArgs {
    #[command(flatten)]
    pub operator: OperatorArgs,
    /// Reason, shown in the status.
    #[arg(long, value_name = "TEXT", value_parser = reason)]
    pub reason: String,
}

/// Lend units again after a pause.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  diadem resume
  diadem resume --coordinator https://10.0.0.7:7227 --keys keys/admin

Environment: DIADEM_ADMIN_TOKEN stands for admin.token, DIADEM_COORDINATOR for the address.")]
pub struct ResumeArgs {
    #[command(flatten)]
    pub operator: OperatorArgs,
}

/// Stop the workers of a machine after their current units.
///
/// They give back the rest and exit as after a signal.
/// Only connected workers are drained; a worker that is started later counts.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  diadem drain rack-3
  diadem drain ada/rack-3 --coordinator https://10.0.0.7:7227 --keys keys/admin
      a machine of the owner ada

Environment: DIADEM_ADMIN_TOKEN stands for admin.token, DIADEM_COORDINATOR for the address.")]
pub struct DrainArgs {
    /// Machine, as NAME or OWNER/NAME.
    ///
    /// NAME alone will do where no other owner has a machine of that name; the status shows both.
    #[arg(value_name = "MACHINE")]
    pub machine: String,
    #[command(flatten)]
    pub operator: OperatorArgs,
}
