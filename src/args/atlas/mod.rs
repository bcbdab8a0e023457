//! The arguments of the subcommands about single solutions.

mod constellations;
mod picture;
mod sizes;
mod solutions;
mod study;

use clap::Subcommand;

pub use constellations::{ConstellationsArgs, ConstellationsTask};
pub use picture::{ConstellationPictureArgs, OutArgs, PictureArgs, Subject, TreePictureArgs};
pub use solutions::{Listing, ListingOutput, ListingSource, OrbitsArgs, RingsArgs, SolutionsArgs};
pub use study::StudyArgs;

/// The subcommands of the feature `atlas`.
#[derive(Debug, Subcommand)]
pub enum AtlasCommand {
    Solutions(SolutionsArgs),
    #[command(visible_alias = "families")]
    Orbits(OrbitsArgs),
    Rings(RingsArgs),
    Study(StudyArgs),
    Picture(PictureArgs),
    Constellations(ConstellationsArgs),
}
