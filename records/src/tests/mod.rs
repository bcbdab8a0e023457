//! A whole run directory, read after damage and loss.

mod accepted_loss;
mod classes;
mod corruption;
mod credits;
