//! Futures in boxes: compiled once, with the crate that boxes them, and not again with each that awaits them.

use std::future::Future;
use std::pin::Pin;

/// A future in a box.
pub type Boxed<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
