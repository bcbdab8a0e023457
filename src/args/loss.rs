//! What to do where a run lacks what was acknowledged: for the commands that go on with one.

use clap::Args;

#[derive(Clone, Copy, Debug, Args)]
pub struct LossArgs {
    /// Go on from what the ledger has, although acknowledged records are missing or unreadable at its end: what is cut
    /// off is kept in a file beside it, and the units are counted again.
    #[arg(long)]
    pub accept_loss: bool,
}

/// The same for who serves a run, and may have lost it to another one.
#[derive(Clone, Copy, Debug, Args)]
pub struct ServedLossArgs {
    #[command(flatten)]
    pub here: LossArgs,
    /// Take the run over once more: another coordinator went on with it, and is gone for good. What that one alone has on
    /// record is lost and counted again; its workers and followers come back to this one.
    #[arg(long)]
    pub take_over: bool,
}
