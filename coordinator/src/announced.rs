//! The last term that was announced to workers and followers: a file in the run directory.
//!
//! A term goes on record with the first count, which may take a while; a coordinator that is killed before that has
//! announced a term that no ledger knows. Whoever opens the run again must take a higher one, or its workers, who have met
//! the other, would take it for a stranger.

use std::fs;
use std::io;
use std::path::Path;

use crate::run_directory::replace_file;

const NAME: &str = "term";

/// The number of the last term announced from that directory; 0 if none was.
///
/// # Errors
/// It cannot be read.
pub fn last(directory: &Path) -> io::Result<u64> {
    match fs::read_to_string(directory.join(NAME)) {
        // What a crash has left there, or a hand, says nothing.
        Ok(number) => Ok(number.trim().parse().unwrap_or(0)),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::InvalidData) => Ok(0),
        Err(error) => Err(error),
    }
}

/// Notes that the term of that number is announced from now on.
///
/// # Errors
/// The disk would not do it.
pub fn note(directory: &Path, number: u64) -> io::Result<()> {
    replace_file(directory, NAME, format!("{number}\n").as_bytes(), 0o644)
}
