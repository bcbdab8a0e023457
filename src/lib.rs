//! The arguments of the command line as a library, for whoever tries them without the command.

#![forbid(unsafe_code)]

#[allow(missing_docs, reason = "comments are the command's help; what is in no help has none")]
pub mod args;
