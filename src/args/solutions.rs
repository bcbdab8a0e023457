//! The arguments of the commands that list single solutions: solutions, orbits, rings.

use std::path::PathBuf;

use atlas::format::SolutionFormat;
use atlas::textbook::ListingMethod;
use atlas::{Piece, Placement, Setting, Surface};
use clap::Args;
use queens::Board;

use super::value::ValueError;

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
    /// What the random start follows from [default: drawn, and printed].
    #[arg(long, value_name = "S", requires = "random")]
    pub seed: Option<u64>,
    /// How to find them: search, permutations (all tried), rows (lists extended recursively), iterative (in a loop).
    #[arg(long, value_name = "METHOD", default_value = "search")]
    pub method: ListingMethod,
    /// How to write them: digits, tuple, board, json, fen, svg, png.
    #[arg(long, value_name = "FORMAT", default_value = "digits")]
    pub format: SolutionFormat,
    /// Where to put pictures, a file for each solution.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Say only how many there are.
    #[arg(long, conflicts_with_all = ["first", "format", "out"])]
    pub count: bool,
    #[command(flatten)]
    pub setting: SettingArgs,
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
  diadem orbits 12 --totals                   only how many there are of each size
  diadem orbits 13 --board torus --totals     torus queens up to turns, reflections and shifts
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

fn size(text: &str) -> Result<u8, ValueError> {
    let size = text.parse().ok().filter(|n| *n > 0);
    size.ok_or_else(|| ValueError::new(text, "a board size, a whole number from 1 to 255"))
}

fn at_least_one(text: &str) -> Result<u64, ValueError> {
    let count = text.parse().ok().filter(|count| *count > 0);
    count.ok_or_else(|| ValueError::new(text, "a whole number, 1 or more"))
}
