//! What only one owner has counted and checked, because no other was there, is checked by another who is there when all is
//! counted and checked: then every unit may have been counted twice independently after all.
//!
//! ```text
//! all is counted and checked, all is to be checked, and an owner is there who has not counted some of it:
//!     he is lent checks of it
//!     the answer waits until they are made, he leaves, or he takes too long
//! ```
//!
//! The time of a lease is his, once, and for each check that he makes a few times what it would take all workers together:
//! whoever lets the answer wait and does not count holds it up for as long as a lease lasts, and one slow worker among many
//! fast ones hardly longer. A pause is no time of anybody's: the answer waits until the run goes on, or he leaves.
//!
//! Where the coordinator was killed meanwhile and is started again, nobody is there at first, and who has counted what is not
//! known: owners who have taken part have a moment to come back, and the time of a lease once the ledger has been read.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use domain::Owner;
use queens::UnitId;
use records::DoubleCheck;
use records::ledger::UnitRecord;
use records::standing::{Machine, MachineId, UnitMark, are_several_owners};

use super::Core;
use super::fair_share::PATIENCE;
use super::leases::LEASE_TIME;
use super::task::Borrower;

/// A worker tries at least so often whether its coordinator is back.
pub(super) const RETURN: Duration = Duration::from_secs(5);

/// The checks by another owner that are left when all is counted and checked.
#[derive(Debug)]
pub(super) struct Confirmations {
    /// Until when the answer waits for them.
    until: Duration,
    /// Until when owners may come back who were there before this process began.
    back: Duration,
    /// The units by the machine that counted them, once somebody has asked.
    open: Option<BTreeMap<MachineId, VecDeque<UnitId>>>,
}

impl Core {
    /// Whether every unit has a standing count, all is checked that is to be, and no check is waited for that would make
    /// the answer worth more.
    pub fn is_complete(&self, now: Duration) -> bool {
        self.is_settled() && !self.awaits_confirmations(now)
    }

    fn is_settled(&self) -> bool {
        self.standing.is_settled(&self.plan, self.shard, self.policy)
    }

    /// This process begins to serve the run: where all is counted and checked, owners who have taken part may come back.
    /// Those who do are waited for until [the ledger has been read](Self::ledger_read), and then as usual.
    pub fn expect_back(&mut self, now: Duration) {
        self.note_settled(now);
        if let Some(confirmations) = &mut self.confirmations {
            (confirmations.back, confirmations.until) = (now.saturating_add(RETURN), Duration::MAX);
        }
    }

    /// The process before this one may have given the answer: nobody is asked for more, unless something is open again.
    pub fn expect_nobody(&mut self) {
        self.may_be_answered = true;
    }

    /// The ledger has been read since this process began, and it is known who has counted what.
    pub fn ledger_read(&mut self, now: Duration) {
        self.counts_adopted();
        if let Some(confirmations) = &mut self.confirmations {
            confirmations.until = now.saturating_add(LEASE_TIME);
        }
    }

    /// Notes whether all is counted and checked from now on.
    pub(super) fn note_settled(&mut self, now: Duration) {
        if self.policy != DoubleCheck::All || !self.is_settled() {
            (self.confirmations, self.may_be_answered) = (None, false);
        } else if self.confirmations.is_none() && !self.may_be_answered {
            let until = now.saturating_add(LEASE_TIME);
            self.confirmations = Some(Confirmations { until, back: Duration::ZERO, open: None });
        }
    }

    /// A count or check has gone on record: where checks are waited for, something is being done.
    pub(super) fn note_confirmed(&mut self, r: &UnitRecord) {
        if self.patience.is_none() && self.confirmations.is_none() {
            return;
        }
        let work = u128::from(self.plan.weight(r.unit));
        let patience = self.expected(work, self.workers.worth()).saturating_mul(PATIENCE);
        if let Some(left) = &mut self.patience {
            left.note_check(r, patience);
        }
        if let Some(confirmations) = &mut self.confirmations {
            confirmations.until = confirmations.until.saturating_add(patience);
        }
    }

    /// Whether somebody is there who may check what only others have counted and checked, and has time for it left. While the run
    /// pauses nobody's time goes by.
    pub(super) fn awaits_confirmations(&self, now: Duration) -> bool {
        let has_time = |confirmations: &Confirmations| self.paused.is_some() || now < confirmations.until;
        self.confirmations.as_ref().is_some_and(has_time) && self.is_somebody_there_to_confirm(now)
    }

    /// The run goes on after a pause, in which nobody could be lent checks: they have their time from now on.
    pub(super) fn await_confirmations_anew(&mut self, now: Duration) {
        if let Some(confirmations) = &mut self.confirmations {
            confirmations.until = confirmations.until.max(now.saturating_add(LEASE_TIME));
        }
    }

