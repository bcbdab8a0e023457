//! The answer of a run: its totals, compared with published values.

use std::collections::BTreeSet;
use std::time::Duration;

use domain::Assurance;
use queens::known::Symmetric;
use queens::{Board, Class, Classified, Totals, known};
use thiserror::Error;

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

/// How totals compare with the published values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agreement {
    /// They are the published values.
    Agrees,
    /// P and R are the published values. Q has not been published.
    SymmetricAgrees,
    /// Q, A, P or R differs from the published value.
    Differs,
    /// P or R differs from the published value. Q has not been published.
    SymmetricDiffers,
    /// Not the whole board was counted.
    None,
}

/// P and R of a run that are not the published values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error(
    "the symmetric counts give P = {} and R = {}, which differ from the published values P = {} and R = {} (OEIS A032522 and \
     A033148); diadem verify names the wrong count", .found.p, .found.r, .published.p, .published.r
)]
pub struct WrongSymmetric {
    /// As counted.
    pub found: Symmetric,
    /// As published.
    pub published: Symmetric,
}

impl Classified for WrongSymmetric {
    fn class(&self) -> Class {
        Class::Unsound
    }
}

impl WrongSymmetric {
    /// Compares P and R of a whole board with the published values.
    ///
    /// # Errors
    /// They differ.
    pub fn refuse(board: Board, found: Symmetric) -> Result<(), Self> {
        let published = known::symmetric(board);
        if found == published { Ok(()) } else { Err(Self { found, published }) }
    }
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
        let symmetric = Symmetric { p: totals.p, r: totals.r };
        match known::totals(board) {
            _ if !shard.is_whole() => Agreement::None,
            Some(known) if known == *totals => Agreement::Agrees,
            Some(_) => Agreement::Differs,
            None if known::symmetric(board) == symmetric => Agreement::SymmetricAgrees,
            None => Agreement::SymmetricDiffers,
        }
    }

    /// The comparison, in words.
    pub fn words(self) -> &'static str {
        match self {
            Agreement::Agrees => "agrees with the published value",
            Agreement::SymmetricAgrees => "P and R agree with the published values; Q has not been published",
            Agreement::Differs => "DIFFERS FROM THE PUBLISHED VALUE",
            Agreement::SymmetricDiffers => "P OR R DIFFERS FROM THE PUBLISHED VALUE",
            Agreement::None => "join all shards with diadem merge",
        }
    }

    /// True if a published value differs.
    pub fn is_wrong(self) -> bool {
        matches!(self, Agreement::Differs | Agreement::SymmetricDiffers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p_and_r_are_compared_where_q_is_unknown() {
        let board = Board::new(28).unwrap();
        let Symmetric { p, r } = known::symmetric(board);
        let of = |totals| Agreement::of(board, Shard::default(), &totals);
        let totals = Totals { a: 1, p, r, full: 0 };
        assert_eq!(of(totals), Agreement::SymmetricAgrees);
        assert_eq!(of(Totals { p: p + 1, ..totals }), Agreement::SymmetricDiffers);
        assert_eq!(of(Totals { r: r + 1, ..totals }), Agreement::SymmetricDiffers);
        assert!(WrongSymmetric::refuse(board, Symmetric { p, r: 0 }).is_err());
    }
}
