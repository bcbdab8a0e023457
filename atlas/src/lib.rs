//! Single solutions of the n-queens problem rather than totals: lists, orbits, rings, other boards and pieces,
//! constellation files, the randomised search, and pictures of all of it.
#![forbid(unsafe_code)]

pub mod columns;
pub mod conflict;
pub mod constellation_file;
pub mod diagonals;
pub mod format;
pub mod greedy;
pub mod large;
pub mod min_conflicts;
pub mod motion;
pub mod orbits;
pub mod picture;
pub mod portrait;
pub mod record;
pub mod rectangle;
pub mod report;
pub mod restarts;
pub mod rings;
pub mod search;
pub mod setting;
pub mod site;
pub mod solutions;
pub mod study;
pub mod table;
pub mod textbook;
pub mod trace;
pub mod tree;

mod attacks;
mod placement;

pub use placement::{Placement, PlacementError};
pub use setting::{Piece, Setting, Surface};
pub use strum::VariantNames;
