//! The answer of a run: its totals, compared with published values.

use std::collections::BTreeSet;
use std::time::Duration;

use domain::Assurance;
use queens::{Board, Totals, known};

use crate::assurance::assess;
use crate::audit::Audit;
use crate::shard::Shard;

/// The answer of a finished run.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The board.
    pub board: Board,
    /// The share of the plan that was counted; the totals are those of the board only if it is the whole plan.
    pub shard: Shard,
    /// The totals.
    pub totals: Totals,
    /// Units counted.
    pub units: u64,
    /// The most threads that worked on it at a time.
    pub threads: u32,
    /// The kernels that counted, as in `search/portable`.
    pub kernels: BTreeSet<String>,
    /// How long the run was worked on, over all its sessions.
    pub elapsed: Duration,
    /// Processor time of all units.
    pub cpu: Duration,
    /// The results of double-checking.
    pub assurance: Assurance,
}

/// How a total compares with the published value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agreement {
    /// It is the published value, classes included.
    Agrees,
    /// It differs from the published value.
    Differs,
    /// No value has been published, or not the whole board was counted.
    None,
}

impl Answer {
    /// The answer that a sound and complete ledger gives.
    pub fn of(audit: &Audit, board: Board, shard: Shard) -> Self {
        let mark = audit.tail.end.mark;
        Self {
            board,
            shard,
            totals: audit.totals,
            units: audit.standing.done(),
            threads: mark.threads,
            kernels: audit.kernels.clone(),
            elapsed: mark.elapsed(),
            cpu: Duration::from_micros(audit.standing.sums().cpu_us()),
            assurance: assess(&audit.standing, audit.standing.policy()),
        }
    }

    /// How the totals compare with the published ones.
    pub fn agreement(&self) -> Agreement {
        Agreement::of(self.board, self.shard, &self.totals)
    }
}

impl Agreement {
    /// How the totals of a finished run compare with the published ones.
    pub fn of(board: Board, shard: Shard, totals: &Totals) -> Self {
        match known::totals(board) {
            Some(known) if shard.is_whole() => {
                if known == *totals {
                    Agreement::Agrees
                } else {
                    Agreement::Differs
                }
            }
            _ => Agreement::None,
        }
    }
}
