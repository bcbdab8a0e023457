//! The arguments of `diadem atlas table`.

use std::path::PathBuf;

use atlas::VariantNames;
use atlas::table::Sequence;
use clap::Args;
use queens::Board;

use super::boards::{Boards, boards};
use super::wrong::WrongAtlasCommand;
use crate::args::value::choice;

/// Show totals of boards, or all solutions of one, as a table.
///
/// A, P and R are the solutions up to symmetry that have no symmetry, that of the half turn, that of the quarter turn;
/// Q = 8A + 4P + 2R are all.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  diadem atlas table 4..19               A, P, R and Q, as published
  diadem atlas table 4..12 --count       counted here, compared with those
  diadem atlas table 17..20 --run ./diadem-20
      with what that run has counted
  diadem atlas table 8 --solutions       family, letter, class, image, ring of each
  diadem atlas table 8 --levels --csv    partial solutions by number of queens
  diadem atlas table 1..20 --greedy      the greedy sequence")]
pub struct TableArgs {
    /// Board sizes, 1 to 32, as 4..19 or 8.
    ///
    /// Both ends are included.
    #[arg(value_name = "N..M", value_parser = boards)]
    boards: Boards,
    /// Take the totals of this run; may be repeated.
    ///
    /// A complete run, for its board.
    #[arg(long = "run", value_name = "DIR", conflicts_with_all = ["count", "solutions", "levels", "first_queen", "torus_attacks", "greedy"])]
    runs: Vec<PathBuf>,
    #[command(flatten)]
    subject: SubjectArgs,
    #[command(flatten)]
    format: FormatArgs,
}

/// The subject of the table; only one at a time.
#[derive(Debug, Args)]
#[group(multiple = false)]
#[allow(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub struct SubjectArgs {
    /// Count the solutions here.
    ///
    /// Solution by solution, up to n = 16, rather than take the published totals.
    #[arg(long)]
    count: bool,
    /// List all solutions of a board.
    ///
    /// Number, rows by column, family, letter, class, image under c, ring.
    #[arg(long)]
    solutions: bool,
    /// Count partial solutions by number of queens.
    ///
    /// The level sizes of the backtrack tree, up to n = 16.
    #[arg(long)]
    levels: bool,
    /// Count solutions by the row of the first queen.
    ///
    /// The queen in column 1; up to n = 16 (OEIS A059963).
    #[arg(long)]
    first_queen: bool,
    /// Count solutions by their attacks on the torus.
    ///
    /// By the number of attacks, attacked queens, components, and queens of the largest component; up to n = 16 (OEIS
    /// A181499 to A181502).
    #[arg(long)]
    torus_attacks: bool,
    /// Show the greedy sequence and the smallest solutions.
    ///
    /// On a board without end each column's queen takes the lowest row that no queen before attacks (OEIS A065188).
    #[arg(long)]
    greedy: bool,
}

/// How the table is written.
#[derive(Debug, Args)]
#[group(multiple = false)]
pub struct FormatArgs {
    /// Print CSV.
    #[arg(long)]
    csv: bool,
    /// Print a JSON list, an object per row.
    #[arg(long)]
    json: bool,
    /// Print a sequence of the OEIS.
    ///
    /// A000170 has all solutions, A002562 those up to symmetry, A032522 those with the half turn, A033148 those with
    /// the quarter turn. The format is that of the OEIS for files of terms.
    #[arg(long, value_name = "SEQUENCE", value_parser = choice::<Sequence>(Sequence::VARIANTS), hide_possible_values = true, conflicts_with_all = ["solutions", "levels", "first_queen", "torus_attacks", "greedy"])]
    oeis: Option<Sequence>,
}

/// A table that is wanted.
#[derive(Clone, Debug)]
pub struct AskedTable {
    pub subject: TableSubject,
    pub format: TableOutput,
}

/// The subject of a table.
#[derive(Clone, Debug)]
pub enum TableSubject {
    /// Totals that are known: published, or counted by these runs.
    Known(Boards, Vec<PathBuf>),
    /// Totals that are counted.
    Counted(Boards),
    /// All solutions of a board.
    Solutions(Board),
    /// Partial solutions by the number of queens.
    Levels(Boards),
    /// Solutions by the row of the first queen.
    FirstQueen(Boards),
    /// Solutions by their attacks on the torus.
    TorusAttacks(Boards),
    /// The greedy sequence beside the smallest solutions.
    Greedy(Boards),
}

/// How a table is written.
#[derive(Clone, Copy, Debug)]
pub enum TableOutput {
    Text,
    Csv,
    Json,
    /// A sequence of the OEIS, of totals.
    Oeis(Sequence),
}

impl TryFrom<TableArgs> for AskedTable {
    type Error = WrongAtlasCommand;
    fn try_from(TableArgs { boards, runs, subject, format }: TableArgs) -> Result<Self, WrongAtlasCommand> {
        let subject = match subject {
            SubjectArgs { solutions: true, .. } => {
                TableSubject::Solutions(boards.single().ok_or(WrongAtlasCommand::SolutionsOfSeveral(boards))?)
            }
            SubjectArgs { count: true, .. } => TableSubject::Counted(boards),
            SubjectArgs { levels: true, .. } => TableSubject::Levels(boards),
            SubjectArgs { first_queen: true, .. } => TableSubject::FirstQueen(boards),
            SubjectArgs { torus_attacks: true, .. } => TableSubject::TorusAttacks(boards),
            SubjectArgs { greedy: true, .. } => TableSubject::Greedy(boards),
            SubjectArgs { .. } => TableSubject::Known(boards, runs),
        };
        let format = match format {
            FormatArgs { csv: true, .. } => TableOutput::Csv,
            FormatArgs { json: true, .. } => TableOutput::Json,
            FormatArgs { oeis: Some(sequence), .. } => TableOutput::Oeis(sequence),
            FormatArgs { .. } => TableOutput::Text,
        };
        Ok(Self { subject, format })
    }
}
