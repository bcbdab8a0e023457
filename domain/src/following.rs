//! The messages between a follower and its coordinator.

use std::fmt;

use crate::term::Term;

/// The end of a copy of a ledger.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CopyEnd {
    /// The number of the file, from 1; 0 where there is no copy yet.
    pub file: u32,
    /// Bytes of that file before the end.
    pub offset: u64,
    /// The hash of the line before.
    pub hash: [u8; 16],
    /// The records before, marks not counted.
    pub records: u64,
}

/// A follower's message: at the start, and after each write to disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FollowRequest {
    /// Tells the copy from others.
    pub follower: u64,
    /// The end of the copy on its disk.
    pub end: CopyEnd,
    /// The highest term that it has met.
    pub met: Option<Term>,
}

/// A message to a follower.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FollowReply {
    /// The first message: the description of the run.
    Run(FollowedRun),
    /// A piece of the ledger.
    Piece(LedgerPiece),
    /// All is counted and the copy is complete.
    Finished,
}

/// The description of a run without its ledger.
#[derive(Clone, PartialEq, Eq)]
pub struct FollowedRun {
    /// The file `run.json`.
    pub run_file: Vec<u8>,
    /// The file `lease.key`.
    pub lease_key: Vec<u8>,
    /// The term of the coordinator.
    pub term: Term,
}

impl fmt::Debug for FollowedRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FollowedRun({}, its key is not shown)", self.term)
    }
}

/// A piece of a ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerPiece {
    /// The number of the file, from 1.
    pub file: u32,
    /// Bytes of that file before the piece.
    pub offset: u64,
    /// The piece itself: any part of lines that are committed.
    pub bytes: Vec<u8>,
    /// True if the ledger has no further data at present.
    pub is_end: bool,
}
