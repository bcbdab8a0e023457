//! The arguments of the commands about single solutions rather than totals.

use std::ops::RangeInclusive;
use std::path::PathBuf;

use atlas::format::Format;
use atlas::textbook::Method;
use atlas::{Piece, Placement, Setting, Surface};
use clap::{Parser, Subcommand};
use queens::Board;

/// Other boards and pieces than the usual.
#[derive(Debug, Parser)]
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
}

/// Lists solutions one by one, as they are found, in ascending order.
///
/// A solution is written as the rows by column: 15863724 has a queen in column 1 row 1 (a1), in column 2 row 5 (b5)
/// and so on. Beyond 9 columns the rows are separated by commas.
#[derive(Debug, Parser)]
#[command(after_help = "\
Examples:
  diadem solutions 8                          all 92, numbered
  diadem solutions 30 --first 1               the first one, at once
  diadem solutions 8 --from 4,2,7,5,1,8,6,3   in the order of this list's permutations
  diadem solutions 200 --random --seed 7      one of a large board
  diadem solutions 8 --first 2 --format board
  diadem solutions 8 --format svg --out ./boards
  diadem solutions 7 --board torus --count    how many torus queens: 28")]
pub struct SolutionsArgs {
    /// The board size: 1 to 32, with --random up to 255.
    #[arg(value_name = "N", value_parser = size)]
    pub n: u8,
    /// Only the first K.
    #[arg(long, value_name = "K", value_parser = at_least_one)]
    pub first: Option<u64>,
    /// In the order in which the permutations of this list are generated position by position.
    #[arg(long, value_name = "PERMUTATION", conflicts_with_all = ["random", "method"])]
    pub from: Option<Placement>,
    /// From a random start; beyond n = 32 by the randomised search with restarts, one solution unless --first says
    /// more.
    #[arg(long, conflicts_with = "method")]
    pub random: bool,
    /// What the random start follows from [default: drawn, and told].
    #[arg(long, value_name = "S", requires = "random")]
    pub seed: Option<u64>,
    /// How to find them: search, permutations (all tried), rows (lists extended recursively), iterative (in a loop).
    #[arg(long, value_name = "METHOD", default_value = "search")]
    pub method: Method,
    /// How to write them: digits, tuple, board, json, fen, svg, png.
    #[arg(long, value_name = "FORMAT", default_value = "digits")]
    pub format: Format,
    /// Where to put pictures, a file for each solution.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Say only how many there are.
    #[arg(long, conflicts_with_all = ["first", "format", "out"])]
    pub count: bool,
    #[command(flatten)]
    pub setting: SettingArgs,
}

/// Sorts the solutions into families: those that turns and reflections carry into each other.
///
/// The letters say what leads to a member from the fundamental (smallest) one, for a queen in column k, row n of N:
/// a identity, b k/N+1-n, c N+1-k/n, d quarter turn right n/N+1-k, e half turn N+1-k/N+1-n, f three-quarter turn
/// N+1-n/k, g reflection in the rising diagonal n/k, h in the other N+1-n/N+1-k. Rows are counted from the bottom. On
/// glued boards shifts come after the letter: d+2/5 turns, then goes 2 columns right and 5 rows up.
#[derive(Debug, Parser)]
#[command(after_help = "\
Examples:
  diadem families 8                             the 12 families of the 92 solutions
  diadem families 12 --totals                   only how many there are of each size
  diadem families 13 --board torus --totals     torus queens up to turns, reflections and shifts
  diadem families 8 --json")]
