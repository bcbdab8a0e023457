//! The ledger: the append-only file of records, and the only truth about a run.
//!
//! One record a line, in files `000001.jsonl`, `000002.jsonl`, ... Each line is a JSON object that ends with the hash
//! of the line before (`prev`) and a CRC-32 of everything in front of it (`crc`). Records become part of the ledger by
//! the *commit mark* behind them: they are synced to disk first, then the mark is written and synced, then they are
//! acknowledged. So a mark that can be read vouches for all before it, and what follows the last mark was never
//! acknowledged: it is *tail*, cut off at the next start. Anything unreadable before the last mark is damage, and so is
//! behind it what no interrupted write leaves.

mod chain;
mod damage;
mod disk;
mod files;
mod hash;
mod intake;
mod line;
mod lines;
mod names;
mod pieces;
mod position;
mod reader;
mod record;
mod term_record;
mod torn;
mod writer;

pub use damage::{Change, Damage, LedgerError, LineError};
pub(crate) use disk::SystemDisk;
pub use disk::{Disk, DiskFile, FileState};
pub(crate) use files::{refuse_renamed_end, sync_found};
pub use hash::{LineHash, LineHashError};
pub(crate) use intake::{Group, Intake};
pub use names::file_path;
pub(crate) use names::{kept_path, renamed, renamed_files};
pub use pieces::Pieces;
pub use position::{LedgerPosition, Location, Tail};
pub use reader::{LineBefore, line_before, read, read_marks};
pub use record::{
    Admission, CommitMark, Expulsion, MergedRun, Policy, Record, Recount, Replicas, Restoration, Retraction,
    UnitRecord,
};
pub use term_record::TermRecord;
pub use writer::Writer;

#[cfg(test)]
mod crash_tests;
#[cfg(test)]
mod tests;
