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

use clap::Subcommand;

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

/// The subcommands of the feature `atlas`.
#[derive(Debug, Subcommand)]
pub enum AtlasCommand {
    Solutions(SolutionsArgs),
    Show(ShowArgs),
    #[command(visible_alias = "families")]
    Orbits(OrbitsArgs),
    Rings(RingsArgs),
    Table(TableArgs),
    Study(StudyArgs),
    Picture(PictureArgs),
    Constellations(ConstellationsArgs),
    Atlas(SiteArgs),
}
