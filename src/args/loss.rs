//! How to resume a run that lacks acknowledged records.

use clap::Args;

#[derive(Clone, Copy, Debug, Args)]
pub struct LossArgs {
    /// Resume without the missing records.
    ///
    /// Acknowledged records at the end of the ledger are missing or unreadable. A part that is cut off is
    /// kept in a file beside the ledger, and its units are counted again.
    #[arg(long)]
    pub accept_loss: bool,
}

/// The same for a coordinator, whose run may also be served by another coordinator.
#[derive(Clone, Copy, Debug, Args)]
pub struct ServedLossArgs {
    #[command(flatten)]
    pub here: LossArgs,
    /// Take over from another coordinator.
    ///
    /// Once: --run is a follower's copy, or the run directory of a coordinator that stopped in favour of
    /// another. The other coordinator must be gone permanently, or be the wrong one: counts that only it
    /// has recorded are made again. Workers and followers move to this coordinator.
    #[arg(long)]
    pub take_over: bool,
    /// Only print what --take-over would change.
    ///
    /// The terms, what the folder has, what it may lack, and the way back.
    #[arg(long, requires = "take_over")]
    pub dry_run: bool,
}
