//! The term that whoever opens a run for writing begins: higher than all that anybody has met.
//!
//! A copy that becomes the coordinator leaves room behind the last term that it has heard of: however often the former
//! coordinator is started again from its own folder, its terms are lower.

use std::io;
use std::path::{Path, PathBuf};

use proto::Term;
use thiserror::Error;

use super::follower_file::{self, FollowerFile};
use super::noted_term::{ANNOUNCED, NotedTerm, SUPERSEDING};
use super::{RunDirectoryError, io_error};

/// A takeover raises the term by so much; a start of the same coordinator raises it by 1, every few seconds where a service
/// manager starts it again and again.
const TAKEOVER: u64 = 1_000_000;

/// An operator's take-over raises it by so much: by more than a copy that became the coordinator, and all starts of that one, and by
/// what no number of such copies does, for two of one term would be a fork.
const TOLD_TO: u64 = 2 * TAKEOVER + TAKEOVER / 2;

/// No term can be begun.
#[derive(Debug, Error)]
pub enum TermError {
    /// What a follower has left there cannot be read.
    #[error(
        "cannot read {}: {source}; delete that file if the run was never followed there; else restore it from a copy, or delete it, \
         start this coordinator again and say --take-over",
        .path.display()
    )]
    Follower {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// A term that was noted cannot be read.
    #[error(transparent)]
    Noted(RunDirectoryError),
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
    #[error("{} has the term {term}, and there is none behind it; restore it from a copy of the run", .path.display())]
    Last {
        /// The file, or the ledger.
        path: PathBuf,
        /// The term.
        term: u64,
    },
}

/// The term of a run whose last one on record is `last`. It leaves behind whom a copy has followed; and to `take_over` is
/// to leave behind all of whom that directory knows, those that superseded it as well.
///
/// # Errors
/// What a follower has left there, or who has served the run, cannot be read or cannot be true; or there is no higher term.
pub fn next_term(directory: &Path, last: u64, take_over: bool) -> Result<u64, TermError> {
    let room = if take_over { TOLD_TO } else { 1 };
    let mut known = vec![(directory.join("ledger"), last, room), noted(directory, ANNOUNCED, room)?];
    if take_over {
        known.push(noted(directory, SUPERSEDING, room)?);
    }
    let path = directory.join(follower_file::NAME);
    match FollowerFile::read(directory) {
        Ok(file) => known.extend(file.map(|file| (path, file.term, TAKEOVER))),
        Err(source) => return Err(TermError::Follower { path, source }),
    }
    let behind = known.into_iter().map(|(path, term, room)| {
        if Term::is_too_far(term, last) {
            return Err(TermError::TooFar { path, term, last });
        }
        let next = term.checked_add(room).filter(|next| *next < Term::END);
        next.ok_or(TermError::Last { path, term })
    });
    behind.reduce(|one, other| Ok(one?.max(other?))).unwrap_or(Ok(1))
}

