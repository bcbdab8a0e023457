//! Judges a reported count by the state of its unit.
//!
//! ```text
//! the unit has no standing count:
//!     it is not in dispute                       the count stands; a check may be due
//!     it is in dispute, the count wins           the count stands; other values were wrong (`ballot`)
//!     it is in dispute, the count does not win   one more vote
//! the unit has an equal standing count:
//!     the degree suffices and is new             a check
//!     else                                       already known
//! the unit has another standing count:
//!     two owners have counted the unit,
//!     or two machines of the reporter's owner    the reported count is wrong
//!     the reporter is the operator               the two owners are suspended (`own`)
//!     else                                       neither count stands; the unit is in dispute
//! ```

use domain::Verdict;
use queens::UnitId;
use rand::RngExt;
use rand::rngs::StdRng;
use records::DoubleCheck;
use records::ledger::{Record, Recount, UnitRecord};
use records::standing::{Degree, Identity, UnitMark, Vote};

use super::ballot::Cast;
use super::{Recording, Votes, own};
use crate::core::workload::{ORBITS, Workload};

/// Number of first counts of a device that are checked.
const FIRST_COUNTS: u64 = 20;

/// A count that a worker reports.
#[derive(Debug)]
pub struct Reported {
    /// Its record if it becomes the standing count.
    pub record: UnitRecord,
    /// The machine that made the count.
    pub identity: Identity,
    /// True if another machine can check the count.
    pub has_checkers: bool,
    /// The lowest degree at which the standing count may be checked now.
    pub degree: Degree,
}

impl Votes {
    /// Judges a reported count of a unit of this run. The caller must write the records before it returns the verdict.
    pub fn judge(
        &mut self,
        work: &Workload,
        reported: Reported,
        random: &mut StdRng,
    ) -> (Verdict, Vec<Record>) {
        let Reported { record, identity, has_checkers, degree } = reported;
        let unit = record.unit;
        if let Some(recording) = self.recording.get(&unit) {
            let is_same = recording.count == record.count && recording.identity == identity;
            return (if is_same { Verdict::Known } else { Verdict::Later }, Vec::new());
        }
        let recording = Recording::new(record.count, identity.clone());
        let (verdict, records) = if self.standing.is_done(unit) {
            self.compare(work, record, degree)
        } else if self.ballot(work, unit).is_empty() {
            // No other believed machine has counted the unit.
            let recount = self.reason_to_check(work, &identity, unit, has_checkers, random);
            (Verdict::Recorded, vec![Record::Count(UnitRecord { recount, ..record })])
        } else {
            self.add_to_dispute(work, record)
        };
        if !records.is_empty() {
            self.recording.insert(unit, recording);
        }
        (verdict, records)
    }

    /// The reason to check this first count; none if it need not be checked.
    fn reason_to_check(
        &mut self,
        work: &Workload,
        identity: &Identity,
        unit: UnitId,
        has_checkers: bool,
        random: &mut StdRng,
    ) -> Option<Recount> {
        // A constellation with contradictory counts is disputed only once, so a wrong count must be found now.
        if work.is_symmetric_count(unit) || self.was_contradicted(work, unit) {
            return Some(certain_recount(work, unit));
        }
        let share = match self.policy {
            DoubleCheck::None => return None,
            DoubleCheck::All => return Some(Recount::All),
            DoubleCheck::Share(share) => share,
        };
        // If a machine checks itself, its first counts prove no more than later counts.
        if has_checkers && *self.first_counts_of(identity) < FIRST_COUNTS {
            *self.first_counts_of(identity) += 1;
            return Some(Recount::Trial);
        }
        random.random_bool(share).then_some(Recount::Sample)
    }

    /// True if the unit's constellation was disputed because its counts contradicted each other.
    fn was_contradicted(&self, work: &Workload, unit: UnitId) -> bool {
        let contradicted = &self.standing.sums().contradicted;
        work.symmetric_constellation(unit).is_some_and(|constellation| contradicted.contains(&constellation))
    }

