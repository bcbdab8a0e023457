//! The arguments of the commands that list single solutions: solutions, orbits, rings.

use std::path::PathBuf;

use atlas::format::SolutionFormat;
use atlas::textbook::ListingMethod;
use atlas::{Piece, Placement, PlacementError, Setting, Surface};
use clap::Args;
use queens::Board;
use thiserror::Error;

use super::written_placement::WrittenPlacement;
use crate::args::value::ValueError;

/// Other boards and pieces than the usual.
#[derive(Debug, Args)]
pub struct SettingArgs {
    /// The board: plain, cylinder (left and right edge glued), torus (top and bottom edge glued as well).
    #[arg(long = "board", value_name = "BOARD", default_value = "plain")]
    pub surface: Surface,
    /// The piece: rook, semiqueen (rising diagonals only), queen, superqueen (queen and knight).
    #[arg(long, value_name = "PIECE", default_value = "queen")]
    pub piece: Piece,
}

impl SettingArgs {
    /// The setting on the board of that size.
    pub fn on(&self, board: Board) -> Setting {
        Setting { board, surface: self.surface, piece: self.piece }
    }

    /// Whether it is queens on the plain board.
    fn is_usual(&self) -> bool {
        self.on(Board::LARGEST) == Setting::queens(Board::LARGEST)
    }
}

/// Lists solutions one by one, as they are found, in ascending order.
///
/// A solution is written as the rows by column: 15863724 has a queen in column 1 row 1 (a1), in column 2 row 5 (b5)
/// and so on. Beyond 9 columns the rows are separated by commas.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  diadem solutions 8                          all 92, numbered
  diadem solutions 30 --first 1               the first one, at once
  diadem solutions 8 --from 4,2,7,5,1,8,6,3
      in the order of this list's permutations
  diadem solutions 8 --method permutations --tried
      and how many permutations were tried until then
  diadem solutions 200 --random --seed 7      one of a large board
  diadem solutions 8 --first 2 --format board
  diadem solutions 8 --format svg --out ./boards
  diadem solutions 7 --board torus --count    how many torus queens: 28")]
pub struct SolutionsArgs {
    /// The board size: 1 to 32, with --random up to 255.
    #[arg(value_name = "N", value_parser = size)]
    n: u8,
    /// Only the first K.
    #[arg(long, value_name = "K", value_parser = at_least_one)]
    first: Option<u64>,
    /// In the order in which the permutations of this list are generated position by position.
    #[arg(long, value_name = "PERMUTATION", conflicts_with_all = ["random", "method"])]
    from: Option<WrittenPlacement>,
    /// Rows are counted from 0 in PERMUTATION.
    #[arg(long, requires = "from")]
    from_zero: bool,
    /// With each solution, how many permutations come up to it, itself included, where all are tried in this order.
    #[arg(long, conflicts_with_all = ["random", "count", "format", "out"])]
    tried: bool,
    /// From a random start; beyond n = 32 by the randomised search with restarts, one solution unless --first says
    /// more.
    #[arg(long, conflicts_with = "method")]
    random: bool,
    /// What the random start follows from [default: drawn, and printed].
    #[arg(long, value_name = "S", requires = "random")]
    seed: Option<u64>,
    /// How to find them: search, permutations (all tried), rows (lists extended recursively), iterative (in a loop).
    #[arg(long, value_name = "METHOD", default_value = "search")]
    method: ListingMethod,
    /// How to write them: digits, tuple, board, json, fen, svg, png.
    #[arg(long, value_name = "FORMAT", default_value = "digits")]
    format: SolutionFormat,
    /// Where to put pictures, a file for each solution.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Say only how many there are.
    #[arg(long, conflicts_with_all = ["first", "format", "out"])]
    count: bool,
    #[command(flatten)]
    setting: SettingArgs,
}

/// Solutions that are wanted one by one, or their number.
#[derive(Debug)]
pub struct Listing {
    pub size: u8,
    pub piece: Piece,
    pub source: ListingSource,
    /// How many are wanted at most.
    pub first: u64,
    pub output: ListingOutput,
}

/// Where solutions come from, and in what order.
#[derive(Debug)]
pub enum ListingSource {
    /// Ascending.
    Ascending(Setting, ListingMethod),
    /// As the permutations of a list come.
    FromList(Setting, Placement),
    /// As the permutations of a list come that follows from a seed.
    FromRandom(Setting, Option<u64>),
    /// One after the other by the search with restarts.
    Restarts(Option<u64>),
}

/// What becomes of solutions.
#[derive(Debug)]
pub enum ListingOutput {
    /// They are counted.
    Count(Setting),
    /// They are written to stdout.
    Stdout(SolutionFormat),
    /// They are written to stdout, each with the number of permutations that come up to it.
    Tried,
    /// They are drawn into a folder, a file for each.
    Folder(PathBuf, SolutionFormat),
}