    fn is_somebody_there_to_confirm(&self, now: Duration) -> bool {
        let mut unconfirmed = self.unconfirmed_machines();
        let Some(first) = unconfirmed.next() else { return false };
        let mut there = self.present_owners(now).filter(|owner| !owner.name().is_empty()).peekable();
        let is_there = there.peek().is_some() && {
            there.any(|owner| owner.name() != first.owner)
                || unconfirmed.any(|machine| machine.owner != first.owner)
        };
        let may_be_back = self.confirmations.as_ref().is_some_and(|confirmations| now < confirmations.back);
        is_there || (may_be_back && self.has_another_owner(&first.owner))
    }

    /// Whether an owner who is believed has taken part besides that one.
    fn has_another_owner(&self, owner: &str) -> bool {
        let mut machines = self.standing.sums().machines.iter();
        machines.any(|machine| are_several_owners([&*machine.owner, owner]) && !machine.is_quarantined())
    }

    /// Machines with counts that another owner may confirm: nobody is surely another than the one without a name.
    fn unconfirmed_machines(&self) -> impl Iterator<Item = &Machine> {
        let machines = self.standing.sums().machines.iter();
        machines.filter(|machine| machine.unverified + machine.internal > 0 && !machine.owner.is_empty())
    }

    /// How many counts another owner may confirm when all is counted and checked.
    pub(super) fn unconfirmed(&self) -> u64 {
        if self.confirmations.is_none() {
            return 0;
        }
        // All is checked, so that these are all.
        self.unconfirmed_machines().map(|machine| machine.unverified + machine.internal).sum()
    }

    /// Whether only one owner has counted and checked the unit, and who it was is known.
    fn is_unconfirmed(&self, unit: UnitId) -> bool {
        self.confirmations.is_some()
            && self.standing.is(UnitMark::Checked, unit)
            && !self.standing.is(UnitMark::Independent, unit)
    }

    /// Whether the worker may confirm a unit that such a machine has counted.
    pub(super) fn may_confirm(&self, borrower: &Borrower, unit: UnitId, counted: MachineId) -> bool {
        self.is_unconfirmed(unit)
            && self.is_of_another_owner(&borrower.identity.owner, counted)
            && self.may_check(borrower, counted)
    }

    fn is_of_another_owner(&self, owner: &Owner, counted: MachineId) -> bool {
        are_several_owners([&*self.standing.sums().machines.get(counted).owner, owner.name()])
    }

    /// A unit that nobody has may be confirmed again, if it may be at all and such are looked for.
    pub(super) fn reopen_confirmation(&mut self, unit: UnitId) {
        if !self.is_unconfirmed(unit) {
            return;
        }
        let Some(vote) = self.standing.vote(unit) else { return };
        let open = self.confirmations.as_mut().and_then(|confirmations| confirmations.open.as_mut());
        open.into_iter().for_each(|open| open.entry(vote.origin.machine).or_default().push_back(unit));
    }

    /// Counts have been read that were not known before: who counted what is looked up again.
    pub(super) fn forget_unconfirmed(&mut self) {
        if let Some(confirmations) = &mut self.confirmations {
            confirmations.open = None;
        }
    }

    /// Takes the next unit that the worker may confirm.
    pub(super) fn next_confirmation(&mut self, now: Duration, borrower: &Borrower) -> Option<UnitId> {
        if !self.awaits_confirmations(now) {
            return None;
        }
        self.look_up_unconfirmed();
        let open = self.confirmations.as_ref()?.open.as_ref()?;
        let owner = &borrower.identity.owner;
        let machine = open.iter().find(|(machine, units)| {
            !units.is_empty()
                && self.is_of_another_owner(owner, **machine)
                && self.may_check(borrower, **machine)
        });
        let machine = *machine?.0;
        self.confirmations.as_mut()?.open.as_mut()?.get_mut(&machine)?.pop_front()
    }

    fn look_up_unconfirmed(&mut self) {
        if self.confirmations.as_ref().is_none_or(|confirmations| confirmations.open.is_some()) {
            return;
        }
        let mut open: BTreeMap<MachineId, VecDeque<UnitId>> = BTreeMap::new();
        let unconfirmed =
            self.standing.units_with(UnitMark::Checked).filter(|unit| self.is_unconfirmed(*unit));
        for unit in unconfirmed {
            if let Some(vote) = self.standing.vote(unit) {
                open.entry(vote.origin.machine).or_default().push_back(unit);
            }
        }
        if let Some(confirmations) = &mut self.confirmations {
            confirmations.open = Some(open);
        }
    }
}
