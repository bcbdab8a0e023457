//! Verifies a run from its ledger alone: the consistency of the ledger, and recounts of units by other means than the
//! first count. The checkpoint, if there is one, only shows whether the ledger has lost records.
//!
//! ```text
//! read                  chain and CRCs, one standing count a unit, sums without contradiction
//! expect_symmetric      P and R, if all symmetric counts stand, are the published values
//! expect_complete       no unit is missing, and every standing count is believed
//! identities            equations among the sums, apart from the tally
//! partition             random solutions, each counted once by the plan
//! recount_symmetric     all symmetric counts, by a second algorithm
//! recount_sample        random units, mirrored, with the other method or a given method
//! expect_published      the total of the whole board, if it is known
//! expect_checked        no required check is missing (if one is, the counted units are still sound)
//! ```
//!
//! Each step assumes that the earlier steps succeeded. The first error ends the verification.

pub mod identities;

mod partition;
mod recount;
mod sample;
mod selection;

use queens::kernel::Method;
use queens::known::Symmetric;
use queens::plan::NoPartition;
use queens::{Class, Classified, Summand, TallyError, UnitId};
use thiserror::Error;

use crate::answer::{Agreement, WrongSymmetric};
use crate::audit::{Audit, AuditError, audit_each};
use crate::bound::wrong_at_most;
use crate::run_directory::RunDirectory;
use domain::counted;
use identities::{Identities, Violation};
use recount::{Means, RecountBy, recount};
use sample::Sampled;
use selection::Selection;

pub use partition::PartitionSample;
pub use recount::{ProgramCount, RecountError};
pub use sample::StandingCount;
pub use selection::SampleSize;

/// A run that does not stand up to its verification.
#[derive(Debug, Error)]
pub enum VerifyError {
    /// The audit of its ledger failed.
    #[error(transparent)]
    Audit(#[from] AuditError),
    /// Units have no count yet.
    #[error("the ledger is sound but not complete: {} missing, the first is {first}", counted(*missing_units, "unit"))]
    Incomplete {
        /// How many.
        missing_units: u64,
        /// The first of them.
        first: UnitId,
    },
    /// Required checks are missing.
    #[error("the ledger is sound but not complete: {} still to be checked; resume the run to check them", counted(*.0, "count"))]
    Unchecked(u64),
    /// Standing counts must be retracted.
    #[error(
        "{0} counts of quarantined machines stand that no other machine has confirmed; resume the run to \
         count them again"
    )]
    Unbelieved(u64),
    /// The operator must decide about owners whom an own check contradicts.
    #[error("{0}")]
    Suspended(String),
    /// An equation among the sums does not hold.
    #[error(transparent)]
    Identities(#[from] Violation),
    /// The plan does not count each solution once.
    #[error(transparent)]
    Partition(#[from] NoPartition),
    /// A unit that was counted again has another count, or cannot be counted here.
    #[error(transparent)]
    Recount(#[from] RecountError),
    /// P or R is not the published one.
    #[error(transparent)]
    Symmetric(#[from] WrongSymmetric),
    /// The total is not the published one.
    #[error(
        "the ledger is complete, but its total differs from the published value; diadem verify --recount all finds the wrong \
         units; if it finds none, please report this"
    )]
    Published,
}

impl Classified for VerifyError {
    fn class(&self) -> Class {
        match self {
            // The run may be sound.
            Self::Recount(RecountError::Program(_)) => Class::Failed,
            _ => Class::Unsound,
        }
    }
}

impl VerifyError {
    /// The units of the run whose counts are wrong, if they are known.
    pub fn wrong_units(&self, directory: &RunDirectory) -> Vec<UnitId> {
        match self {
            // Either of the two may be wrong.
            Self::Recount(RecountError::Differs { by: Means::Program, .. }) => Vec::new(),
            Self::Recount(RecountError::Differs { unit, .. })
            | Self::Identities(Violation::Reflections { unit, .. }) => vec![*unit],
            Self::Audit(AuditError::Sums(TallyError::Contradiction { member, .. })) => {
                let is_of_member = |summand| matches!(summand, Summand::Symmetric(of, _) if of == *member);
                let ranges = directory.plan().unit_ranges().filter(|range| is_of_member(range.summand));
                let units = ranges.flat_map(|range| range.units).map(UnitId);
                units.filter(|unit| directory.run().shard.contains(*unit)).collect()
            }
            _ => Vec::new(),
        }
    }
}

/// A run that is being verified.
#[derive(Debug)]
pub struct Verification<'a> {
    directory: &'a RunDirectory,
    audit: Audit,
    symmetric: Sampled,
    sample: Sampled,
    /// The number of units from which the sample was drawn.
    of: u64,
    seed: u64,
}

/// The result of recounting a sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SampleRecount {
    /// Units counted again, all with the same outcome.
    pub units: u64,
    /// Units of which they were drawn.
    pub of: u64,
    /// The seed of the sample.
    pub seed: u64,
    /// Upper bound of the share of wrong units, with [`CONFIDENCE`](crate::CONFIDENCE).
    pub wrong_at_most: f64,
}

impl<'a> Verification<'a> {
    /// Reads the ledger. The sample follows from the seed, which is random if none is given.
    ///
    /// # Errors
    /// The ledger is damaged, lacks acknowledged records, or cannot be read, or its counts contradict each other.
    pub fn read(
        directory: &'a RunDirectory,
        size: SampleSize,
        seed: Option<u64>,
    ) -> Result<Self, VerifyError> {
        let seed = seed.unwrap_or_else(|| u64::from(rand::random::<u32>()));
        let Selection { symmetric, sample, of } = Selection::of(directory, size, seed);
        let (mut symmetric, mut sample) = (Sampled::of(symmetric), Sampled::of(sample));
        let audit = audit_each(directory, |location, record| {
            symmetric.note(location, record);
            sample.note(location, record);
        })?;
        Ok(Self { directory, audit, symmetric, sample, of, seed })
    }

