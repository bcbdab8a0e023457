//! What to do where the ledger of a run lacks what was acknowledged: for the commands that go on with one.

use clap::Args;

#[derive(Clone, Copy, Debug, Args)]
pub struct LossArgs {
    /// Go on from what the ledger has, although acknowledged records are missing or unreadable at its end: what is cut
    /// off is kept in a file beside it, and the units are counted again.
    #[arg(long)]
    pub accept_loss: bool,
}
