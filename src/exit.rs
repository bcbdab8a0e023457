//! The exit codes, the same for every command, for scripts and service managers.
//!
//! | code | |
//! |---|---|
//! | 0 | complete; for a worker also: drained, as asked |
//! | 1 | an error: the run may be sound, and a new start may help |
//! | 2 | the command line is wrong, or does not fit this run |
//! | 3 | the run is not sound, not complete, or its answer is withheld: a new start does not help |
//! |   | a published file does not agree with the run (a file of another kind: 1) |
//! | 130 | ended by Ctrl-C |
//! | 143 | ended by SIGTERM, or by `--for` or `--until` before the count was complete. For a command that counts, serves or watches also: its terminal was closed |
//! | 129 | the terminal of another command was closed, which the system ends |
//!
//! The second signal ends every command.

use std::error::Error;
use std::io::{self, Write};
use std::process::ExitCode;

#[cfg(feature = "atlas")]
use atlas::{
    PlacementError, constellation_file::FileError, orbits::TooMany, picture::PictureError,
    rectangle::TooManyPieces, site::SiteError, solutions::WrongLength, study::StudyError,
    table::CountTooLong, textbook::BeyondMethod, tree::TreeTooLarge,
};
use coordinator::{StartError, Withheld};
use gpu::GpuError;
#[cfg(feature = "atlas")]
use queens::BoardError;
use queens::kernel::KernelError;
use queens::{Class, Classified, PlanError};
use records::export::ExportError;
use records::ledger::LedgerError;
use records::policy::PolicyError;
use records::run_directory::RunDirectoryError;
use records::store::StoreError;
use records::verify::VerifyError;
use records::{AuditError, CertificateError, CopyError, HeadError, MergeError, RetractError, TakeoverError};
use worker::{AddressError, TwoRuns};

use crate::args::WrongCommand;
#[cfg(feature = "atlas")]
use crate::args::atlas::WrongAtlasCommand;
use crate::host;

/// The command line was wrong.
pub const USAGE: u8 = 2;

/// The run is not sound or not complete.
pub const UNSOUND: u8 = 3;

/// The exit code of a command that has failed.
pub fn of(error: &anyhow::Error) -> ExitCode {
    match class(error) {
        Class::Failed => ExitCode::FAILURE,
        Class::Usage => ExitCode::from(USAGE),
        Class::Unsound => ExitCode::from(UNSOUND),
    }
}

/// Ends the process after `main` has done its work.
///
/// # Why not just return the code
/// The exit handlers of a card's driver free memory that its compiler still uses in a thread, and the process
/// aborts.
pub fn end_main(code: ExitCode) -> ExitCode {
    if gpu::is_driver_loaded() {
        io::stdout().flush().ok();
        end_process(number(code));
    }
    code
}

/// Ends the process at once, from any thread. Runs no exit handlers: they may hang with what the process is ended for, and those of
/// a driver abort; see [`end_main`].
pub fn end_process(code: u8) -> ! {
    host::exit(code.into())
}

/// The number of an exit code, which std keeps to itself.
fn number(code: ExitCode) -> u8 {
    (0..=u8::MAX).find(|&number| ExitCode::from(number) == code).unwrap_or(u8::MAX)
}

/// Whether the run was examined and found wanting.
pub fn is_unsound(error: &anyhow::Error) -> bool {
    class(error) == Class::Unsound
}

/// The class of the first of these types that the error is.
macro_rules! class_of {
    ($error:ident: $($type:ty),* $(,)?) => {
        None$(.or_else(|| Some($error.downcast_ref::<$type>()?.class())))*
    };
}

fn class(error: &anyhow::Error) -> Class {
    let class = class_of!(
        error: WrongCommand, PlanError, KernelError, GpuError, StartError, Withheld, AddressError, TwoRuns,
        AuditError, CertificateError, CopyError, ExportError, HeadError, LedgerError, MergeError, PolicyError,
        RetractError, RunDirectoryError, StoreError, TakeoverError, VerifyError,
    );
    let class = class.or_else(|| class_in_atlas(error)).unwrap_or(Class::Failed);
    // An unreadable file proves nothing about the run.
    let is_of_system = error.chain().any(<dyn Error>::is::<io::Error>);
    if class == Class::Unsound && is_of_system { Class::Failed } else { class }
}

#[cfg(feature = "atlas")]
fn class_in_atlas(error: &anyhow::Error) -> Option<Class> {
    class_of!(
        error: WrongAtlasCommand, BeyondMethod, BoardError, CountTooLong, FileError, PictureError, PlacementError,
        SiteError, StudyError, TooMany, TooManyPieces, TreeTooLarge, WrongLength,
    )
}

#[cfg(not(feature = "atlas"))]
fn class_in_atlas(_: &anyhow::Error) -> Option<Class> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_code_number_round_trips() {
        assert_eq!(number(ExitCode::SUCCESS), 0);
        for code in [1, 2, 3, 129, 143, 255] {
            assert_eq!(number(ExitCode::from(code)), code);
        }
    }

    #[test]
    fn answer_withheld_until_restart_is_failure() {
        let code =
            |why: AuditError| of(&anyhow::Error::new(Withheld::from(why)).context("the answer is withheld"));
        for why in [AuditError::Differs, AuditError::Died] {
            assert_eq!(code(why), ExitCode::FAILURE);
        }
        assert_eq!(code(AuditError::Short), ExitCode::from(UNSOUND));
    }
}
