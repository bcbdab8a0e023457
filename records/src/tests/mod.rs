//! A run directory as a whole: what is read of it after damage and loss.

mod accepted_loss;
mod classes;
mod corruption;
