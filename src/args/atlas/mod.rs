//! The arguments of the subcommands about single solutions.

mod boards;
mod constellations;
mod listing;
mod orbits;
mod picture;
mod show;
mod site;
mod sizes;
mod solutions;
mod study;
mod table;
mod written_placement;
mod wrong;

use clap::{Args, Subcommand};

pub use boards::Boards;
pub use constellations::{Constellations, ConstellationsArgs, ConstellationsTask};
pub use listing::{AskedSolutions, Listing, ListingOutput, ListingSource, RectangleListing, RectangleOutput};
pub use orbits::{OrbitsArgs, RingsArgs};
pub use picture::{
    BoardPictureArgs, ConstellationPictureArgs, MovingOutArgs, OutArgs, PictureArgs, Subject, TreePictureArgs,
};
pub use show::{Letters, ShowArgs};
pub use site::SiteArgs;
pub use solutions::SolutionsArgs;
pub use study::StudyArgs;
pub use table::{AskedTable, TableArgs, TableOutput, TableSubject};
pub use wrong::WrongAtlasCommand;

/// List, draw and study single solutions
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  diadem atlas solutions 8         list the solutions
  diadem atlas show 15863724       describe one solution
  diadem atlas orbits 8            sort the solutions into families
  diadem atlas pages --html pages  all of a board as pages for a browser")]
pub struct AtlasArgs {
    #[command(subcommand)]
    pub command: AtlasCommand,
}

/// The subcommands of `diadem atlas`.
#[derive(Debug, Subcommand)]
pub enum AtlasCommand {
    Solutions(SolutionsArgs),
    Show(ShowArgs),
    Orbits(OrbitsArgs),
    Rings(RingsArgs),
    Table(TableArgs),
    Study(StudyArgs),
    Picture(PictureArgs),
    Constellations(ConstellationsArgs),
    Pages(SiteArgs),
}
