//! What owners gave: units, solutions and work, in all and on each of their last days.
//!
//! A standing count earns its owner the unit. So does a count that confirms it: each one of another owner, and the first
//! one of the same owner. A retraction takes back what the owner of the retracted count had earned with the unit. The
//! checks of other owners keep their credit.
//!
//! Work is the work that the plan expects, not the time that a worker reports. So a retraction takes back exactly what
//! was given, nobody gains by reporting long times, and a card gets the credit of the cores that it replaces.

use std::collections::BTreeMap;

use domain::{CREDIT_DAYS, Credit, Credits, Earned, Owner};
use queens::{Measure, Plan, Summand, SymmetryClass, UnitId};
use serde::{Deserialize, Serialize};

pub(super) const SECONDS_A_DAY: u64 = 86_400;

/// The credit of each owner.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Accounts(BTreeMap<String, Account>);

/// The credit of one owner.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Account {
    total: Entry,
    /// By day since 1970 (UTC): the latest days on which the owner's credit changed.
    days: BTreeMap<u64, Entry>,
}

/// Units, their solutions, and their expected work in nanoseconds of one core.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Entry(i64, i128, i128);

impl Entry {
    /// The credit for `times` counts of the unit.
    fn of(plan: &Plan, unit: UnitId, count: u64, times: i64) -> Self {
        let solutions = i128::from(count) * i128::from(images(plan, unit));
        let work = i128::from(plan.mean_weight(unit));
        Self(times, solutions * i128::from(times), work * i128::from(times))
    }

    fn add(&mut self, other: Self) {
        self.0 = self.0.saturating_add(other.0);
        self.1 = self.1.saturating_add(other.1);
        self.2 = self.2.saturating_add(other.2);
    }
}

impl From<Entry> for Credit {
    fn from(Entry(units, solutions, work): Entry) -> Self {
        Self { units, solutions, work: work as f64 / 1e9 }
    }
}

/// The number of solutions for each completion of the unit, so that the solutions of all units add up to the answer. It is
/// the size of the constellation's orbit. The symmetric counts only sort these solutions into classes, and add none.
fn images(plan: &Plan, unit: UnitId) -> u8 {
    match plan.summand(unit) {
        Summand::Asymmetric => SymmetryClass::Asymmetric.orbit_size(),
        Summand::Symmetric(member, Measure::Completions) => {
            plan.symmetric_members()[member as usize].class.orbit_size()
        }
        Summand::Symmetric(_, Measure::HalfTurn | Measure::QuarterTurn) => 0,
    }
}

impl Accounts {
    /// Credits the owner with `times` counts of the unit at this time, in seconds since 1970 (UTC). A negative number takes
    /// credit back.
    pub(super) fn add(
        &mut self,
        owner: &str,
        plan: &Plan,
        (unit, count): (UnitId, u64),
        times: i64,
        at: u64,
    ) {
        if !self.0.contains_key(owner) {
            self.0.insert(owner.to_owned(), Account::default());
        }
        let account = self.0.get_mut(owner).expect("it was added");
        let entry = Entry::of(plan, unit, count, times);
        account.total.add(entry);
        account.days.entry(at / SECONDS_A_DAY).or_default().add(entry);
        // The result does not depend on the order of the records: a day among the latest was never removed before.
        while account.days.len() > CREDIT_DAYS {
            account.days.pop_first();
        }
    }

    /// The credits at this time, in seconds since 1970 (UTC); at most `longest` owners are listed.
    pub fn status(&self, now: u64, longest: usize) -> Credits {
        let today = now / SECONDS_A_DAY;
        let first = (today + 1).saturating_sub(CREDIT_DAYS as u64);
        let earned = |account: &Account| {
            let mut earned = Earned { total: account.total.into(), ..Earned::default() };
            for (day, entry) in account.days.range(first..=today) {
                earned.days[CREDIT_DAYS - 1 - (today - day) as usize] = (*entry).into();
            }
            earned
        };
        let owners = self.0.iter().map(|(owner, account)| (Owner::new(owner), earned(account)));
        Credits::new(today, owners.collect(), longest)
    }

    /// The account of each owner.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &Account)> {
        self.0.iter().map(|(owner, account)| (&**owner, account))
    }

    /// Adds an account of a checkpoint.
    pub(crate) fn restore(&mut self, owner: &str, account: Account) {
        self.0.insert(owner.to_owned(), account);
    }

    /// True if no account has more days than are kept.
    pub(super) fn fits(&self) -> bool {
        self.0.values().all(|account| account.days.len() <= CREDIT_DAYS)
    }
}