    /// The audit of the ledger.
    pub fn audit(&self) -> &Audit {
        &self.audit
    }

    /// Compares P and R with the published values, even if completions are missing.
    ///
    /// # Errors
    /// All symmetric counts stand, and P or R differs.
    pub fn expect_symmetric(&self) -> Result<(), VerifyError> {
        let (plan, standing) = (self.directory.plan(), &self.audit.standing);
        let is_whole = self.directory.run().shard.is_whole();
        let symmetric = standing.symmetric(plan, standing.policy()).filter(|_| is_whole);
        Ok(symmetric.map_or(Ok(()), |found| WrongSymmetric::refuse(plan.board(), found))?)
    }

    /// Expects that every unit is counted.
    ///
    /// # Errors
    /// Units are missing, standing counts are not believed, or the answer is withheld.
    pub fn expect_complete(&self) -> Result<(), VerifyError> {
        if let Some(first) = self.audit.missing {
            return Err(VerifyError::Incomplete { missing_units: self.audit.missing_units, first });
        }
        if let Some(why) = self.audit.standing.suspension() {
            return Err(VerifyError::Suspended(why));
        }
        match self.audit.standing.unbelieved() {
            0 => Ok(()),
            unbelieved => Err(VerifyError::Unbelieved(unbelieved)),
        }
    }

    /// Checks the equations among the sums; there are none for a share of a plan.
    ///
    /// # Errors
    /// One does not hold.
    pub fn identities(&self) -> Result<Option<Identities>, VerifyError> {
        if !self.directory.run().shard.is_whole() {
            return Ok(None);
        }
        let Audit { standing, totals, .. } = &self.audit;
        Ok(Some(identities::check(self.directory.plan(), standing, totals)?))
    }

    /// Looks up random solutions in the plan, or all of a small board. They follow from the seed of the sample.
    ///
    /// # Errors
    /// The plan does not count one of them once.
    pub fn partition(&self) -> Result<PartitionSample, VerifyError> {
        Ok(PartitionSample::check(self.directory.plan(), self.seed)?)
    }

    /// How many symmetric counts there are.
    pub fn symmetric_units(&self) -> u64 {
        self.symmetric.len()
    }

    /// Recounts all symmetric counts on this number of threads, and calls `counted` after each.
    ///
    /// # Errors
    /// A count is wrong, or cannot be recounted here.
    pub fn recount_symmetric(&self, threads: u32, counted: &(dyn Fn() + Sync)) -> Result<u64, VerifyError> {
        Ok(recount(self.directory.plan(), &self.symmetric, RecountBy::Kernel(None), threads, counted)?)
    }

    /// How many units the sample has.
    pub fn sample_units(&self) -> u64 {
        self.sample.len()
    }

    /// Recounts the sample on this number of threads, and calls `counted` after each unit. The method is the given one,
    /// or else the one that the unit was not counted with.
    ///
    /// # Errors
    /// A count is wrong, or cannot be made here.
    pub fn recount_sample(
        &self,
        method: Option<Method>,
        threads: u32,
        counted: &(dyn Fn() + Sync),
    ) -> Result<SampleRecount, VerifyError> {
        self.recount_by(RecountBy::Kernel(method), threads, counted)
    }

    /// Recounts the sample by a program that shares no code with diadem, on this number of threads, and calls `counted`
    /// after each unit. If the program is told to stop, the result means nothing.
    ///
    /// # Errors
    /// The program does not count, or a count differs.
    pub fn recount_by_program(
        &self,
        program: &ProgramCount<'_>,
        threads: u32,
        counted: &(dyn Fn() + Sync),
    ) -> Result<SampleRecount, VerifyError> {
        self.recount_by(RecountBy::Program(program), threads, counted)
    }

    fn recount_by(
        &self,
        by: RecountBy<'_>,
        threads: u32,
        counted: &(dyn Fn() + Sync),
    ) -> Result<SampleRecount, VerifyError> {
        let units = recount(self.directory.plan(), &self.sample, by, threads, counted)?;
        let wrong_at_most = if units == self.of { 0.0 } else { wrong_at_most(units, 0).unwrap_or(1.0) };
        Ok(SampleRecount { units, of: self.of, seed: self.seed, wrong_at_most })
    }

    /// Compares the totals with the published values.
    ///
    /// # Errors
    /// They differ.
    pub fn expect_published(&self) -> Result<Agreement, VerifyError> {
        let Audit { totals, .. } = self.audit;
        let board = self.directory.plan().board();
        let agreement = Agreement::of(board, self.directory.run().shard, &totals);
        match agreement {
            Agreement::Differs => return Err(VerifyError::Published),
            Agreement::SymmetricDiffers => {
                WrongSymmetric::refuse(board, Symmetric { p: totals.p, r: totals.r })?;
            }
            _ => {}
        }
        Ok(agreement)
    }

    /// Expects that every check that the policy on record requires was made.
    ///
    /// # Errors
    /// Some checks are missing.
    pub fn expect_checked(&self) -> Result<(), VerifyError> {
        match self.audit.pending() {
            0 => Ok(()),
            pending => Err(VerifyError::Unchecked(pending)),
        }
    }
}

#[cfg(test)]
mod tests;
