//! Kernels: the code that counts the completions of a position.
//!
//! Every kernel accepts every position and returns the same number of completions for it. A kernel is named by its
//! *method* (how it searches) and its *isa* (the instruction set that its inner loop is compiled for).
//!
//! ```
//! use queens::kernel::{Isa, Method, Stop, kernel};
//! use queens::{Board, Position};
//!
//! let search = kernel(Method::Search, Some(Isa::Portable))?;
//! let empty = Position::empty(Board::new(8)?);
//! let count = search.count(&empty, &Stop::new()).expect("nobody stops it");
//! assert_eq!(count.completions, 92);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod meet;
pub mod scalar;
pub mod search;

mod contract;
mod isa;
mod name;

use std::sync::Arc;

pub use contract::{Count, Kernel, Stop};
pub use isa::Isa;
pub use meet::Meet;
pub use name::{KernelError, KernelName, Method};
pub use search::Search;

/// The kernel of that method for that instruction set; `None` takes the fastest that the machine has.
///
/// # Errors
/// If the machine does not have the instruction set.
pub fn kernel(method: Method, isa: Option<Isa>) -> Result<Arc<dyn Kernel>, KernelError> {
    let isa = isa.unwrap_or_else(Isa::best);
    Ok(match method {
        Method::Meet => Arc::new(Meet::new(isa)?),
        Method::Search => Arc::new(Search::new(isa)?),
    })
}
