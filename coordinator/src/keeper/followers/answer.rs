//! An answer that waits for followers.

use domain::{Copies, PolicyInForce, TakenBack, Verdict};
use records::{DoubleCheck, Extent, OwnChecks};

use crate::keeper::inbox::{CallError, ReplyTo};

/// An answer and its recipient.
#[derive(Debug)]
pub(in crate::keeper) enum Answer {
    Report {
        verdicts: Vec<Verdict>,
        reply: ReplyTo<Vec<Verdict>>,
    },
    Retraction {
        extent: Extent,
        reply: ReplyTo<TakenBack>,
    },
    Policy {
        double_check: DoubleCheck,
        require_owners: u32,
        own_checks: Option<OwnChecks>,
        reply: ReplyTo<PolicyInForce>,
    },
}

impl Answer {
    pub fn is_for_operator(&self) -> bool {
        !matches!(self, Answer::Report { .. })
    }

    /// Sends the answer: enough followers have the records.
    pub fn give(self, copies: Copies) {
        match self {
            Answer::Report { verdicts, reply } => drop(reply.send(Ok(verdicts))),
            Answer::Retraction { extent: Extent { units, share }, reply } => {
                drop(reply.send(Ok(TakenBack { units, share, copies })));
            }
            Answer::Policy { double_check, require_owners, own_checks, reply } => {
                let (double_check, replicas) = (double_check.to_string(), copies.replicas);
                let (own_checks, own) = own_checks.map_or_else(
                    || ("none".to_owned(), String::new()),
                    |own| (own.share.to_string(), own.owner),
                );
                let policy =
                    PolicyInForce { double_check, replicas, require_owners, own_checks, own, copies };
                drop(reply.send(Ok(policy)));
            }
        }
    }

    /// Sends the answer although too few followers have the records, with the reason. Workers report such counts again.
    pub fn give_late(self, copies: Copies, trouble: String) {
        match self {
            Answer::Report { reply, .. } => drop(reply.send(Err(CallError::NotRecorded(trouble)))),
            by_operator => by_operator.give(copies),
        }
    }

    /// Answers with this error.
    pub fn refuse(self, error: CallError) {
        match self {
            Answer::Report { reply, .. } => drop(reply.send(Err(error))),
            Answer::Retraction { reply, .. } => drop(reply.send(Err(error))),
            Answer::Policy { reply, .. } => drop(reply.send(Err(error))),
        }
    }
}
