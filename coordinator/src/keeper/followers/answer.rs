//! An answer that waits for followers.

use domain::{Copies, PolicyInForce, TakenBack, Verdict};
use records::DoubleCheck;

use crate::keeper::inbox::{CallError, ReplyTo};

/// What is answered, and to whom.
#[derive(Debug)]
pub(in crate::keeper) enum Answer {
    Report { verdicts: Vec<Verdict>, reply: ReplyTo<Vec<Verdict>> },
    Retraction { units: u64, reply: ReplyTo<TakenBack> },
    Policy { double_check: DoubleCheck, require_owners: u32, reply: ReplyTo<PolicyInForce> },
}

impl Answer {
    pub fn is_for_operator(&self) -> bool {
        !matches!(self, Answer::Report { .. })
    }

    /// Enough followers have what was recorded.
    pub fn give(self, copies: Copies) {
        match self {
            Answer::Report { verdicts, reply } => drop(reply.send(Ok(verdicts))),
            Answer::Retraction { units, reply } => drop(reply.send(Ok(TakenBack { units, copies }))),
            Answer::Policy { double_check, require_owners, reply } => {
                let (double_check, replicas) = (double_check.to_string(), copies.replicas);
                drop(reply.send(Ok(PolicyInForce { double_check, replicas, require_owners, copies })));
            }
        }
    }

    /// Only so many have, after a while, and this is the trouble. Counts are reported again.
    pub fn give_late(self, copies: Copies, trouble: String) {
        match self {
            Answer::Report { reply, .. } => drop(reply.send(Err(CallError::NotRecorded(trouble)))),
            by_operator => by_operator.give(copies),
        }
    }

    /// Nothing is answered any more but that.
    pub fn refuse(self, error: CallError) {
        match self {
            Answer::Report { reply, .. } => drop(reply.send(Err(error))),
            Answer::Retraction { reply, .. } => drop(reply.send(Err(error))),
            Answer::Policy { reply, .. } => drop(reply.send(Err(error))),
        }
    }
}
