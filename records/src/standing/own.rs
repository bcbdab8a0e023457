//! Own checks on record: which units were drawn, and which of them the operator's machines have counted once more.

use domain::{Owner, named};
use queens::UnitId;

use super::bitmap::Bitmap;
use super::{MachineId, RecordError, Standing, UnitMark};
use crate::ledger::Draw;
use crate::own_checks::OwnChecks;

/// The marks that a change of own checks removes.
const MARKS: [UnitMark; 3] = [UnitMark::Covered, UnitMark::Drawn, UnitMark::OwnChecked];

impl Standing {
    /// The own checks that the ledger asks for.
    pub fn own_checks(&self) -> Option<&OwnChecks> {
        self.sums.own_checks.as_ref()
    }

    /// Whether the operator's own machines belong to this owner.
    pub fn is_operator(&self, owner: &str) -> bool {
        self.own_checks().is_some_and(|own| own.owner == owner)
    }

    /// Why no answer is given: an own check contradicts owners, and the operator has not decided about them.
    pub fn suspension(&self) -> Option<String> {
        let owners: Vec<_> = self.sums.machines.suspended().collect();
        let whom = if owners.len() == 1 { "owner" } else { "owners" };
        let is_any = !owners.is_empty();
        let names = named(owners.into_iter().map(|owner| Owner::new(owner).typed().to_owned()));
        is_any.then(|| {
            format!(
                "the answer is withheld: an own check contradicts the {whom} {names}; the operator decides about each: \
                 diadem retract --owner NAME --reason TEXT takes all counts of the owner back, and with --readmit the \
                 owner is believed again"
            )
        })
    }

    /// Whether the operator's machines are still to count the unit.
    pub fn is_own_check_due(&self, unit: UnitId) -> bool {
        self.own_checks().is_some() && self.is(UnitMark::Drawn, unit) && !self.is(UnitMark::OwnChecked, unit)
    }

    /// How many units the operator's machines are still to count.
    pub fn own_checks_due(&self) -> u64 {
        let due = self.marked(UnitMark::Drawn) - self.marked(UnitMark::OwnChecked);
        self.own_checks().map_or(0, |_| due)
    }

    /// How many standing counts no draw has covered yet.
    pub fn undrawn(&self) -> u64 {
        self.own_checks().map_or(0, |_| self.done() - self.marked(UnitMark::Covered))
    }

    /// How many counts keep the own checks from being complete.
    pub(super) fn own_left(&self) -> u64 {
        self.own_checks_due() + self.undrawn()
    }

    /// The machine of another owner that confirmed the unit's standing count, if it has been read.
    pub fn confirmer(&self, unit: UnitId) -> Option<MachineId> {
        self.counts.confirmer(unit).filter(|_| self.is(UnitMark::Independent, unit))
    }

    /// The units that this draw hits.
    pub fn hit_by(&self, draw: &Draw) -> Vec<UnitId> {
        let Some(own) = self.own_checks() else { return Vec::new() };
        let units = self.marks.of(UnitMark::Done).bound();
        let is_hit = |unit: &UnitId| !self.is(UnitMark::Covered, *unit) && own.draws(draw, *unit, units);
        let named = draw.units.iter().copied().filter(|unit| unit.0 < units && self.is_nameable(*unit));
        self.units_with(UnitMark::Done).filter(is_hit).chain(named).collect()
    }

    fn is_nameable(&self, unit: UnitId) -> bool {
        self.is_done(unit) && !self.is(UnitMark::Drawn, unit)
    }

    /// Whether only machines that are not believed any more have counted the unit, as far as that has been read.
    pub fn is_doubtful(&self, unit: UnitId) -> bool {
        let machines = &self.sums.machines;
        let maker = self.vote(unit).map(|vote| vote.origin.machine);
        let is_undecided = |id: &MachineId| machines.is_contradicted(&machines.get(*id).owner);
        let both = maker.zip(self.confirmer(unit)).map(|(maker, confirmer)| [maker, confirmer]);
        self.is_nameable(unit)
            && both.is_some_and(|both| {
                both.iter().all(|id| machines.get(*id).is_quarantined()) && !both.iter().any(is_undecided)
            })
    }

    pub(super) fn draw(&mut self, draw: &Draw) -> Result<(), RecordError> {
        if self.own_checks().is_none() {
            return Err(RecordError::NoOwnChecks);
        }
        for unit in self.hit_by(draw) {
            let is_new = self.marks.of_mut(UnitMark::Drawn).insert(unit.0);
            self.sums.own_named += u64::from(is_new && draw.units.contains(&unit));
        }
        let done = self.marks.of(UnitMark::Done).clone();
        *self.marks.of_mut(UnitMark::Covered) = done;
        Ok(())
    }

    /// Other own checks draw anew.
    pub(super) fn change_own_checks(&mut self, changed: Option<&OwnChecks>) {
        if self.own_checks() == changed {
            return;
        }
        self.sums.own_checks = changed.cloned();
        (self.sums.own_refuted, self.sums.own_named) = (0, 0);
        let units = self.marks.of(UnitMark::Done).bound();
        MARKS.into_iter().for_each(|mark| *self.marks.of_mut(mark) = Bitmap::new(units));
    }

    /// This machine has confirmed the unit's standing count.
    pub(super) fn note_own_check(&mut self, unit: UnitId, by: MachineId) {
        let is_own = self.is_operator(&self.sums.machines.get(by).owner);
        if is_own && self.is(UnitMark::Drawn, unit) {
            self.marks.of_mut(UnitMark::OwnChecked).insert(unit.0);
        }
    }
}
