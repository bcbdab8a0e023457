//! What to do where a run lacks what was acknowledged: for the commands that go on with one.

use clap::Args;

#[derive(Clone, Copy, Debug, Args)]
pub struct LossArgs {
    /// Resume although acknowledged records are missing or unreadable at the end of the ledger. The cut-off
    /// part is kept in a file beside the ledger, and its units are counted again.
    #[arg(long)]
    pub accept_loss: bool,
}

/// The same for who serves a run, and may have lost it to another one.
#[derive(Clone, Copy, Debug, Args)]
pub struct ServedLossArgs {
    #[command(flatten)]
    pub here: LossArgs,
    /// Take the run over from another coordinator, once: --run is a follower's copy, or the run directory of a coordinator that
    /// stopped for another one. The other coordinator must be gone permanently, or be the wrong one: what it alone has on record is
    /// counted again. Workers and followers come to this one.
    #[arg(long)]
    pub take_over: bool,
}
