//! The term that whoever opens a run for writing begins: higher than all that anybody has met.
//!
//! A copy that becomes the coordinator leaves room behind the last term that it has heard of: however often the former
//! coordinator is started again from its own folder, its terms are lower.

use std::io;
use std::path::{Path, PathBuf};

use domain::Term;
use thiserror::Error;

use super::notes::{NAME, Notes};

/// A takeover raises the term by so much; a start of the same coordinator raises it by 1, every few seconds where a service
/// manager starts it again and again.
const TAKEOVER: u64 = 1_000_000;

/// An operator's take-over raises it by so much: by more than a copy that became the coordinator, and all starts of that one, and by
/// what no number of such copies does, for two of one term would be a fork.
const TOLD_TO: u64 = 2 * TAKEOVER + TAKEOVER / 2;

/// No term can be begun.
#[derive(Debug, Error)]
pub enum TermError {
    /// The notes of the run directory cannot be read.
    #[error(
        "cannot read {}: {source}; restore that file from a copy, or delete it, start this coordinator again and say \
         --take-over (a run that was never served nor followed there can do without)",
        .path.display()
    )]
    Notes {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// A term that was noted is further past the last one on record than any run comes.
    #[error(
        "{} has the term {term}, which is too far past the last one on record ({last}) to be true; restore that file from a \
         copy, or delete it, start this coordinator again and say --take-over", .path.display()
    )]
    TooFar {
        /// The file.
        path: PathBuf,
        /// The term.
        term: u64,
        /// The last one on record.
        last: u64,
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

/// The next term of a run whose last one on record is `last`. It is higher than every term that the directory's
/// coordinators have announced, and far higher than what its copy has met; with `take_over` also than the term of whoever
/// has superseded it.
///
/// # Errors
/// A term that was noted cannot be true, or there is no higher term.
pub fn next_term(directory: &Path, notes: &Notes, last: u64, take_over: bool) -> Result<u64, TermError> {
    let room = if take_over { TOLD_TO } else { 1 };
    let superseded_by = take_over.then_some(notes.superseded_by);
    let followed = notes.following.as_ref().map(|following| (following.term, TAKEOVER));
    let known = [Some(last), Some(notes.announced), superseded_by].map(|term| term.map(|term| (term, room)));
    let mut next = 1;
    for (term, room) in known.into_iter().chain([followed]).flatten() {
        if Term::is_too_far(term, last) {
            return Err(TermError::TooFar { path: directory.join(NAME), term, last });
        }
        let behind = term.checked_add(room).filter(|behind| *behind < Term::END);
        next = next.max(behind.ok_or_else(|| TermError::Last { directory: directory.to_owned(), term })?);
    }
    Ok(next)
}

#[cfg(test)]
mod tests {
    use super::super::notes::Following;
    use super::*;

    /// Notes of a follower that has met that term.
    fn follower_of(term: u64) -> Notes {
        let following = Some(Following { follower: 7, term, coordinator: "0".repeat(32) });
        Notes { following, ..Notes::default() }
    }

    fn next(notes: &Notes, last: u64, take_over: bool) -> Result<u64, String> {
        next_term(Path::new("run"), notes, last, take_over).map_err(|error| error.to_string())
    }

    #[test]
    fn takeover_leaves_room_for_the_terms_of_others() {
        let mut notes = Notes::default();
        assert_eq!(next(&notes, 0, false), Ok(1));
        assert_eq!(next(&notes, 3, false), Ok(4));
        notes = follower_of(4);
        assert_eq!(next(&notes, 3, false), Ok(1_000_004));
        assert_eq!(next(&notes, 1_000_004, false), Ok(1_000_005), "the copy is the coordinator's by then");
        notes.announced = 1_000_007;
        assert_eq!(next(&notes, 3, false), Ok(1_000_008), "others have met it, though it has no record");
    }

    #[test]
    fn takeover_passes_copies_that_were_promoted_unheard_of() {
        let promoted = next(&follower_of(3), 3, false).unwrap();
        let told = next(&Notes::default(), 3, true).unwrap();
        assert!(told > promoted + TAKEOVER, "{told} and {promoted}");
        for copies in 1..=4 {
            assert_ne!(next(&follower_of(3 + copies * TAKEOVER), 3, false), Ok(told));
        }
    }

    #[test]
    fn last_term_of_all_has_none_behind_it() {
        let refused = next(&Notes::default(), Term::END - 1, true).unwrap_err();
        assert!(refused.contains("run has the term 9223372036854775807"), "{refused}");
    }

    #[test]
    fn term_too_far_past_the_record_is_named_with_its_file() {
        let refused = |notes: &Notes, last| {
            let refused = next(notes, last, true).unwrap_err();
            assert!(refused.starts_with("run/notes.json has the term "), "{refused}");
            assert!(refused.contains("--take-over"), "{refused}");
            assert!(refused.contains(&format!("the last one on record ({last})")), "{refused}");
        };
        let superseded = Notes { superseded_by: Term::END - 9, ..Notes::default() };
        assert_eq!(next(&superseded, 3, false), Ok(4), "no takeover was asked for");
        refused(&superseded, 3);
        let announced = Notes { announced: Term::TOO_FAR + 3, ..Notes::default() };
        assert_eq!(next(&announced, 4, false), Ok(Term::TOO_FAR + 4));
        refused(&announced, 3);
        refused(&follower_of(Term::END - 1), 3);
    }

    #[test]
    fn superseding_term_is_passed_only_by_takeover() {
        assert_eq!(next(&Notes::default(), 3, true), Ok(2_500_003), "others may have met more than is noted");
        let superseded = Notes { superseded_by: 5_000_000, ..Notes::default() };
        assert_eq!(next(&superseded, 3, false), Ok(4));
        assert_eq!(next(&superseded, 3, true), Ok(7_500_000));
        assert_eq!(next(&superseded, 7_500_000, false), Ok(7_500_001));
    }
}