/// Arguments that contradict each other.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ListingError {
    /// Only one search can do with such a board.
    #[error(
        "solutions are listed in order for n up to {largest}, not {0}; larger boards have plain queens with --random",
        largest = Board::LARGEST
    )]
    LargeBoard(u8),
    /// Text into a folder.
    #[error("--out is for pictures; with --format {0} the solutions go to standard output")]
    NoPicture(SolutionFormat),
    /// Several pictures on stdout.
    #[error(
        "--format {0} makes a file for each solution: name a directory with --out DIR, or ask for one with --first 1"
    )]
    ManyPictures(SolutionFormat),
    /// A list that is counted otherwise than was said.
    #[error(transparent)]
    List(#[from] PlacementError),
}

impl TryFrom<SolutionsArgs> for Listing {
    type Error = ListingError;
    fn try_from(args: SolutionsArgs) -> Result<Self, ListingError> {
        let setting = Board::new(args.n).ok().map(|board| args.setting.on(board));
        let from = args.from.map(|list| list.counted(args.from_zero)).transpose()?;
        let source = match (setting, from) {
            (Some(setting), Some(list)) => ListingSource::FromList(setting, list),
            (Some(setting), None) if args.random => ListingSource::FromRandom(setting, args.seed),
            (Some(setting), None) => ListingSource::Ascending(setting, args.method),
            (None, None) if args.random && args.setting.is_usual() => ListingSource::Restarts(args.seed),
            (None, _) => return Err(ListingError::LargeBoard(args.n)),
        };
        let is_picture = matches!(args.format, SolutionFormat::Svg | SolutionFormat::Png);
        let output = match (setting, args.out) {
            (Some(setting), _) if args.count => ListingOutput::Count(setting),
            (None, _) if args.count => return Err(ListingError::LargeBoard(args.n)),
            (_, Some(_)) if !is_picture => return Err(ListingError::NoPicture(args.format)),
            (_, Some(folder)) => ListingOutput::Folder(folder, args.format),
            (_, None) if is_picture && args.first != Some(1) => {
                return Err(ListingError::ManyPictures(args.format));
            }
            (_, None) if args.tried => ListingOutput::Tried,
            (_, None) => ListingOutput::Stdout(args.format),
        };
        let first = args.first.unwrap_or(if setting.is_some() { u64::MAX } else { 1 });
        Ok(Self { size: args.n, piece: args.setting.piece, source, first, output })
    }
}

/// Sorts the solutions into orbits, also called families: those that turns and reflections carry into each other.
///
/// The letters say what leads to a member from the fundamental (smallest) one, for a queen in column k, row n of N:
/// a identity, b k/N+1-n, c N+1-k/n, d quarter turn right n/N+1-k, e half turn N+1-k/N+1-n, f three-quarter turn
/// N+1-n/k, g reflection in the rising diagonal n/k, h in the other N+1-n/N+1-k. Rows are counted from the bottom. On
/// glued boards shifts come after the letter: d+2/5 turns, then goes 2 columns right and 5 rows up.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  diadem orbits 8                             the 12 orbits of the 92 solutions
  diadem orbits 12 --totals
      only how many there are of each size
  diadem orbits 13 --board torus --totals
      torus queens up to turns, reflections and shifts
  diadem orbits 8 --json")]
pub struct OrbitsArgs {
    /// The board size, 1 to 32 (listing is for up to a million solutions).
    #[arg(value_name = "N")]
    pub n: Board,
    /// Only the number of solutions and of orbits of each size.
    #[arg(long)]
    pub totals: bool,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub setting: SettingArgs,
}

/// Shows the rings: solutions that remain solutions when all queens are shifted around the board.
///
/// Queens pushed out on one side come back on the other. Solutions joined by shifts of one column or row form a ring
/// where one can go round; a ring bears the number of its smallest solution.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  diadem rings 8
      8 rings of 6: R1, R4, R5, R6, R10, R17, R19, R22
  diadem rings 8 --diagonals       with the shifts that compose two others
  diadem rings 8 --svg rings.svg   draw them (rings.png for pixels)")]
pub struct RingsArgs {
    /// The board size, up to 14.
    #[arg(value_name = "N")]
    pub n: Board,
    /// Show the diagonal shifts too.
    #[arg(long)]
    pub diagonals: bool,
    /// Draw the rings.
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
}

fn size(text: &str) -> Result<u8, ValueError> {
    let size = text.parse().ok().filter(|n| *n > 0);
    size.ok_or_else(|| ValueError::new(text, "a board size, a whole number from 1 to 255"))
}

fn at_least_one(text: &str) -> Result<u64, ValueError> {
    let count = text.parse().ok().filter(|count| *count > 0);
    count.ok_or_else(|| ValueError::new(text, "a whole number, 1 or more"))
}
