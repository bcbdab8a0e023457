//! The arguments of `diadem follow`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgGroup, Args};

use super::value::time;

/// Keep a verified copy of a coordinator's run.
///
/// The copy grows with the run and can take it over.
/// Ends when the run is complete and fully copied. Until then it waits for an absent coordinator, at most as
/// long as --give-up-after. Meanwhile it prints every ten minutes how to continue without that coordinator.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("address").args(["urls", "coordinator"]).required(true))]
#[command(after_help = "\
Examples:
  diadem follow --coordinator http://127.0.0.1:7227 --run ./copy
  diadem follow --coordinator https://10.0.0.7:7227 \\
     --keys keys/follower --run ./copy
  diadem coordinator --run ./copy --take-over --listen 10.0.0.8:7227 \\
     --keys keys/coordinator
      when the first one is gone

Environment: DIADEM_FOLLOW_TOKEN stands for follow.token, DIADEM_COORDINATOR for the address.")]
pub struct FollowArgs {
    /// Coordinator URL; several are tried in turn.
    ///
    /// @FILE stands for the addresses in a file, one a line. It is read again when the coordinator is lost.
    #[arg(long, value_name = "URL", value_delimiter = ',')]
    pub coordinator: Vec<String>,
    /// Coordinator URL, instead of --coordinator.
    #[arg(value_name = "URL", value_delimiter = ',')]
    pub urls: Vec<String>,
    /// Directory of the copy.
    ///
    /// Made if missing, resumed if it exists.
    #[arg(long, value_name = "DIR")]
    pub run: PathBuf,
    /// Folder with ca.pem and follow.token.
    #[arg(long, value_name = "DIR")]
    pub keys: Option<PathBuf>,
    /// Leave after this time without an answer.
    ///
    /// As in 90s, 10m, 2h [default: wait forever].
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub give_up_after: Option<Duration>,
}

impl FollowArgs {
    /// The coordinator's addresses, from the argument or the option.
    pub fn addresses(&self) -> &[String] {
        if self.urls.is_empty() { &self.coordinator } else { &self.urls }
    }
}
