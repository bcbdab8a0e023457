//! Credit: what owners gave to a run, in all and on each of the last days.

use std::collections::BTreeMap;
use std::ops::AddAssign;

use crate::owner::Owner;

/// The days for which credit is kept, today included: a week, as long as the displays show it.
pub const CREDIT_DAYS: usize = 7;

/// Units with what they are worth. A retraction takes credit away on its own day, so the values of a day can be
/// negative.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Credit {
    /// The number of units.
    pub units: i64,
    /// Their solutions, in all orientations.
    pub solutions: i128,
    /// Their expected work, in seconds of one core.
    pub work: f64,
}

impl AddAssign for Credit {
    fn add_assign(&mut self, other: Self) {
        self.units = self.units.saturating_add(other.units);
        self.solutions = self.solutions.saturating_add(other.solutions);
        self.work += other.work;
    }
}

/// Credit in all, and for the last days.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Earned {
    /// Credit since the run began.
    pub total: Credit,
    /// Credit for each of the last days in UTC, today last.
    pub days: [Credit; CREDIT_DAYS],
}

impl Earned {
    /// The credit of today.
    pub fn today(&self) -> Credit {
        self.days[CREDIT_DAYS - 1]
    }

    /// The credit of the last seven days, today included.
    pub fn week(&self) -> Credit {
        let mut sum = Credit::default();
        self.days.into_iter().for_each(|day| sum += day);
        sum
    }
}

impl AddAssign for Earned {
    fn add_assign(&mut self, other: Self) {
        self.total += other.total;
        self.days.iter_mut().zip(other.days).for_each(|(day, other)| *day += other);
    }
}

/// The credit of the owners of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Credits {
    /// The day that was today, in days since 1970 (UTC).
    pub today: u64,
    /// The owners with the most work, in this order.
    pub owners: Vec<(Owner, Earned)>,
    /// How many owners there are.
    pub owners_total: u64,
    /// The sum for all owners.
    pub all: Earned,
}

impl Credits {
    /// The credits of all these owners. The list is cut after `longest`.
    pub fn new(today: u64, mut owners: Vec<(Owner, Earned)>, longest: usize) -> Self {
        let mut all = Earned::default();
        owners.iter().for_each(|(_, earned)| all += *earned);
        let owners_total = owners.len() as u64;
        owners.sort_by(|(a, of_a), (b, of_b)| {
            of_b.total.work.total_cmp(&of_a.total.work).then_with(|| a.cmp(b))
        });
        owners.truncate(longest);
        Self { today, owners, owners_total, all }
    }

    /// The credits of several runs as those of one, all of the same day and with all owners.
    pub fn joined<'a>(runs: impl IntoIterator<Item = &'a Self>) -> Self {
        let (mut today, mut owners) = (0, BTreeMap::<Owner, Earned>::new());
        for run in runs {
            today = run.today;
            run.owners
                .iter()
                .for_each(|(owner, earned)| *owners.entry(owner.clone()).or_default() += *earned);
        }
        Self::new(today, owners.into_iter().collect(), usize::MAX)
    }

    /// True if an owner has a name. Without keys nobody has.
    pub fn has_names(&self) -> bool {
        self.owners.iter().any(|(owner, _)| !owner.is_unnamed())
    }

    /// The first owners of the list, and the sum for all others.
    pub fn split(&self, first: usize) -> (&[(Owner, Earned)], Earned) {
        let listed = &self.owners[..first.min(self.owners.len())];
        let mut others = self.all;
        let negated = |credit: Credit| Credit {
            units: credit.units.saturating_neg(),
            solutions: credit.solutions.saturating_neg(),
            work: -credit.work,
        };
        for (_, earned) in listed {
            others += Earned { total: negated(earned.total), days: earned.days.map(negated) };
        }
        (listed, others)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn earned(units: i64) -> Earned {
        let credit = Credit { units, solutions: 8 * i128::from(units), work: units as f64 };
        Earned { total: credit, days: [Credit::default(), credit, credit].repeat(3)[..7].try_into().unwrap() }
    }

    fn credits(owners: &[(&str, i64)], longest: usize) -> Credits {
        let owners = owners.iter().map(|(name, units)| (Owner::new(name), earned(*units))).collect();
        Credits::new(20_000, owners, longest)
    }

    #[test]
    fn owners_with_most_work_are_listed_and_others_summed() {
        let credits = credits(&[("ada", 3), ("ben", 5), ("", 1), ("cy", 3)], 3);
        let names: Vec<_> = credits.owners.iter().map(|(owner, _)| owner.name()).collect();
        assert_eq!((names, credits.owners_total), (vec!["ben", "ada", "cy"], 4));
        assert_eq!(credits.split(2).1, earned(4));
        assert_eq!((credits.split(9).0.len(), credits.split(9).1), (3, earned(1)));
        assert!(credits.has_names());
    }

    #[test]
    fn credits_of_several_runs_add_up_by_owner() {
        let joined = Credits::joined(&[credits(&[("ada", 3), ("", 1)], 9), credits(&[("ada", 4)], 9)]);
        assert_eq!(joined, credits(&[("ada", 7), ("", 1)], 9));
        assert!(!credits(&[("", 1)], 9).has_names());
        assert_eq!((earned(2).today().units, earned(2).week().units), (0, 8));
    }
}
