//! The arguments of `diadem atlas solutions`, and the boards and pieces that several commands know.

use std::error::Error;
use std::path::PathBuf;

use atlas::format::SolutionFormat;
use atlas::rectangle::Rectangle;
use atlas::textbook::ListingMethod;
use atlas::{Piece, Setting, Surface, VariantNames};
use clap::Args;
use queens::Board;

use super::written_placement::WrittenPlacement;
use crate::args::value::{ValueError, choice, whole};

/// Other boards and pieces than the usual.
#[derive(Debug, Args)]
pub struct SettingArgs {
    /// Board: plain, cylinder, torus.
    ///
    /// On a cylinder, also called ring, the left and right edge are glued; on a torus the top and bottom edge as well.
    #[arg(long = "board", value_name = "BOARD", default_value = "plain", value_parser = choice::<Surface>(Surface::VARIANTS), hide_possible_values = true)]
    pub surface: Surface,
    /// Piece: rook, semiqueen, queen, superqueen.
    ///
    /// A semiqueen has rising diagonals only; a superqueen is a queen and a knight [default: queen].
    #[arg(long, value_name = "PIECE", default_value = "queen", hide_default_value = true, value_parser = choice::<Piece>(Piece::VARIANTS), hide_possible_values = true)]
    pub piece: Piece,
}

impl SettingArgs {
    /// The setting on the board of that size.
    pub fn on(&self, board: Board) -> Setting {
        Setting { board, surface: self.surface, piece: self.piece }
    }

    /// Whether it is queens on the plain board.
    pub(super) fn is_usual(&self) -> bool {
        self.on(Board::LARGEST) == Setting::queens(Board::LARGEST)
    }
}

/// List solutions one by one, in ascending order.
///
/// A solution is written as the rows by column: 15863724 has a queen in column 1 row 1 (a1), in column 2 row 5 (b5)
/// and so on. Beyond 9 columns the rows are separated by commas.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  diadem atlas solutions 8                          all 92, numbered
  diadem atlas solutions 30 --first 1               the first one, at once
  diadem atlas solutions 8 --from 4,2,7,5,1,8,6,3
      in the order of this list's permutations
  diadem atlas solutions 8 --method permutations --tried
      and how many permutations were tried until then
  diadem atlas solutions 200 --random --seed 7      one of a large board
  diadem atlas solutions 8 --first 2 --format board
  diadem atlas solutions 8 --format svg --out ./boards
  diadem atlas solutions 7 --board torus --count    how many torus queens: 28
  diadem atlas solutions 8x10 --first 3 --format board
      eight queens on 8 columns and 10 rows
  diadem atlas solutions 6x6 --queens 3 --piece rook --board torus --count
      three rooks on the torus 6 x 6 board: 2400")]
pub struct SolutionsArgs {
    /// Board size, or columns and rows as 8x10.
    ///
    /// 1 to 32; plain queens up to 64, with --random up to 255. The first solution beyond n = 32 may take long, above all
    /// for even n.
    #[arg(value_name = "N", value_parser = size)]
    pub(super) size: Size,
    /// Pieces on a board given as 8x10 or 8x8.
    ///
    /// [default: as many as fit]
    #[arg(long, value_name = "K", value_parser = whole(1..=Rectangle::LARGEST), allow_negative_numbers = true)]
    pub(super) queens: Option<u8>,
    /// List only the first K.
    #[arg(long, value_name = "K", value_parser = whole(1..=u64::MAX), allow_negative_numbers = true)]
    pub(super) first: Option<u64>,
    #[command(flatten)]
    pub(super) order: OrderArgs,
    /// Print the number of permutations tried, too.
    ///
    /// Up to each solution, itself included, if all are tried in this order.
    #[arg(long, conflicts_with_all = ["random", "count", "format", "out"])]
    pub(super) tried: bool,
    /// As digits, tuple, oeis, board, json, fen, svg, png.
    ///
    /// [default: digits]
    #[arg(long, value_name = "FORMAT", default_value = "digits", hide_default_value = true, value_parser = choice::<SolutionFormat>(SolutionFormat::VARIANTS), hide_possible_values = true)]
    pub(super) format: SolutionFormat,
    /// Folder for pictures, one file per solution.
    #[arg(long, value_name = "DIR")]
    pub(super) out: Option<PathBuf>,
    /// Draw for a dark screen.
    #[arg(long, conflicts_with_all = ["tried", "count"])]
    pub(super) dark: bool,
    /// Print only the number of solutions.
    #[arg(long, conflicts_with_all = ["first", "format", "out"])]
    pub(super) count: bool,
    #[command(flatten)]
    pub(super) setting: SettingArgs,
}

impl SolutionsArgs {
    /// Whether all given options also apply to rectangles.
    pub(super) fn is_of_rectangles(&self) -> bool {
        let OrderArgs { from, from_zero, random, method, .. } = &self.order;
        from.is_none() && !from_zero && !random && *method == ListingMethod::Search && !self.tried
    }
}

/// In what order solutions are found.
#[derive(Debug, Args)]
pub struct OrderArgs {
    /// Take the permutations of this list in order.
    ///
    /// They are generated position by position.
    #[arg(long, value_name = "PERMUTATION", conflicts_with_all = ["random", "method"])]
    pub(super) from: Option<WrittenPlacement>,
    /// Count rows from 0, in PERMUTATION and in the output.
    ///
    /// A board keeps its rows 1 to N.
    #[arg(long)]
    pub(super) from_zero: bool,
    /// Start at random.
    ///
    /// Beyond n = 32 uses the randomised search with restarts, for one solution unless --first is larger.
    #[arg(long, conflicts_with = "method")]
    pub(super) random: bool,
    /// Seed of the random start [default: drawn, printed].
    #[arg(long, value_name = "S", requires = "random", value_parser = whole(0..=u64::MAX), allow_negative_numbers = true)]
    pub(super) seed: Option<u64>,
    /// Method: search, permutations, rows, iterative.
    ///
    /// search backtracks; permutations tries all; rows extends lists recursively; iterative does so in a
    /// loop [default: search].
    #[arg(long, value_name = "METHOD", default_value = "search", hide_default_value = true, value_parser = choice::<ListingMethod>(ListingMethod::VARIANTS), hide_possible_values = true)]
    pub(super) method: ListingMethod,
}

/// Columns and rows of a board.
#[derive(Clone, Copy, Debug)]
pub enum Size {
    /// As many of both.
    Square(u8),
    /// Not.
    Rectangle(Rectangle),
}

/// `8`, or `8x10`.
fn size(text: &str) -> Result<Size, Box<dyn Error + Send + Sync>> {
    if text.contains('x') {
        return Ok(Size::Rectangle(text.parse()?));
    }
    let size = text.parse().ok().filter(|n| *n > 0).map(Size::Square);
    Ok(size.ok_or_else(|| ValueError::new(text, "a board size, a whole number from 1 to 255"))?)
}
