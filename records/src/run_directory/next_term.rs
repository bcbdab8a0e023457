//! The term that begins when a process opens a run for writing: higher than every term that the directory knows.

use std::io;
use std::path::{Path, PathBuf};

use domain::Term;
use thiserror::Error;

use super::notes::Notes;

/// How far a takeover raises the term. A restart of the same coordinator raises it by 1, possibly every few seconds
/// under a service manager. So the former coordinator does not reach the term of its successor.
pub(crate) const TAKEOVER_STEP: u64 = 1_000_000;

/// No term can begin.
#[derive(Debug, Error)]
pub enum TermError {
    /// The notes of the run directory cannot be read.
    #[error(
        "cannot read {}: {source}; restore that file from a copy, or delete it and start the coordinator with --take-over",
        .path.display()
    )]
    Notes {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The run is another coordinator's.
    #[error(
        "another coordinator of term {term} serves the run in {directory}: let it continue. Only if it \
         is gone permanently, or is the wrong one and stopped, run diadem coordinator --run {directory} \
         --take-over once",
        directory = .directory.display()
    )]
    NotOwn {
        /// The run directory.
        directory: PathBuf,
        /// The highest term of the other coordinator that was met.
        term: u64,
    },
    /// A term is so high that there is none behind it.
    #[error(
        "the run in {} has the term {term}, and there is none behind it; restore the run from a copy",
        .directory.display()
    )]
    Last {
        /// The run directory.
        directory: PathBuf,
        /// The term.
        term: u64,
    },
}

/// The next term of a run whose last term on record is `last`.
///
/// # Errors
/// Another coordinator serves the run and no takeover was requested, or no higher term is possible.
pub fn next_term(directory: &Path, notes: &Notes, last: u64, take_over: bool) -> Result<u64, TermError> {
    let directory = directory.to_owned();
    if let Some(other) = notes.other.as_ref().filter(|_| !take_over) {
        return Err(TermError::NotOwn { directory, term: other.term });
    }
    let term = last.max(notes.highest_term());
    let step = if take_over { TAKEOVER_STEP } else { 1 };
    let next = term.checked_add(step).filter(|next| *next < Term::END);
    next.ok_or(TermError::Last { directory, term })
}

#[cfg(test)]
mod tests {
    use super::super::notes::HigherTerm;
    use super::*;

    fn next(notes: &Notes, last: u64, take_over: bool) -> Result<u64, String> {
        next_term(Path::new("run"), notes, last, take_over).map_err(|error| error.to_string())
    }

    #[test]
    fn start_takes_the_next_term_of_its_directory() {
        assert_eq!(next(&Notes::default(), 0, false), Ok(1));
        assert_eq!(next(&Notes::default(), 3, false), Ok(4));
        let announced = Notes { announced: 7, ..Notes::default() };
        assert_eq!(next(&announced, 3, false), Ok(8), "others have met it, and it has no record");
    }

    #[test]
    fn takeover_passes_all_terms_that_were_met() {
        let other = Some(HigherTerm { term: 5, coordinator: "0".repeat(32) });
        let copy = Notes { announced: 4, other, ..Notes::default() };
        assert_eq!(next(&copy, 3, true), Ok(1_000_005));
        let refused = next(&copy, 3, false).unwrap_err();
        assert!(refused.contains("term 5") && refused.contains("--run run --take-over"), "{refused}");
        assert_eq!(next(&Notes::default(), 3, true), Ok(1_000_003), "the other one may be unknown here");
    }

    #[test]
    fn last_term_of_all_has_none_behind_it() {
        for take_over in [false, true] {
            let refused = next(&Notes::default(), Term::END - 1, take_over).unwrap_err();
            assert!(refused.contains("run has the term 9223372036854775807"), "{refused}");
        }
    }
}
