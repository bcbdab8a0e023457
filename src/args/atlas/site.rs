//! The arguments of `diadem atlas pages`.

use std::path::PathBuf;

use clap::Args;
use queens::Board;

/// Write the atlas of a board as pages for a browser.
///
/// Families with their images, rings to go through, a board to play on. The pages are self-contained; they need no server and no network.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  diadem atlas pages --html ./atlas             open ./atlas/index.html
  diadem atlas pages --html ./atlas-6 --n 6     of a board of 6")]
pub struct SiteArgs {
    /// Folder for the pages.
    ///
    /// A new or an empty one, or one with such pages.
    #[arg(long, value_name = "DIR")]
    pub html: PathBuf,
    /// Board size, 4 to 10.
    #[arg(long, value_name = "N", default_value = "8")]
    pub n: Board,
}
