//! The arguments of the commands that join solutions to others: orbits and rings.

use std::ops::RangeInclusive;
use std::path::PathBuf;

use clap::Args;
use queens::Board;

use super::picture::picture_file;
use super::sizes::pages;
use super::solutions::SettingArgs;
use crate::args::value::path;

/// Sort the solutions into orbits, also called families.
///
/// An orbit has the solutions that turns and reflections carry into each other.
///
/// The letter of a member is the symmetry that leads to it from the fundamental (smallest) member. For a
/// queen in column k, row n of N: a identity; b k/N+1-n; c N+1-k/n; d quarter turn right n/N+1-k; e half turn
/// N+1-k/N+1-n; f three-quarter turn N+1-n/k; g reflection in the rising diagonal n/k; h reflection in the
/// falling diagonal N+1-n/N+1-k. Rows are counted from the bottom. On glued boards a shift follows the
/// letter: d+2/5 turns, then moves 2 columns right and 5 rows up.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  diadem atlas orbits 8                             the 12 orbits of the 92 solutions
  diadem atlas orbits 12 --totals
      only how many there are of each size
  diadem atlas orbits 13 --board torus --totals
      torus queens up to turns, reflections and shifts
  diadem atlas orbits 8 --shifts --totals
      the 92 solutions up to turns, reflections and shifts: 6
  diadem atlas orbits 7 --board torus --necklaces
      torus queens up to shifts alone
  diadem atlas orbits 8 --json")]
#[allow(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub struct OrbitsArgs {
    /// Board size, 1 to 32.
    ///
    /// Listing is for up to a million solutions.
    #[arg(value_name = "N")]
    pub n: Board,
    /// Print only the number of solutions and orbits.
    ///
    /// Of orbits, the number of each size.
    #[arg(long)]
    pub totals: bool,
    /// Join solutions of one torus orbit, too.
    ///
    /// Shifts around the edges lead from one to the other, also where the placements between them are no solutions (OEIS
    /// A062164).
    #[arg(long)]
    pub shifts: bool,
    /// Sort into necklaces, by shifts alone.
    ///
    /// For --board torus and cylinder: without turns and reflections.
    #[arg(long, conflicts_with = "shifts")]
    pub necklaces: bool,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub setting: SettingArgs,
}

/// Show which solutions are joined by shifts around the board.
///
/// Queens pushed out on one side come back on the other. Solutions connected by shifts of one column or row
/// form a ring if they close to a circle. A ring has the number of its smallest solution.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  diadem atlas rings 8
      8 rings of 6: R1, R4, R5, R6, R10, R17, R19, R22
  diadem atlas rings 7 --board torus     where shifts lead around the edges
  diadem atlas rings 8 --diagonals       with the shifts that compose two others
  diadem atlas rings 8 --svg rings.svg   draw them (rings.png for pixels)")]
pub struct RingsArgs {
    /// Board size, up to 14.
    #[arg(value_name = "N")]
    pub n: Board,
    /// Show the diagonal shifts, too.
    #[arg(long)]
    pub diagonals: bool,
    /// Draw the rings into this file.
    ///
    /// Named .svg or .png; further pages are FILE-2, FILE-3 and so on.
    #[arg(long, value_name = "FILE", value_parser = path(picture_file))]
    pub svg: Option<PathBuf>,
    /// Draw only these pages.
    #[arg(long, value_name = "A..B", value_parser = pages, requires = "svg")]
    pub pages: Option<RangeInclusive<usize>>,
    /// Draw for a dark screen.
    #[arg(long, requires = "svg")]
    pub dark: bool,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub setting: SettingArgs,
}
