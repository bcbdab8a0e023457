//! Whether workers may be waiting for the run's answer: a file in its directory, from the first one that a coordinator takes in until
//! a coordinator ends that has told all of them. It is a hint, and no part of what is counted: a copy of the run does not have it.

use std::fs;
use std::path::Path;

use crate::regular_file;

const FILE: &str = "awaited";

/// Whether it is noted in this directory.
pub fn is_noted(directory: &Path) -> bool {
    directory.join(FILE).exists()
}

/// Notes that there are such workers. Where that fails they may not be waited for: a disk that takes nothing is told elsewhere.
pub fn note(directory: &Path) {
    regular_file::replace(&directory.join(FILE), b"\n", 0o644).ok();
}

/// Notes that there are none any more. Where that fails the next process waits for them in vain.
pub fn forget(directory: &Path) {
    fs::remove_file(directory.join(FILE)).ok();
}
