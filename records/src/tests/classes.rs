//! The classes of errors, from which the command line takes its exit codes.

use std::io;
use std::path::PathBuf;

use queens::known::Symmetric;
use queens::plan::{Border, Family};
use queens::{Board, Class, Classified, TallyError, UnitId};

use crate::export::ExportError;
use crate::ledger::LedgerError;
use crate::policy::PolicyError;
use crate::run_directory::RunDirectoryError;
use crate::shard::Shard;
use crate::standing::RecordError;
use crate::store::StoreError;
use crate::verify::VerifyError;
use crate::{
    AuditError, CertificateError, CopyError, DoubleCheck, HeadError, MergeError, NothingToRetract,
    RetractError, WrongSymmetric,
};

/// Tests one group of errors for each class.
macro_rules! classes {
    ($($test:ident: $class:ident [$($error:expr),* $(,)?])*) => {$(
        #[test]
        fn $test() {
            $(assert_eq!($error.class(), Class::$class, "{}", $error);)*
        }
    )*};
}

const FAMILY: Family = Family { top: 0, bottom: 2 };

fn path() -> PathBuf {
    "run".into()
}

fn io_error() -> io::Error {
    io::Error::other("disk")
}

fn missing_ledger() -> LedgerError {
    LedgerError::missing(path(), None)
}

fn other_shard() -> RunDirectoryError {
    RunDirectoryError::OtherShard { path: path(), found: Shard::default(), wanted: Shard::default() }
}

fn wrong_symmetric() -> WrongSymmetric {
    WrongSymmetric::refuse(Board::LARGEST, Symmetric { p: 1, r: 0 }).unwrap_err()
}

fn bad_json() -> serde_json::Error {
    serde_json::from_str::<u8>("x").unwrap_err()
}

const UNIT: UnitId = UnitId(3);

classes! {
    errors_of_the_command_line_are_usage: Usage [
        StoreError::NothingToBegin(path()),
        other_shard(),
        StoreError::from(other_shard()),
        RetractError::from(other_shard()),
        RetractError::from(StoreError::from(other_shard())),
        MergeError::from(other_shard()),
        MergeError::from(StoreError::from(other_shard())),
        MergeError::SameRun { one: path(), other: path(), share: Shard::default() },
        MergeError::Occupied(path()),
        MergeError::NotEmpty(path()),
        CopyError::from(other_shard()),
        CopyError::Lost(other_shard()),
        PolicyError::from("x".parse::<DoubleCheck>().unwrap_err()),
        PolicyError::HasEnded,
        ExportError::NoSuchRow { border: Border::Family(FAMILY), board: Board::new(8).unwrap() },
    ]
    errors_of_unsound_runs_are_unsound: Unsound [
        missing_ledger(),
        RunDirectoryError::LostLedger(path()),
        RunDirectoryError::LostRunFile(path()),
        StoreError::from(missing_ledger()),
        AuditError::from(missing_ledger()),
        AuditError::from(TallyError::Overflow),
        AuditError::Short,
        VerifyError::Published,
        VerifyError::from(wrong_symmetric()),
        wrong_symmetric(),
        VerifyError::Unchecked(1),
        RetractError::from(missing_ledger()),
        RetractError::from(RecordError::ForeignUnit(UNIT)),
        MergeError::from(missing_ledger()),
        MergeError::from(RecordError::ForeignUnit(UNIT)),
        MergeError::Disputes { most: 9, first: "unit 3".into() },
        CopyError::Copied(missing_ledger()),
        CopyError::NotComplete,
        CertificateError::Unsigned,
        CertificateError::Impossible("x".into()),
        HeadError::from(missing_ledger()),
        HeadError::Short { line: 1, records: 9, found: 3 },
        ExportError::LineEnd(1),
        ExportError::Differs { line: 1, found: String::new(), expected: String::new() },
        ExportError::Uncounted { family: FAMILY, counted: 1, units: 2 },
        ExportError::Contradiction { family: FAMILY, recorded: 1, found: 2 },
    ]
    errors_that_may_pass_are_failures: Failed [
        RunDirectoryError::NoRun(path()),
        RunDirectoryError::InUse { path: path(), pid: "7".into() },
        RunDirectoryError::Io { action: "read", path: path(), source: io_error() },
        StoreError::LeaseKey { path: path(), source: io_error() },
        AuditError::Died,
        AuditError::Differs,
        RetractError::from(NothingToRetract::NotCounted { unit: UNIT, own: "all".into() }),
        MergeError::Rewritten(path()),
        CopyError::NotWritten(missing_ledger()),
        CopyError::NotProven,
        CertificateError::from(bad_json()),
        CertificateError::OtherForm(9),
        HeadError::Malformed(1),
        HeadError::Empty,
        ExportError::from(io_error()),
        ExportError::NoConstellations,
        ExportError::NoTable,
    ]
}
