//! The arguments of `diadem picture`.

use std::ffi::OsStr;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use queens::Board;

use super::sizes::{pages, sizes};
use super::solutions::SettingArgs;
use super::written_placement::WrittenPlacement;
use crate::args::value::{ValueError, path, whole};

/// Draws a picture into a file, SVG or PNG by its name.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  diadem picture sheet 8 --out sheet.svg              all fundamental solutions
  diadem picture board 15863724 --out board.png       one placement
  diadem picture constellation 12 --orbit 100 --out c.svg
  diadem picture tree 8..12 --out tree.png
      the level sizes of the backtrack tree")]
pub struct PictureArgs {
    #[command(subcommand)]
    pub subject: Subject,
}

#[derive(Debug, Subcommand)]
pub enum Subject {
    Board(BoardPictureArgs),
    Sheet(SheetPictureArgs),
    Constellation(ConstellationPictureArgs),
    Tree(TreePictureArgs),
    Search(SearchPictureArgs),
    Turns(TurnsPictureArgs),
}

/// The file of a picture.
#[derive(Debug, Args)]
pub struct OutArgs {
    /// The file, named .svg or .png; further pages are FILE-2, FILE-3 and so on.
    #[arg(long, value_name = "FILE", value_parser = path(picture_file))]
    pub out: PathBuf,
    /// For a dark screen rather than white paper.
    #[arg(long)]
    pub dark: bool,
}

/// The file of a moving picture.
#[derive(Debug, Args)]
pub struct MovingOutArgs {
    /// The file, named .svg.
    #[arg(long, value_name = "FILE", value_parser = path(moving_file))]
    pub out: PathBuf,
    /// For a dark screen rather than white paper.
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

/// Draws one placement, in red the pairs that attack each other.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  diadem picture board 15863724 --out board.svg
  diadem picture board 1234 --out attacks.png     each pair of these in red
  diadem picture board 2413 --board torus --out torus.svg
      with arrows on the edges that are one")]
pub struct BoardPictureArgs {
    /// The rows by column, as 15863724 or 1,5,8,6,3,7,2,4, or squares, as 1:1,2:5 and so on.
    #[arg(value_name = "PLACEMENT")]
    pub placement: WrittenPlacement,
    /// Rows and columns are counted from 0 in PLACEMENT.
    #[arg(long)]
    pub from_zero: bool,
    #[command(flatten)]
    pub setting: SettingArgs,
    #[command(flatten)]
    pub out: OutArgs,
}

/// Draws all fundamental solutions of a board, 48 on a page.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  diadem picture sheet 8 --out sheet.svg")]
pub struct SheetPictureArgs {
    /// The board size.
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

/// Draws a boundary constellation, or a unit of the plan, with the squares that it leaves free.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  diadem picture constellation 12 --orbit 100 --out c.svg
      the hundredth of diadem constellations 12 --list
  diadem picture constellation 16 --unit 7 --out unit.png
      unit 7 of the plan of n = 16")]
pub struct ConstellationPictureArgs {
    /// The board size.
    #[arg(value_name = "N")]
    pub n: Board,
    /// The constellation's number in the list, from 1.
    #[arg(long, value_name = "K", required_unless_present = "unit", conflicts_with = "unit", value_parser = whole(1..=usize::MAX), allow_negative_numbers = true)]
    pub orbit: Option<usize>,
    /// The unit's number in the plan, from 0.
    #[arg(long, value_name = "U", value_parser = whole(0..=u64::MAX), allow_negative_numbers = true)]
    pub unit: Option<u64>,
    #[command(flatten)]
    pub out: OutArgs,
}

/// Draws the search for a first solution as a picture that moves, step by step (SVG).
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  diadem picture search 8 --out search.svg       113 steps, smallest first
  diadem picture search 20 --random --seed 2 --out random.svg")]
pub struct SearchPictureArgs {
    /// The board size.
    #[arg(value_name = "N")]
    pub n: Board,
    /// Choose columns at random.
    #[arg(long)]
    pub random: bool,
    /// The seed of the random choices.
    #[arg(long, value_name = "S", default_value_t = 1, requires = "random", value_parser = whole(0..=u64::MAX), allow_negative_numbers = true)]
    pub seed: u64,
    #[command(flatten)]
    pub out: MovingOutArgs,
}

/// Draws a placement that turns into its images under the eight symmetries, as a picture that moves (SVG).
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  diadem picture turns 15863724 --out turns.svg")]
pub struct TurnsPictureArgs {
    /// The rows by column, as 15863724 or 1,5,8,6,3,7,2,4, or squares, as 1:1,2:5 and so on; up to 32 queens.
    #[arg(value_name = "PLACEMENT")]
    pub placement: WrittenPlacement,
    /// Rows and columns are counted from 0 in PLACEMENT.
    #[arg(long)]
    pub from_zero: bool,
    #[command(flatten)]
    pub out: MovingOutArgs,
}

/// Draws how many partial solutions there are of each number of rows.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  diadem picture tree 8..12 --out tree.svg")]
pub struct TreePictureArgs {
    /// The board sizes, up to 16, as 8..12 (both included) or 8.
    #[arg(value_name = "N..M", value_parser = sizes)]
    pub sizes: RangeInclusive<u8>,
    #[command(flatten)]
    pub out: OutArgs,
}
