//! Errors in the command lines of the atlas that clap does not detect.

use std::ops::RangeInclusive;

use atlas::format::SolutionFormat;
use atlas::large::LargeSolutions;
use atlas::rectangle::Rectangle;
use atlas::{PlacementError, Surface};
use queens::kernel::KernelError;
use queens::{Board, Classified};
use thiserror::Error;

use super::boards::Boards;

/// Arguments contradict each other, or ask for what there is not.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum WrongAtlasCommand {
    /// Only one search can do with such a board.
    #[error(
        "solutions are listed in order for n up to {largest} (plain queens in ascending order: up to {large}), not {0}; larger \
         boards have plain queens with --random",
        largest = Board::LARGEST,
        large = LargeSolutions::LARGEST
    )]
    LargeBoard(u8),
    #[error("--tried counts permutations for n up to {largest}, not {0}", largest = Board::LARGEST)]
    TriedOfLargeBoard(u8),
    /// Text into a folder.
    #[error("--out and --dark are for pictures; with --format {0} the solutions go to standard output")]
    TextInFolder(SolutionFormat),
    /// Several pictures on stdout.
    #[error(
        "--format {0} makes a file for each solution: name a directory with --out DIR, or ask for one with --first 1"
    )]
    ManyPictures(SolutionFormat),
    /// Options that apply to squares only.
    #[error(
        "positions on {0} are in ascending order, counted from 1, and written as digits, board, json, svg or png"
    )]
    OfSquares(Rectangle),
    /// A number of queens on a square.
    #[error(
        "--queens is for boards that are named by columns and rows, as in diadem atlas solutions 8x8 --queens 5"
    )]
    QueensOfSquare,
    /// A list that does not fit the given lowest number.
    #[error(transparent)]
    List(#[from] PlacementError),
    /// Constellations, which only a single board has.
    #[error(
        "constellations are listed, imported and counted for one board, as in diadem atlas constellations 12 --list, not for {0}"
    )]
    ConstellationsOfSeveral(Boards),
    /// The machine lacks the instruction set that is to count.
    #[error(transparent)]
    Kernel(#[from] KernelError),
    #[error("a table of solutions is of one board, as in diadem atlas table 8 --solutions, not of {0}")]
    SolutionsOfSeveral(Boards),
    #[error("the run is of n = {0}, which is none of the boards of the table")]
    RunOfOtherBoard(Board),
    #[error("another run of n = {0} was named before")]
    SecondRun(Board),
    #[error("the run counts a part of the plan of n = {0}; join all shards with diadem merge")]
    PartOfRun(Board),
    #[error("necklaces go around glued edges: add --board torus or --board cylinder, not {0}")]
    NecklacesOnBoard(Surface),
    #[error("a trace is of one board, as in diadem atlas study 7 --trace, not of {first}..{last}")]
    TraceOfSeveral { first: u8, last: u8 },
    /// The second table would take the place of the first.
    #[error("--csv and --runs-csv would both write {0}: name two files")]
    OneFile(String),
    #[error("the plan of n = {board} has the units 0 to {last}, not {unit}")]
    NoSuchUnit { board: Board, last: u64, unit: u64 },
    #[error("n = {board} has the constellations 1 to {count}, not {number}")]
    NoSuchOrbit { board: Board, count: usize, number: usize },
    #[error("the picture has the pages 1 to {count}, not {}..{}", wanted.start(), wanted.end())]
    NoSuchPage { count: usize, wanted: RangeInclusive<usize> },
    #[error("n = {0} has no units")]
    NoUnits(Board),
    #[error("n = {0} has no constellations")]
    NoOrbits(Board),
}

impl Classified for WrongAtlasCommand {}
