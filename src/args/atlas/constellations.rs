//! The arguments of `diadem atlas constellations`.

use std::path::PathBuf;

use clap::{Arg, Args};
use queens::Board;

use super::boards::{Boards, boards};
use super::wrong::WrongAtlasCommand;
use crate::args::kernel::{KernelArgs, KernelChoice};

/// List, export and count boundary constellations.
///
/// They are listed up to symmetry. Files carry them to other programs and back.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  diadem atlas constellations 8          how many there are, by symmetry class
  diadem atlas constellations 4..30      the same of each board, as a table
  diadem atlas constellations 8 --list
      each with the columns of its top and bottom queen, the rows of left and
      right
  diadem atlas constellations 12 --export .
      two binary files: constellations-12-asymmetric.pp and -symmetric.pp
  diadem atlas constellations 4..30 --export .
      those of each board, and constellations-04-30.zip with all of them
  diadem atlas constellations 12 --import constellations-12-symmetric.pp
      check such a file
  diadem atlas constellations 12 \\
     --count constellations-12-asymmetric.pp constellations-12-symmetric.pp")]
#[command(mut_args(for_counting))]
pub struct ConstellationsArgs {
    /// Board sizes, 1 to 32, as 4..30 or 8.
    ///
    /// Both ends are included. Files are for 4 to 30.
    #[arg(value_name = "N", value_parser = boards)]
    boards: Boards,
    /// What to do with them.
    #[command(flatten)]
    task: TaskArgs,
    /// The kernel of --count.
    #[command(flatten)]
    kernel: KernelArgs,
}

/// An option for counting, refused without files to count from.
fn for_counting(option: Arg) -> Arg {
    if ["threads", "method", "isa", "memory"].contains(&option.get_id().as_str()) {
        // Clap does not require an option that conflicts with a given option.
        option.requires("count").conflicts_with_all(["list", "json", "export", "import"])
    } else {
        option
    }
}

/// The task; only one at a time.
#[derive(Debug, Args)]
#[group(multiple = false)]
pub struct TaskArgs {
    /// List them, one per line.
    #[arg(long)]
    list: bool,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
    /// Write two binary files per board into this folder.
    ///
    /// One of the asymmetric and one of the symmetric constellations. Those of several boards also make a ZIP.
    #[arg(long, value_name = "DIR")]
    export: Option<PathBuf>,
    /// Check such a file.
    ///
    /// Every orbit once, the class right.
    #[arg(long, value_name = "FILE")]
    import: Option<PathBuf>,
    /// Count the solutions from such files.
    ///
    /// From all constellations of the board, which both files of --export have: all its solutions. From any other records, of any
    /// queens: the solutions that contain the queens of each.
    #[arg(long, value_name = "FILE", num_args = 1..)]
    count: Vec<PathBuf>,
}

/// The request.
#[derive(Debug)]
pub enum Constellations {
    /// Something about one board.
    OfBoard(Board, ConstellationsTask),
    /// Their numbers for several boards, as text or JSON.
    OfBoards { boards: Boards, json: bool },
    /// The files of several boards, into a folder.
    ExportOfBoards(Boards, PathBuf),
}

/// The task for the constellations of a board.
#[derive(Debug)]
pub enum ConstellationsTask {
    /// Say how many there are.
    Summarise,
    /// And name them.
    List,
    /// All that, for programs.
    Json,
    /// Write both files into a folder.
    Export(PathBuf),
    /// Check a file.
    Import(PathBuf),
    /// Count from files.
    Count(Vec<PathBuf>, KernelChoice),
}

impl TryFrom<ConstellationsArgs> for Constellations {
    type Error = WrongAtlasCommand;
    fn try_from(args: ConstellationsArgs) -> Result<Self, WrongAtlasCommand> {
        let task = match args.task {
            TaskArgs { export: Some(folder), .. } => ConstellationsTask::Export(folder),
            TaskArgs { import: Some(file), .. } => ConstellationsTask::Import(file),
            TaskArgs { count, .. } if !count.is_empty() => {
                ConstellationsTask::Count(count, args.kernel.try_into()?)
            }
            TaskArgs { json: true, .. } => ConstellationsTask::Json,
            TaskArgs { list: true, .. } => ConstellationsTask::List,
            TaskArgs { .. } => ConstellationsTask::Summarise,
        };
        match (args.boards.single(), task) {
            (Some(board), task) => Ok(Self::OfBoard(board, task)),
            (None, ConstellationsTask::Summarise) => Ok(Self::OfBoards { boards: args.boards, json: false }),
            (None, ConstellationsTask::Json) => Ok(Self::OfBoards { boards: args.boards, json: true }),
            (None, ConstellationsTask::Export(folder)) => Ok(Self::ExportOfBoards(args.boards, folder)),
            (None, _) => Err(WrongAtlasCommand::ConstellationsOfSeveral(args.boards)),
        }
    }
}
