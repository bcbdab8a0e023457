//! The mathematics of counting n-queens solutions: no input or output, no clock, nothing asynchronous.
//!
//! The story runs in one direction. A [`Board`] has boundary [constellations](Constellation), one for each orbit of
//! the eight [symmetries](Symmetry). A [`Plan`] cuts them into numbered [units](Unit). A
//! [kernel](kernel::Kernel) counts a unit's completions, and the [`Tally`] adds the counts up to the
//! [`Totals`] A, P, R with Q = 8A + 4P + 2R.
//!
//! A kernel is had by its name, and counts any position, the empty board too:
//!
//! ```
//! use queens::kernel::{Method, Stop, kernel};
//! use queens::{Board, Position};
//!
//! let kernel = kernel(Method::Meet, None)?;
//! let count = kernel.count(&Position::empty(Board::new(10)?), &Stop::new());
//! assert_eq!(count.unwrap().completions, 724);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod extrapolation;
pub mod kernel;
pub mod known;
pub mod orbit_search;
pub mod plan;
pub mod rows;
pub mod self_test;
pub mod symmetric;
pub mod tally;

mod bits;
mod board;
mod class;
mod constellation;
mod estimate;
mod position;
mod solution;
mod squares;
mod summand;
mod symmetry;

pub use board::{Board, BoardError, Square};
pub use class::{Class, Classified};
pub use constellation::{Constellation, Orbit};
pub use plan::{Plan, PlanError, PlanSpec, Unit, UnitId};
pub use position::{BoundaryPairs, Position};
pub use solution::Solution;
pub use summand::{Measure, Summand};
pub use symmetry::{Symmetry, SymmetryClass};
pub use tally::{FamilySums, Tally, TallyError, Totals};