/// Where a term is noted, the term, and how much room is to be left behind it.
fn noted(directory: &Path, place: NotedTerm, room: u64) -> Result<(PathBuf, u64, u64), TermError> {
    let path = place.path(directory);
    let term = place.read(directory).map_err(|source| TermError::Noted(io_error("read", &path)(source)))?;
    Ok((path, term, room))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// That directory is of a follower which has met that term.
    fn follow(directory: &Path, term: u64) {
        let file = FollowerFile { follower: 7, term, coordinator: "0".repeat(32) };
        file.write(directory).unwrap();
    }

    #[test]
    fn a_takeover_leaves_room_for_the_terms_of_whoever_was_there_before() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(next_term(folder.path(), 0, false).unwrap(), 1);
        assert_eq!(next_term(folder.path(), 3, false).unwrap(), 4);
        follow(folder.path(), 4);
        assert_eq!(next_term(folder.path(), 3, false).unwrap(), 1_000_004);
        assert_eq!(
            next_term(folder.path(), 1_000_004, false).unwrap(),
            1_000_005,
            "the copy is the coordinator's by then"
        );
        ANNOUNCED.note(folder.path(), 1_000_007).unwrap();
        assert_eq!(
            next_term(folder.path(), 3, false).unwrap(),
            1_000_008,
            "others have met it, though it has no record"
        );
    }

    #[test]
    fn who_is_told_to_take_over_leaves_copies_behind_that_became_the_coordinator_unheard_of() {
        let [own, copy] = [(); 2].map(|()| tempfile::tempdir().unwrap());
        follow(copy.path(), 3);
        let promoted = next_term(copy.path(), 3, false).unwrap();
        let told = next_term(own.path(), 3, true).unwrap();
        assert!(told > promoted + TAKEOVER, "{told} and {promoted}");
        for copies in 1..=4 {
            follow(copy.path(), 3 + copies * TAKEOVER);
            assert_ne!(next_term(copy.path(), 3, false).unwrap(), told);
        }
    }

    #[test]
    fn a_term_that_nobody_opens_is_passed_over_or_named_with_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let refused = |last| next_term(folder.path(), last, true).unwrap_err().to_string();
        for (place, number) in [("term", u64::MAX), ("superseded", Term::END)] {
            fs::write(folder.path().join(place), number.to_string()).unwrap();
            assert_eq!(next_term(folder.path(), 3, true).unwrap(), 2_500_003, "{place}");
        }
        let said = refused(Term::END - 1);
        assert!(said.contains("ledger has the term 9223372036854775807"), "{said}");
        follow(folder.path(), Term::END);
        let said = refused(3);
        assert!(said.contains("follower.json") && said.contains("9223372036854775808"), "{said}");
    }

    #[test]
    fn a_term_that_is_too_far_past_the_last_on_record_is_named_with_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let named = |name: &str, last| {
            let path = folder.path().join(name);
            let said = next_term(folder.path(), last, true).unwrap_err().to_string();
            assert!(said.contains(&path.display().to_string()) && said.contains("--take-over"), "{said}");
            assert!(said.contains(&format!("the last one on record ({last})")), "{said}");
            fs::remove_file(path).unwrap();
        };
        SUPERSEDING.note(folder.path(), Term::END - 9).unwrap();
        assert_eq!(next_term(folder.path(), 3, false).unwrap(), 4, "it is not asked for");
        named("superseded", 3);
        ANNOUNCED.note(folder.path(), Term::TOO_FAR + 3).unwrap();
        assert_eq!(next_term(folder.path(), 4, false).unwrap(), Term::TOO_FAR + 4);
        named("term", 3);
        follow(folder.path(), Term::END - 1);
        named("follower.json", 3);
        assert_eq!(next_term(folder.path(), 3, true).unwrap(), 2_500_003);
    }

    #[test]
    fn the_file_that_cannot_be_read_is_named() {
        for name in ["term", "superseded", "follower.json"] {
            let folder = tempfile::tempdir().unwrap();
            fs::create_dir(folder.path().join(name)).unwrap();
            let said = next_term(folder.path(), 3, true).unwrap_err().to_string();
            let named = ["term", "superseded", "follower.json"].map(|name| folder.path().join(name));
            let named: Vec<_> = named.iter().filter(|path| said.contains(&*path.to_string_lossy())).collect();
            assert_eq!(named, [&folder.path().join(name)], "{said}");
            assert_eq!(said.contains("--take-over"), name == "follower.json", "{said}");
        }
    }

    #[test]
    fn a_term_that_has_superseded_is_left_behind_only_by_who_says_so() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(
            next_term(folder.path(), 3, true).unwrap(),
            2_500_003,
            "others may have met more than is noted"
        );
        for number in [5_000_000, 4_000_000] {
            SUPERSEDING.note(folder.path(), number).unwrap();
            assert_eq!(next_term(folder.path(), 3, false).unwrap(), 4);
            assert_eq!(next_term(folder.path(), 3, true).unwrap(), 7_500_000);
        }
        assert_eq!(next_term(folder.path(), 7_500_000, false).unwrap(), 7_500_001);
    }
}
