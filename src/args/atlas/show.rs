//! The arguments of `diadem atlas show`.

use std::error::Error;

use atlas::motion::{LETTERS, letter};
use clap::Args;
use queens::Symmetry;

use super::solutions::SettingArgs;
use super::written_placement::WrittenPlacement;
use crate::args::value::ValueError;

/// Describe one placement.
///
/// Shows whether it is a solution, its number, family, class and ring, and its images. If the placement is no solution, the attacking pairs are listed.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  diadem atlas show 35281746
  diadem atlas show 1:5,2:3,3:1,4:7,5:2,6:8,7:6,8:4   the same kind, by squares
  diadem atlas show 2,4,1,7,0,6,3,5 --from-zero       counted from 0
  diadem atlas show 35281746 --apply dh               turned, then reflected
  diadem atlas show 15863724 --shift 1,0              one column to the right
  diadem atlas show 1234                              the pairs that attack
  diadem atlas show 15863724 --diagonals              and queens by diagonal
Letters: diadem atlas orbits --help says what a to h do; v is another name of b.")]
pub struct ShowArgs {
    /// Rows by column, or squares.
    ///
    /// Rows by column, as 15863724 or 1,5,8,6,3,7,2,4; or squares, as 1:1,2:5 and so on; up to 32 queens.
    #[arg(value_name = "PLACEMENT")]
    pub placement: WrittenPlacement,
    /// Count from 0, in PLACEMENT and output.
    ///
    /// The board keeps its rows 1 to N.
    #[arg(long)]
    pub from_zero: bool,
    /// Show its image under letters from a to h.
    ///
    /// They are applied one after the other.
    #[arg(long, value_name = "LETTERS", value_parser = letters)]
    pub apply: Option<Letters>,
    /// Then shift it around the edges.
    ///
    /// So many columns to the right and rows up; negative numbers shift left and down.
    #[arg(long, value_name = "COLUMNS,ROWS", value_parser = shift, allow_hyphen_values = true)]
    pub shift: Option<(i8, i8)>,
    /// Count the queens on each diagonal, too.
    ///
    /// Rising ones from the upper left corner to the lower right one, falling ones from the lower left corner to the upper
    /// right one: 15 and 15 on the chess board, 8 and 8 where edges are glued.
    #[arg(long)]
    pub diagonals: bool,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub setting: SettingArgs,
}

/// Symmetries in the order in which they are applied.
#[derive(Clone, Debug, Default)]
pub struct Letters(pub Vec<Symmetry>);

fn letters(text: &str) -> Result<Letters, ValueError> {
    let named = |c: char| {
        let c = if c == 'v' { 'b' } else { c };
        LETTERS.into_iter().find(|symmetry| letter(*symmetry) == c)
    };
    let symmetries = text.chars().map(named).collect::<Option<Vec<_>>>().filter(|all| !all.is_empty());
    let wanted = "one or more of the letters a to h (see diadem atlas orbits --help), as dh";
    symmetries.map(Letters).ok_or_else(|| ValueError::new(text, wanted))
}

fn shift(text: &str) -> Result<(i8, i8), Box<dyn Error + Send + Sync>> {
    let wrong = || ValueError::new(text, "a shift by columns and rows such as 2,3 or -1,0");
    let (right, up) = text.split_once(',').ok_or_else(wrong)?;
    let number = |text: &str| text.trim().parse::<i8>().map_err(|_| wrong());
    Ok((number(right)?, number(up)?))
}
