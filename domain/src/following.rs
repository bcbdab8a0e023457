//! What a follower and its coordinator send each other.

use std::fmt;

use crate::term::Term;

/// Where a copy of a ledger ends.
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

/// What a follower says: first, and whenever it has more on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FollowRequest {
    /// Tells the copy from others.
    pub follower: u64,
    /// What is on its disk.
    pub end: CopyEnd,
    /// The highest term that it has met.
    pub met: Option<Term>,
}

/// What a follower is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FollowReply {
    /// First: what the run is.
    Run(FollowedRun),
    /// What the ledger has at a place.
    Piece(LedgerPiece),
    /// All is counted and the copy is complete.
    Finished,
}

/// What a run is apart from its ledger.
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
    /// Whether nothing else is there now.
    pub is_end: bool,
}