pub struct FamiliesArgs {
    /// The board size, 1 to 32 (listing is for up to a million solutions).
    #[arg(value_name = "N")]
    pub n: Board,
    /// Only the number of solutions and of families of each size.
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
#[derive(Debug, Parser)]
#[command(after_help = "\
Examples:
  diadem rings 8                   8 rings of 6: R1, R4, R5, R6, R10, R17, R19, R22
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

/// Studies the search for a first solution: placements tried, smallest first against at random, and with restarts.
#[derive(Debug, Parser)]
#[command(after_help = "\
Examples:
  diadem study 8..30                             a table, 1000 random runs for each board
  diadem study 8..30 --csv study.csv --plots .   and study.csv, placements.svg, placements.png, histograms.svg, ...
  diadem study 40 --runs 200 --limit 300         what restarts after 300 placements gain
  diadem study 7 --trace                         the search step by step
  diadem study 7 --trace --random --seed 3       the same, choosing at random")]
pub struct StudyArgs {
    /// The board sizes, 4 to 200, as 8..30 (both included) or 8.
    #[arg(value_name = "N..M", value_parser = sizes)]
    pub sizes: RangeInclusive<u8>,
    /// Random runs for each board.
    #[arg(long, value_name = "R", default_value_t = 1000)]
    pub runs: u32,
    /// What all random choices follow from.
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub seed: u64,
    /// Look at restarts after this many placements, besides the best limit [default: 5n].
    #[arg(long, value_name = "L")]
    pub limit: Option<u64>,
    /// Write the table as CSV.
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    /// Draw placements against n, and histograms, as SVG and PNG.
    #[arg(long, value_name = "DIR")]
    pub plots: Option<PathBuf>,
    /// Show one search of one board step by step.
    #[arg(long, conflicts_with_all = ["runs", "limit", "csv", "plots"])]
    pub trace: bool,
    /// Choose at random in the trace.
    #[arg(long, requires = "trace")]
    pub random: bool,
}

/// Draws a picture into a file, SVG or PNG by its name.
#[derive(Debug, Parser)]
#[command(after_help = "\
Examples:
  diadem picture sheet 8 --out sheet.svg              all fundamental solutions
  diadem picture board 15863724 --out board.png       one placement
  diadem picture constellation 12 --orbit 100 --out c.svg
  diadem picture tree 8..12 --out tree.png            the level sizes of the backtrack tree")]
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
}

/// Where a picture goes.
#[derive(Debug, Parser)]
pub struct OutArgs {
    /// The file, named .svg or .png.
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
}

/// Draws one placement.
#[derive(Debug, Parser)]
#[command(after_help = "Example:\n  diadem picture board 15863724 --out board.svg")]
pub struct BoardPictureArgs {
    /// The rows by column, as 15863724 or 1,5,8,6,3,7,2,4.
    #[arg(value_name = "PLACEMENT")]
    pub placement: Placement,
    /// The piece.
    #[arg(long, value_name = "PIECE", default_value = "queen")]
    pub piece: Piece,
    #[command(flatten)]
    pub out: OutArgs,
}

/// Draws all fundamental solutions of a board on one sheet.
#[derive(Debug, Parser)]
#[command(after_help = "Example:\n  diadem picture sheet 8 --out sheet.svg")]
pub struct SheetPictureArgs {
    /// The board size.
    #[arg(value_name = "N")]
    pub n: Board,
    #[command(flatten)]
    pub setting: SettingArgs,
    #[command(flatten)]
    pub out: OutArgs,
}

/// Draws a boundary constellation, or a unit of the plan, with the squares that it leaves free.
#[derive(Debug, Parser)]
#[command(after_help = "\
Examples:
  diadem picture constellation 12 --orbit 100 --out c.svg    the hundredth of diadem constellations 12 --list
  diadem picture constellation 16 --unit 7 --out unit.png    unit 7 of the plan of n = 16")]
pub struct ConstellationPictureArgs {
    /// The board size.
    #[arg(value_name = "N")]
    pub n: Board,
    /// The constellation's number in the list, from 1.
    #[arg(long, value_name = "K", required_unless_present = "unit", conflicts_with = "unit")]
    pub orbit: Option<usize>,
    /// The unit's number in the plan, from 0.
    #[arg(long, value_name = "U")]
    pub unit: Option<u64>,
    #[command(flatten)]
    pub out: OutArgs,
}

/// Draws how many partial solutions there are of each number of rows.
#[derive(Debug, Parser)]
#[command(after_help = "Example:\n  diadem picture tree 8..12 --out tree.svg")]
pub struct TreePictureArgs {
    /// The board sizes, up to 16, as 8..12 (both included) or 8.
    #[arg(value_name = "N..M", value_parser = sizes)]
    pub sizes: RangeInclusive<u8>,
    #[command(flatten)]
    pub out: OutArgs,
}

fn size(text: &str) -> Result<u8, String> {
    let size = text.parse().ok().filter(|n| *n > 0);
    size.ok_or_else(|| format!("the board size must be a whole number from 1 to 255, not \"{text}\""))
}

fn at_least_one(text: &str) -> Result<u64, String> {
    let count = text.parse().ok().filter(|count| *count > 0);
    count.ok_or_else(|| format!("there must be a whole number, 1 or more, not \"{text}\""))
}

/// `8..30` or `8`; both ends included.
fn sizes(text: &str) -> Result<RangeInclusive<u8>, String> {
    let number = |text: &str| text.trim().parse::<u8>().ok().filter(|n| *n > 0);
    let (first, last) = text.split_once("..").map_or((text, text), |(a, b)| (a, b.trim_start_matches('=')));
    match (number(first), number(last)) {
        (Some(first), Some(last)) if first <= last => Ok(first..=last),
        _ => Err("board sizes are written as 8..30 or 8".to_owned()),
    }
}
