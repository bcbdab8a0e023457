//! The ledger: the append-only file of records, and the only truth about a run.
//!
//! The ledger has one record per line, in files `000001.jsonl`, `000002.jsonl`, ... Each line is a JSON object that
//! ends with the hash of the line before it (`prev`) and a CRC-32 of everything before the CRC (`crc`).
//!
//! Records become part of the ledger by the *commit mark* behind them. They are synced to disk first; then the mark is
//! written and synced; then they are acknowledged. So a readable mark vouches for all records before it. The data
//! behind the last mark was never acknowledged: it is the *tail*, which the next start cuts off. Unreadable data before
//! the last mark is damage. Data behind it is also damage unless an interrupted write explains it.

mod chain;
mod damage;
mod disk;
mod files;
mod hash;
mod intake;
mod line;
mod lines;
mod names;
mod of_unit;
mod pieces;
mod position;
mod reader;
mod record;
mod term_record;
mod torn;
mod writer;

pub use damage::{Change, Damage, LedgerError, LineError, Rest};
pub(crate) use disk::SystemDisk;
pub use disk::{Disk, DiskFile, FileState};
pub(crate) use files::{refuse_renamed_end, sync_found};
pub use hash::{LineHash, LineHashError};
pub(crate) use intake::{Group, Intake};
pub use names::file_path;
pub(crate) use names::{kept_path, renamed, renamed_files};
pub use of_unit::lines_of_unit;
pub use pieces::Pieces;
pub use position::{LedgerPosition, Location, Tail};
pub use reader::{LineBefore, line_before, read, read_marks};
pub use record::{
    AcceptedLoss, Admission, CommitMark, Draw, Expulsion, MergedRun, Pause, Policy, Record, Recount,
    Replicas, Restoration, Resumption, Retraction, UnitRecord,
};
pub use term_record::TermRecord;
pub use writer::Writer;

#[cfg(test)]
mod crash_tests;
#[cfg(test)]
mod tests;
