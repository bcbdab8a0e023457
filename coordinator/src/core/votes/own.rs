//! The seventh rule, own checks: the operator's own machines count a random share of all units once more, and are not
//! outvoted.
//!
//! ```text
//! a hundredth of all units stands since the last draw, or nothing is left to count    draw
//! only machines that are not believed have counted a unit     it is drawn, too
//! a unit is drawn                                             only the operator's machines may check it
//! a count of theirs contradicts two owners who agree          both owners are suspended
//! in a dispute, two owners agree against theirs               they count the unit again, in another way;
//!                                                             if they say the same, both owners are suspended
//! ```
//!
//! The operator decides about suspended owners. Until then there is no answer.

use std::collections::BTreeSet;
use std::iter;

use domain::Owner;
use queens::UnitId;
use records::OwnChecks;
use records::ledger::{Draw, Expulsion, LineHash, Record, UnitRecord};
use records::standing::{UnitMark, Vote};

use super::{CheckKind, Votes};
use crate::core::workload::Workload;

/// A draw covers at least this fraction of all units, unless nothing is left to count.
const DRAWS: u64 = 100;

/// A draw names at most so many units, to fit in a line of the ledger.
const MOST_NAMED: usize = 1000;

impl Votes {
    /// Which counts the operator's own machines make once more, if they do.
    pub fn own_checks(&self) -> Option<&OwnChecks> {
        self.own_checks.as_ref()
    }

    /// The operator's owner, if its machines make own checks.
    pub(super) fn operator(&self) -> Option<&str> {
        self.standing.own_checks().map(|own| &*own.owner)
    }

    /// True if a draw is due.
    pub fn is_draw_due(&self, work: &Workload) -> bool {
        let undrawn = self.standing.undrawn();
        let to_count = work.units().saturating_sub(self.standing.done() + self.disputed().len() as u64);
        undrawn > 0 && (to_count == 0 || undrawn >= work.units() / DRAWS)
    }

    /// Units that only machines have counted that are not believed any more. They may have agreed on a lie before they
    /// were found.
    pub fn take_doubtful(&mut self) -> Vec<UnitId> {
        if self.standing.own_checks().is_none() || !self.searches.may_doubt() {
            return Vec::new();
        }
        let confirmed = self.standing.units_with(UnitMark::Independent);
        let doubtful: Vec<_> =
            confirmed.filter(|unit| self.standing.is_doubtful(*unit)).take(MOST_NAMED).collect();
        self.searches.have_doubted(doubtful.is_empty());
        doubtful
    }

    /// The own check that the unit with this standing count needs. Counts of suspended owners wait for the operator.
    pub(super) fn own_check(&self, work: &Workload, unit: UnitId, vote: &Vote) -> Option<CheckKind> {
        let machines = &self.standing.sums().machines;
        let counted = vote.origin.machine;
        let is_due = self.standing.is_own_check_due(unit)
            && self.standing.is_believed(unit, vote)
            && !machines.is_contradicted(&machines.get(counted).owner);
        is_due.then(|| CheckKind { counted, by_kernel: !work.is_symmetric_count(unit), is_own: true })
    }

    /// True if the count is the own check that its unit needs.
    pub(super) fn is_own_check(&self, count: &UnitRecord) -> bool {
        self.standing.is_own_check_due(count.unit) && self.standing.is_operator(&count.owner)
    }

    /// The suspension of the two owners whose agreeing counts this count of the operator contradicts; none if the
    /// operator's machines made one of them.
    pub(super) fn suspend_agreeing(&self, standing: &Vote, count: &UnitRecord) -> Vec<Record> {
        let machines = &self.standing.sums().machines;
        let owner = |machine| &*machines.get(machine).owner;
        let confirmer =
            self.standing.confirmer(count.unit).filter(|_| self.standing.is_operator(&count.owner));
        let agreeing = confirmer.map(|confirmer| [owner(standing.origin.machine), owner(confirmer)]);
        let agreeing = agreeing.filter(|owners| owners.iter().all(|owner| !self.standing.is_operator(owner)));
        self.suspend(agreeing.into_iter().flatten().collect(), standing.count, count)
    }

    /// Suspends these owners, who agree on a value that the operator's machines contradict.
    pub(super) fn suspend(&self, owners: BTreeSet<&str>, agreed: u64, count: &UnitRecord) -> Vec<Record> {
        let operator = Owner::new(self.operator().unwrap_or_default());
        let (unit, at) = (count.unit, count.at);
        let title = |owner: &str| Owner::new(owner).typed().to_owned();
        let names = owners.iter().map(|owner| title(owner)).collect::<Vec<_>>().join(" and ");
        let reason = format!(
            "unit {unit} has {agreed} according to {names}; the machines of {} differ",
            operator.typed()
        );
        let machines = &self.standing.sums().machines;
        let expulsion = |owner: &str| {
            let (owner, reason) = (owner.to_owned(), reason.clone());
            Record::Expel(Expulsion { owner, machine: None, lost: false, suspended: true, reason, at })
        };
        owners.into_iter().filter(|owner| !machines.is_contradicted(owner)).map(expulsion).collect()
    }
}

/// A draw with this seed, and these units in any case.
pub fn draw(seed: LineHash, units: Vec<UnitId>, at: u64) -> Record {
    Record::Draw(Draw { seed, units, at })
}

/// The records, followed by this one.
pub(super) fn before(records: Vec<Record>, last: Record) -> Vec<Record> {
    records.into_iter().chain(iter::once(last)).collect()
}
