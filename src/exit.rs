//! The exit codes, the same for every command: what scripts and service managers go by.
//!
//! | code | |
//! |---|---|
//! | 0 | complete; for a worker also: drained, as it was asked to |
//! | 1 | an error: nothing is known to be wrong with the run, and starting again may help |
//! | 2 | the command line was wrong, also where it does not go with this run |
//! | 3 | the run is not sound, not complete, or its answer is withheld: starting again does not help |
//! |   | what was published of it does not agree with it (a file that is none of such a kind is 1) |
//! | 130, 143 | interrupted by Ctrl-C, by SIGTERM; 143 also where the terminal of what counts, serves or watches was closed, and where `--for` or `--until` ends a count that is not complete |
//! | 129 | the terminal of another command was closed: the system's own end of it |

use std::io;
use std::process::ExitCode;

#[cfg(feature = "atlas")]
use atlas::{
    PlacementError, constellation_file::FileError, orbits::TooMany, picture::PictureError,
    rectangle::TooManyQueens, site::SiteError, solutions::WrongLength, study::StudyError,
    table::CountTooLong, textbook::BeyondMethod, tree::TreeTooLarge,
};
use coordinator::{StartError, Withheld};
use gpu::GpuError;
#[cfg(feature = "atlas")]
use queens::BoardError;
use queens::PlanError;
use queens::kernel::KernelError;
use records::export::ExportError;
use records::ledger::LedgerError;
use records::policy::PolicyError;
use records::run_directory::RunDirectoryError;
use records::store::StoreError;
use records::verify::VerifyError;
use records::{AuditError, CertificateError, CopyError, HeadError, MergeError, RetractError};
use worker::{AddressError, TwoRuns};

use crate::args::WrongCommand;
#[cfg(feature = "atlas")]
use crate::args::atlas::WrongAtlasCommand;

/// The command line was wrong.
pub const USAGE: u8 = 2;

/// What was found cannot be relied upon.
pub const UNSOUND: u8 = 3;

/// The exit code of a command that has failed.
pub fn of(error: &anyhow::Error) -> ExitCode {
    match error {
        _ if is_unsound(error) => ExitCode::from(UNSOUND),
        _ if is_wrong_command(error) => ExitCode::from(USAGE),
        _ => ExitCode::FAILURE,
    }
}

/// Whether what was typed cannot be, here or for that run, however often it is tried.
fn is_wrong_command(error: &anyhow::Error) -> bool {
    let of_other_run = |error: &RunDirectoryError| {
        matches!(
            error,
            RunDirectoryError::OtherBoard { .. }
                | RunDirectoryError::OtherShard { .. }
                | RunDirectoryError::OtherScheme { .. }
        )
    };
    error.is::<WrongCommand>()
        || error.is::<PlanError>()
        || error.is::<KernelError>()
        || matches!(error.downcast_ref(), Some(GpuError::NoSuchDevice { .. }))
        || is_wrong_in_atlas(error)
        || error.is::<TwoRuns>()
        || error.is::<PolicyError>()
        || matches!(error.downcast_ref(), Some(StartError::Policy(_)))
        || matches!(error.downcast_ref(), Some(StoreError::Directory(error)) if of_other_run(error))
        || error.downcast_ref().is_some_and(is_of_other_runs)
        || matches!(
            error.downcast_ref(),
            Some(AddressError::Malformed(_) | AddressError::NoAuthority(_) | AddressError::NotEncrypted(_))
        )
}

/// Whether these runs cannot be joined, or not there, however often it is tried.
fn is_of_other_runs(error: &MergeError) -> bool {
    matches!(
        error,
        MergeError::OtherPlan { .. }
            | MergeError::SameRun { .. }
            | MergeError::Occupied(_)
            | MergeError::Within { .. }
            | MergeError::Irreplaceable { .. }
            | MergeError::NotEmpty(_)
    )
}

/// Whether the arguments of a command about single solutions contradict each other, or ask for what there is not.
#[cfg(feature = "atlas")]
fn is_wrong_in_atlas(error: &anyhow::Error) -> bool {
    error.is::<WrongAtlasCommand>()
        || error.is::<StudyError>()
        || error.is::<PlacementError>()
        || error.is::<WrongLength>()
        || error.is::<TooManyQueens>()
        || error.is::<BeyondMethod>()
        || error.is::<TreeTooLarge>()
        || error.is::<TooMany>()
        || error.is::<CountTooLong>()
        || error.is::<PictureError>()
        || error.is::<BoardError>()
        || matches!(error.downcast_ref(), Some(FileError::Size(_)))
        || matches!(error.downcast_ref(), Some(SiteError::Size(_)))
}

