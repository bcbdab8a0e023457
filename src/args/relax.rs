//! When remaining checks may become less independent.

use std::time::Duration;

use clap::Args;

use super::value::time;

/// After how long less independent checks are accepted.
#[derive(Args, Clone, Copy, Debug)]
pub struct RelaxArgs {
    /// Relax the last checks after this time.
    ///
    /// When only checks are left, less independent checks are accepted after each period of this length,
    /// as in 10m [default: a tenth of the time spent counting, at least 15 s].
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub relax_checks_after: Option<Duration>,
}
