//! The request of `diadem atlas solutions`: solutions on squares or positions on rectangles, their source and their
//! output.

use std::path::PathBuf;

use atlas::format::SolutionFormat;
use atlas::large::LargeSolutions;
use atlas::rectangle::{Rectangle, RectangleSetting};
use atlas::textbook::ListingMethod;
use atlas::{Piece, Placement, Setting, Surface};
use queens::Board;

use super::solutions::{Size, SolutionsArgs};
use super::wrong::WrongAtlasCommand;

/// The request.
#[derive(Debug)]
pub enum AskedSolutions {
    /// Solutions on a square board.
    Square(Listing),
    /// Positions on a rectangle.
    Rectangle(RectangleListing),
}

/// Solutions that are wanted one by one, or their number.
#[derive(Debug)]
pub struct Listing {
    pub size: u8,
    pub surface: Surface,
    pub piece: Piece,
    /// The number of the lowest row, 0 or 1.
    pub first_row: u8,
    /// Whether pictures are for a dark screen.
    pub dark: bool,
    pub source: ListingSource,
    /// How many are wanted at most.
    pub first: u64,
    pub output: ListingOutput,
}

/// The source and the order of solutions.
#[derive(Debug)]
pub enum ListingSource {
    /// Ascending.
    Ascending(Setting, ListingMethod),
    /// Ascending, plain queens beyond the largest board of a setting.
    Large,
    /// As the permutations of a list come.
    FromList(Setting, Placement),
    /// As the permutations of a list come that follows from a seed.
    FromRandom(Setting, Option<u64>),
    /// One after the other by the search with restarts.
    Restarts(Option<u64>),
}

/// The output of solutions.
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

/// Whether pictures are requested. An error if options for pictures are given for text.
fn is_picture(args: &SolutionsArgs) -> Result<bool, WrongAtlasCommand> {
    let is_picture = matches!(args.format, SolutionFormat::Svg | SolutionFormat::Png);
    if !is_picture && (args.out.is_some() || args.dark) {
        return Err(WrongAtlasCommand::TextInFolder(args.format));
    }
    Ok(is_picture)
}

impl TryFrom<SolutionsArgs> for AskedSolutions {
    type Error = WrongAtlasCommand;
    fn try_from(args: SolutionsArgs) -> Result<Self, WrongAtlasCommand> {
        match args.size {
            Size::Square(_) if args.queens.is_some() => Err(WrongAtlasCommand::QueensOfSquare),
            Size::Square(n) => Listing::of(n, args).map(Self::Square),
            Size::Rectangle(board) => RectangleListing::of(board, args).map(Self::Rectangle),
        }
    }
}

impl Listing {
    fn of(n: u8, args: SolutionsArgs) -> Result<Self, WrongAtlasCommand> {
        let setting = Board::new(n).ok().map(|board| args.setting.on(board));
        let is_picture = is_picture(&args)?;
        let order = args.order;
        let first_row = u8::from(!order.from_zero);
        let from = order.from.map(|list| list.counted(order.from_zero)).transpose()?;
        let source = match (setting, from) {
            (Some(setting), Some(list)) => ListingSource::FromList(setting, list),
            (Some(setting), None) if order.random => ListingSource::FromRandom(setting, order.seed),
            (Some(setting), None) => ListingSource::Ascending(setting, order.method),
            (None, None) if order.random && args.setting.is_usual() => ListingSource::Restarts(order.seed),
            (None, None) if args.tried => return Err(WrongAtlasCommand::TriedOfLargeBoard(n)),
            (None, None)
                if n <= LargeSolutions::LARGEST
                    && args.setting.is_usual()
                    && order.method == ListingMethod::Search =>
            {
                ListingSource::Large
            }
            (None, _) => return Err(WrongAtlasCommand::LargeBoard(n)),
        };
        let output = match (setting, args.out) {
            (Some(setting), _) if args.count => ListingOutput::Count(setting),
            (None, _) if args.count => return Err(WrongAtlasCommand::LargeBoard(n)),
            (_, Some(folder)) => ListingOutput::Folder(folder, args.format),
            (_, None) if is_picture && args.first != Some(1) => {
                return Err(WrongAtlasCommand::ManyPictures(args.format));
            }
            (_, None) if args.tried => ListingOutput::Tried,
            (_, None) => ListingOutput::Stdout(args.format),
        };
        let is_repeating = matches!(source, ListingSource::Restarts(_));
        let first = args.first.unwrap_or(if is_repeating { 1 } else { u64::MAX });
        let (surface, piece) = (args.setting.surface, args.setting.piece);
        Ok(Self { size: n, surface, piece, first_row, dark: args.dark, source, first, output })
    }
}

/// Positions on a rectangle that are wanted one by one, or their number.
#[derive(Debug)]
pub struct RectangleListing {
    pub setting: RectangleSetting,
    /// As many as there is room for where no number is given.
    pub pieces: Option<u8>,
    /// How many positions are wanted at most.
    pub first: u64,
    /// Whether pictures are for a dark screen.
    pub dark: bool,
    pub output: RectangleOutput,
}

/// The output of positions.
#[derive(Clone, Debug)]
pub enum RectangleOutput {
    /// They are counted.
    Count,
    /// The rows by column.
    Digits,
    /// Boards.
    Board,
    /// An object a line.
    Json,
    /// The first one is drawn on stdout.
    Picture(SolutionFormat),
    /// They are drawn into a folder, a file for each.
    Folder(PathBuf, SolutionFormat),
}

impl RectangleListing {
    fn of(board: Rectangle, args: SolutionsArgs) -> Result<Self, WrongAtlasCommand> {
        let is_picture = is_picture(&args)?;
        let is_of_rectangles = args.is_of_rectangles();
        let output = match args.format {
            _ if !is_of_rectangles => None,
            _ if args.count => Some(RectangleOutput::Count),
            format if is_picture => Some(match args.out {
                Some(folder) => RectangleOutput::Folder(folder, format),
                None if args.first == Some(1) => RectangleOutput::Picture(format),
                None => return Err(WrongAtlasCommand::ManyPictures(format)),
            }),
            SolutionFormat::Digits => Some(RectangleOutput::Digits),
            SolutionFormat::Board => Some(RectangleOutput::Board),
            SolutionFormat::Json => Some(RectangleOutput::Json),
            _ => None,
        };
        let output = output.ok_or(WrongAtlasCommand::OfSquares(board))?;
        Ok(Self {
            setting: RectangleSetting { board, surface: args.setting.surface, piece: args.setting.piece },
            pieces: args.queens,
            first: args.first.unwrap_or(u64::MAX),
            dark: args.dark,
            output,
        })
    }
}