    /// Judges another count of a disputed unit.
    fn add_to_dispute(&self, work: &Workload, record: UnitRecord) -> (Verdict, Vec<Record>) {
        let (ballot, cast) = (self.ballot(work, record.unit), Cast::of_record(&record));
        if ballot.elects(&cast) {
            // If the agreeing machines are no longer believed once the record is on disk, the count is unconfirmed.
            let recount = Some(certain_recount(work, record.unit));
            (Verdict::Recorded, vec![Record::Count(UnitRecord { recount, ..record })])
        } else if ballot.has(&cast) {
            (Verdict::Known, Vec::new())
        } else if ballot.is_full_for(&record.owner) {
            (Verdict::Unwanted, Vec::new())
        } else {
            let opponents = ballot.refuted_with(&cast);
            let agreed = opponents.first().map_or(0, |(_, count)| *count);
            let owners = opponents.into_iter().map(|(owner, _)| owner).collect();
            (
                Verdict::Conflict,
                own::before(self.suspend(owners, agreed, &record), Record::Conflict(record.clone())),
            )
        }
    }

    /// Compares a count with the standing count of its unit.
    fn compare(&self, work: &Workload, mut record: UnitRecord, degree: Degree) -> (Verdict, Vec<Record>) {
        let unit = record.unit;
        // The origin of the standing count is known only after the ledger has been read.
        let Some(standing) = self.standing.vote(unit) else { return (Verdict::Later, Vec::new()) };
        let counted = self.standing.sums().machines.get(standing.origin.machine);
        let is_of_owner = counted.owner == record.owner;
        (record.of, record.of_owner) = (Some(counted.name.clone()), counted.owner.clone());
        if self.standing.equals(work.plan(), &record, &standing) {
            return if self.confirms(work, &standing, &record, degree) {
                (Verdict::Recorded, vec![Record::Check(record)])
            } else {
                (Verdict::Known, Vec::new())
            };
        }
        // The ledger would reject a retraction here, so only the conflict is written.
        if self.standing.is(UnitMark::Independent, unit)
            || (self.standing.is(UnitMark::TwoMachines, unit) && is_of_owner)
        {
            let suspensions = self.suspend_agreeing(&standing, &record);
            return (Verdict::Conflict, own::before(suspensions, Record::Conflict(record)));
        }
        let retraction = self.standing.retraction(unit, &standing, record.at);
        (Verdict::Conflict, vec![Record::Conflict(record), Record::Retract(retraction)])
    }

    /// True if an equal count adds confirmation to the standing count. A symmetric count needs the other algorithm. A
    /// count of the same machine needs another method and image. A due check is not made by machines below the required
    /// degree, which may hold the unit as a backup.
    fn confirms(&self, work: &Workload, standing: &Vote, second: &UnitRecord, degree: Degree) -> bool {
        let machines = &self.standing.sums().machines;
        let ((owner, machine), kernel, mirrored) = machines.making(standing);
        let found = Degree::between((owner, machine), (&second.owner, &second.machine));
        let is_another_way = kernel != second.kernel && mirrored != second.mirrored;
        (found > self.standing.confirmed_degree(second.unit) || self.is_own_check(second))
            && (found >= degree || !self.standing.is_pending(second.unit, self.policy))
            && confirms_symmetric(work, second.unit, kernel, &second.kernel)
            && (found > Degree::SameMachine || is_another_way)
    }
}

/// True if a count by one kernel confirms a count by the other kernel. A symmetric count needs the other algorithm.
pub fn confirms_symmetric(work: &Workload, unit: UnitId, kernel: &str, other: &str) -> bool {
    !work.is_symmetric_count(unit) || (kernel == ORBITS) != (other == ORBITS)
}

/// The reason for a check that every policy requires.
pub fn certain_recount(work: &Workload, unit: UnitId) -> Recount {
    if work.is_symmetric_count(unit) { Recount::Symmetric } else { Recount::All }
}