#[cfg(not(feature = "atlas"))]
fn is_wrong_in_atlas(_: &anyhow::Error) -> bool {
    false
}

/// Whether it was looked at, and found wanting. What could not be read says nothing of the run.
pub fn is_unsound(error: &anyhow::Error) -> bool {
    if error.chain().any(<dyn std::error::Error>::is::<io::Error>) {
        return false;
    }
    error.downcast_ref().is_some_and(is_in_run)
        || error.is::<VerifyError>()
        || error.downcast_ref().is_some_and(is_in_ledger)
        || error.is::<LedgerError>()
        || matches!(error.downcast_ref(), Some(ExportError::LineEnd(_) | ExportError::Differs { .. }))
        || error.downcast_ref().is_some_and(is_in_certificate)
        || error.downcast_ref().is_some_and(is_in_heads)
        || error.downcast_ref().is_some_and(is_unfit)
        || error.downcast_ref().is_some_and(in_store)
        || matches!(error.downcast_ref(), Some(StartError::Store(error)) if in_store(error))
        || error.downcast_ref().is_some_and(in_merging)
        || error.downcast_ref().is_some_and(in_retracting)
        || error.downcast_ref().is_some_and(in_copy)
}

/// Whether it is the run that has no answer, and not this process that cannot give it: then another start mends that.
fn is_in_run(withheld: &Withheld) -> bool {
    match withheld {
        Withheld::Audit(error) => is_in_ledger(error),
        Withheld::Record(_) | Withheld::Sums(_) => true,
    }
}

fn is_in_ledger(error: &AuditError) -> bool {
    !matches!(error, AuditError::Differs | AuditError::Died)
}

/// Whether it is a certificate, but none to be believed.
fn is_in_certificate(error: &CertificateError) -> bool {
    !matches!(error, CertificateError::Malformed(_) | CertificateError::OtherForm(_))
}

/// Whether they are heads, but none of the run.
fn is_in_heads(error: &HeadError) -> bool {
    !matches!(error, HeadError::Malformed(_) | HeadError::Empty)
}

/// Whether `run.json` is none that a sound run has.
fn is_unfit(error: &RunDirectoryError) -> bool {
    matches!(
        error,
        RunDirectoryError::LostRunFile(_)
            | RunDirectoryError::LostLedger(_)
            | RunDirectoryError::Malformed { .. }
            | RunDirectoryError::Plan { .. }
            | RunDirectoryError::OtherPlan { .. }
    )
}

fn in_store(error: &StoreError) -> bool {
    match error {
        StoreError::Ledger(_) => true,
        StoreError::Directory(error) => is_unfit(error),
        _ => false,
    }
}

fn in_merging(error: &MergeError) -> bool {
    match error {
        MergeError::Ledger(_) | MergeError::Record(_) | MergeError::Disputes { .. } => true,
        MergeError::Directory(error) => is_unfit(error),
        MergeError::Store(error) => in_store(error),
        _ => false,
    }
}

fn in_retracting(error: &RetractError) -> bool {
    match error {
        RetractError::Ledger(_) | RetractError::Record(_) => true,
        RetractError::Directory(error) => is_unfit(error),
        RetractError::Store(error) => in_store(error),
        RetractError::Nothing(_) => false,
    }
}

/// Whether it is the copy that is not sound, or the run that is copied.
fn in_copy(error: &CopyError) -> bool {
    match error {
        CopyError::Copied(_) | CopyError::NotSound { .. } | CopyError::NotComplete => true,
        CopyError::Directory(error) | CopyError::Lost(error) => is_unfit(error),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_withheld_by_what_another_start_mends_has_the_code_of_an_error() {
        let code =
            |why: AuditError| of(&anyhow::Error::new(Withheld::from(why)).context("the answer is withheld"));
        for why in [AuditError::Differs, AuditError::Died] {
            assert_eq!(code(why), ExitCode::FAILURE);
        }
        assert_eq!(code(AuditError::Short), ExitCode::from(UNSOUND));
    }
}
