//! The exit codes, the same for every command: what scripts and service managers go by.
//!
//! | code | |
//! |---|---|
//! | 0 | complete; for a worker also: drained, as it was asked to |
//! | 1 | an error: nothing is known to be wrong with the run |
//! | 2 | the command line was wrong |
//! | 3 | the run is not sound, not complete, or its answer is withheld: starting again does not help |
//! | 130, 143 | interrupted by Ctrl-C, by SIGTERM |

use std::io;
use std::process::ExitCode;

use coordinator::export::ExportError;
use coordinator::ledger::LedgerError;
use coordinator::run_directory::RunDirectoryError;
use coordinator::store::StoreError;
use coordinator::verify::VerifyError;
use coordinator::{AuditError, CertificateError, HeadError, MergeError, Withheld};

/// The command line was wrong.
pub const USAGE: u8 = 2;

/// What was found cannot be relied upon.
pub const UNSOUND: u8 = 3;

/// The exit code of a command that has failed.
pub fn of(error: &anyhow::Error) -> ExitCode {
    if is_unsound(error) { ExitCode::from(UNSOUND) } else { ExitCode::FAILURE }
}

/// Whether `run.json` is none that a sound run has.
fn is_unfit(error: &RunDirectoryError) -> bool {
    matches!(
        error,
        RunDirectoryError::LostRunFile(_)
            | RunDirectoryError::Malformed { .. }
            | RunDirectoryError::Plan { .. }
            | RunDirectoryError::OtherPlan { .. }
    )
}

/// Whether it was looked at, and found wanting. What could not be read says nothing of the run.
fn is_unsound(error: &anyhow::Error) -> bool {
    if error.chain().any(<dyn std::error::Error>::is::<io::Error>) {
        return false;
    }
    let in_merging = |error: &MergeError| {
        matches!(error, MergeError::Ledger(_) | MergeError::Record(_) | MergeError::Disputes { .. })
    };
    error.is::<Withheld>()
        || error.is::<VerifyError>()
        || error.is::<AuditError>()
        || error.is::<LedgerError>()
        || error.is::<CertificateError>()
        || error
            .downcast_ref()
            .is_some_and(|error| !matches!(error, HeadError::Malformed(_) | HeadError::Empty))
        || matches!(error.downcast_ref(), Some(ExportError::NoTable | ExportError::Differs { .. }))
        || matches!(error.downcast_ref(), Some(StoreError::Ledger(_)))
        || matches!(error.downcast_ref(), Some(StoreError::Directory(error)) if is_unfit(error))
        || error.downcast_ref().is_some_and(is_unfit)
        || error.downcast_ref().is_some_and(in_merging)
}
