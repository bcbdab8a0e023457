//! The arguments of `diadem atlas picture`.

use std::ffi::OsStr;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use atlas::tree::LARGEST;
use clap::{Args, Subcommand};
use queens::Board;

use super::sizes::{pages, sizes};
use super::solutions::SettingArgs;
use super::written_placement::WrittenPlacement;
use crate::args::value::{ValueError, path, whole};

/// Draw a picture into an SVG or PNG file.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  diadem atlas picture sheet 8 --out sheet.svg              all fundamental solutions
  diadem atlas picture board 15863724 --out board.png       one placement
  diadem atlas picture constellation 12 --orbit 100 --out c.svg
  diadem atlas picture tree 8..12 --out tree.png
      the level sizes of the backtrack tree")]
pub struct PictureArgs {
    #[command(subcommand)]
    pub subject: Subject,
}

#[derive(Debug, Subcommand)]
pub enum Subject {
    Board(BoardPictureArgs),
    Sheet(SheetPictureArgs),
    Strips(StripsPictureArgs),
    Constellation(ConstellationPictureArgs),
    Tree(TreePictureArgs),
    Search(SearchPictureArgs),
    Turns(TurnsPictureArgs),
}

/// The file of a picture.
#[derive(Debug, Args)]
pub struct OutArgs {
    /// File, named .svg or .png.
    ///
    /// Further pages are FILE-2, FILE-3 and so on.
    #[arg(long, value_name = "FILE", value_parser = path(picture_file))]
    pub out: PathBuf,
    /// Draw for a dark screen.
    #[arg(long)]
    pub dark: bool,
}

/// The file of a moving picture.
#[derive(Debug, Args)]
pub struct MovingOutArgs {
    /// File, named .svg.
    #[arg(long, value_name = "FILE", value_parser = path(moving_file))]
    pub out: PathBuf,
    /// Draw for a dark screen.
    #[arg(long)]
    pub dark: bool,
}

/// The file of a picture; its name gives the format.
pub fn picture_file(path: &Path) -> Result<(), ValueError> {
    ends_in(path, &["svg", "png"], "a picture's name, which ends in .svg or .png")
}

fn moving_file(path: &Path) -> Result<(), ValueError> {
    ends_in(path, &["svg"], "the name of a picture that moves, which ends in .svg")
}

/// Refuses a file whose name ends in none of these.
fn ends_in(path: &Path, extensions: &[&str], wanted: &'static str) -> Result<(), ValueError> {
    let is_known = |extension: &OsStr| extensions.iter().any(|known| extension.eq_ignore_ascii_case(known));
    if path.extension().is_some_and(is_known) { Ok(()) } else { Err(ValueError::of_path(path, wanted)) }
}

/// Draw one placement, with attacking pairs in red.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  diadem atlas picture board 15863724 --out board.svg
  diadem atlas picture board 1234 --out attacks.png     each pair of these in red
  diadem atlas picture board 2413 --board torus --out torus.svg
      with arrows on the edges that are one")]
pub struct BoardPictureArgs {
    /// Rows by column, or squares.
    ///
    /// Rows by column, as 15863724 or 1,5,8,6,3,7,2,4; or squares, as 1:1,2:5 and so on; up to 32 queens.
    #[arg(value_name = "PLACEMENT")]
    pub placement: WrittenPlacement,
    /// Count from 0, in PLACEMENT and caption.
    #[arg(long)]
    pub from_zero: bool,
    #[command(flatten)]
    pub setting: SettingArgs,
    #[command(flatten)]
    pub out: OutArgs,
}

/// Draw all fundamental solutions of a board, 48 on a page.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  diadem atlas picture sheet 8 --out sheet.svg")]
pub struct SheetPictureArgs {
    /// Board size.
    #[arg(value_name = "N")]
    pub n: Board,
    /// Draw only these pages.
    #[arg(long, value_name = "A..B", value_parser = pages)]
    pub pages: Option<RangeInclusive<usize>>,
    #[command(flatten)]
    pub setting: SettingArgs,
    #[command(flatten)]
    pub out: OutArgs,
}

/// Draw strips to print, cut and fold.
///
/// There is one for each fundamental solution, with the lines k (columns), n (rows), N+1-k and N+1-n. Folded to a stick
/// with four sides, it shows two lines at each edge: the columns and rows of one image, or the rows and columns of another.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  diadem atlas picture strips 8 --out strips.svg")]
pub struct StripsPictureArgs {
    /// Board size.
    #[arg(value_name = "N")]
    pub n: Board,
    /// Draw only these pages.
    #[arg(long, value_name = "A..B", value_parser = pages)]
    pub pages: Option<RangeInclusive<usize>>,
    #[command(flatten)]
    pub out: OutArgs,
}

/// Draw a boundary constellation or a unit of the plan.
///
/// With the squares that it leaves free.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  diadem atlas picture constellation 12 --orbit 100 --out c.svg
      the hundredth of diadem atlas constellations 12 --list
  diadem atlas picture constellation 16 --unit 7 --out unit.png
      unit 7 of the plan of n = 16")]
pub struct ConstellationPictureArgs {
    /// Board size.
    #[arg(value_name = "N")]
    pub n: Board,
    /// Number of the constellation in the list, from 1.
    #[arg(long, value_name = "K", required_unless_present = "unit", conflicts_with = "unit", value_parser = whole(1..=usize::MAX), allow_negative_numbers = true)]
    pub orbit: Option<usize>,
    /// Number of the unit in the plan, from 0.
    #[arg(long, value_name = "U", value_parser = whole(0..=u64::MAX), allow_negative_numbers = true)]
    pub unit: Option<u64>,
    #[command(flatten)]
    pub out: OutArgs,
}

/// Draw the search for a first solution as a moving picture (SVG).
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  diadem atlas picture search 8 --out search.svg       113 steps, smallest first
  diadem atlas picture search 20 --random --seed 2 --out random.svg")]
pub struct SearchPictureArgs {
    /// Board size.
    #[arg(value_name = "N")]
    pub n: Board,
    /// Choose columns at random.
    #[arg(long)]
    pub random: bool,
    /// Seed of the random choices.
    #[arg(long, value_name = "S", default_value_t = 1, requires = "random", value_parser = whole(0..=u64::MAX), allow_negative_numbers = true)]
    pub seed: u64,
    #[command(flatten)]
    pub out: MovingOutArgs,
}

/// Draw the eight images of a placement as a moving picture (SVG).
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  diadem atlas picture turns 15863724 --out turns.svg")]
pub struct TurnsPictureArgs {
    /// Rows by column, or squares.
    ///
    /// Rows by column, as 15863724 or 1,5,8,6,3,7,2,4; or squares, as 1:1,2:5 and so on; up to 32 queens.
    #[arg(value_name = "PLACEMENT")]
    pub placement: WrittenPlacement,
    /// Count rows and columns from 0 in PLACEMENT.
    #[arg(long)]
    pub from_zero: bool,
    #[command(flatten)]
    pub out: MovingOutArgs,
}

/// Draw the number of partial solutions by rows.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  diadem atlas picture tree 8..12 --out tree.svg")]
pub struct TreePictureArgs {
    /// Board sizes, up to 16, as 8..12 or 8.
    ///
    /// Both ends are included.
    #[arg(value_name = "N..M", value_parser = sizes(1..=LARGEST))]
    pub sizes: RangeInclusive<u8>,
    #[command(flatten)]
    pub out: OutArgs,
}
