//! Conversion between protobuf and domain types: terms, and messages of followers and coordinators.

use domain::{CoordinatorId, CopyEnd, FollowReply, FollowRequest, FollowedRun, LedgerPiece, Term};

use super::WireError;
use crate::v1;
use crate::v1::follow_reply::Reply;

impl From<Term> for v1::Term {
    fn from(term: Term) -> Self {
        let proof = if term.proof == 0 { Vec::new() } else { term.proof.to_be_bytes().to_vec() };
        Self { number: term.number, coordinator: term.coordinator.0.to_be_bytes().to_vec(), proof }
    }
}

impl TryFrom<v1::Term> for Term {
    type Error = WireError;
    fn try_from(term: v1::Term) -> Result<Self, WireError> {
        let proof = if term.proof.is_empty() { 0 } else { number("the proof of a term", &term.proof)? };
        let coordinator = CoordinatorId(number("a coordinator's name", &term.coordinator)?);
        // A follower that accepted this term would reject every later coordinator of the run.
        if term.number >= Term::END {
            return Err(WireError::new("the number of a term", term.number, "below 9223372036854775808"));
        }
        Ok(Self { number: term.number, coordinator, proof })
    }
}

fn number(field: &'static str, bytes: &[u8]) -> Result<u128, WireError> {
    sixteen_bytes(field, bytes).map(u128::from_be_bytes)
}

fn sixteen_bytes(field: &'static str, bytes: &[u8]) -> Result<[u8; 16], WireError> {
    bytes.try_into().map_err(|_| WireError::new(field, format!("{} bytes", bytes.len()), "16 bytes"))
}

impl From<FollowRequest> for v1::FollowRequest {
    fn from(request: FollowRequest) -> Self {
        let CopyEnd { file, offset, hash, records } = request.end;
        let hash = if file == 0 { Vec::new() } else { hash.to_vec() };
        let term = request.met.map(Into::into);
        Self { follower: request.follower, file, offset, hash, records, term }
    }
}

impl TryFrom<v1::FollowRequest> for FollowRequest {
    type Error = WireError;
    fn try_from(request: v1::FollowRequest) -> Result<Self, WireError> {
        let v1::FollowRequest { follower, file, offset, hash, records, term } = request;
        let end = if file == 0 {
            CopyEnd::default()
        } else {
            CopyEnd { file, offset, hash: sixteen_bytes("the hash of a line", &hash)?, records }
        };
        Ok(Self { follower, end, met: term.map(TryInto::try_into).transpose()? })
    }
}

impl From<FollowReply> for v1::FollowReply {
    fn from(reply: FollowReply) -> Self {
        let reply = match reply {
            FollowReply::Run(FollowedRun { run_file, lease_key, term }) => {
                Reply::Run(v1::FollowedRun { run_file, lease_key, term: Some(term.into()) })
            }
            FollowReply::Piece(LedgerPiece { file, offset, bytes, is_end }) => {
                Reply::Piece(v1::LedgerPiece { file, offset, bytes, is_end })
            }
            FollowReply::Finished => Reply::Finished(v1::Finished {}),
        };
        Self { reply: Some(reply) }
    }
}

impl TryFrom<v1::FollowReply> for FollowReply {
    type Error = WireError;
    fn try_from(reply: v1::FollowReply) -> Result<Self, WireError> {
        let nothing = || WireError::new("the message to a follower", "nothing", "one of the three");
        Ok(match reply.reply.ok_or_else(nothing)? {
            Reply::Run(v1::FollowedRun { run_file, lease_key, term }) => {
                let term = term.ok_or_else(|| WireError::new("the term", "missing", "there"))?;
                FollowReply::Run(FollowedRun { run_file, lease_key, term: term.try_into()? })
            }
            Reply::Piece(v1::LedgerPiece { file, offset, bytes, is_end }) => {
                FollowReply::Piece(LedgerPiece { file, offset, bytes, is_end })
            }
            Reply::Finished(v1::Finished {}) => FollowReply::Finished,
        })
    }
}
