//! Units that were lost with their workers, for one of them may be the reason.
//!
//! A worker that dies takes thousands of small units with it, and one of them at most has killed it. So a unit that
//! was lost three times is a *suspect*: it is lent when nothing else is open, one at a time, and from then on only the suspect
//! is blamed when a worker is lost. After five losses it is set aside. All of that is forgotten with the process: a
//! restart tries again.
//!
//! Where several owners are there none of that follows from the losses of one: whoever has workers come, take all and fall
//! silent would have everybody count one unit at a time.

use std::collections::{BTreeMap, BTreeSet};

use proto::Owner;
use queens::UnitId;

/// Losses after which a unit is a suspect, and set aside.
const SUSPECT: u8 = 3;
const SET_ASIDE: u8 = 5;

/// How often units were lost.
#[derive(Debug, Default)]
pub struct Losses {
    of: BTreeMap<UnitId, Loss>,
    set_aside: BTreeSet<UnitId>,
}

/// How often a unit was lost, and with whose workers.
#[derive(Debug)]
struct Loss {
    times: u8,
    first_owner: Owner,
    /// Whether it was lost with another owner's too.
    with_several: bool,
}

impl Losses {
    /// These units were lost together with a worker of that owner; gives those that are set aside from now on. Where
    /// other owners are there, one alone can have no unit suspected, nor set aside.
    pub fn add(&mut self, units: &[UnitId], owner: &Owner, has_other_owners: bool) -> Vec<UnitId> {
        let suspects = units.iter().any(|unit| self.is_suspect(*unit));
        let mut given_up = Vec::new();
        for unit in units {
            if suspects && !self.is_suspect(*unit) {
                continue;
            }
            let loss = self.of.entry(*unit).or_insert_with(|| Loss {
                times: 0,
                first_owner: owner.clone(),
                with_several: false,
            });
            loss.with_several |= loss.first_owner != *owner;
            let is_proven = loss.with_several || !has_other_owners;
            if is_proven || loss.times < SUSPECT - 1 {
                loss.times = loss.times.saturating_add(1);
            }
            if loss.times >= SET_ASIDE && self.set_aside.insert(*unit) {
                given_up.push(*unit);
            }
        }
        given_up
    }

    /// How often the unit was lost.
    pub fn of(&self, unit: UnitId) -> u8 {
        self.of.get(&unit).map_or(0, |loss| loss.times)
    }

    /// The unit was counted after all.
    pub fn forgive(&mut self, unit: UnitId) {
        if !self.of.is_empty() {
            self.of.remove(&unit);
            self.set_aside.remove(&unit);
        }
    }

    /// Whether the unit is to be lent on its own.
    pub fn is_suspect(&self, unit: UnitId) -> bool {
        self.of.get(&unit).is_some_and(|loss| loss.times >= SUSPECT)
    }

    /// The units that are not lent any more.
    pub fn set_aside(&self) -> &BTreeSet<UnitId> {
        &self.set_aside
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_unit_that_kills_is_set_aside() {
        let units: Vec<UnitId> = (0..100).map(UnitId).collect();
        let owner = Owner::default();
        let mut losses = Losses::default();
        for _ in 0..2 {
            assert!(losses.add(&units, &owner, false).is_empty() && !losses.is_suspect(UnitId(7)));
        }
        assert!(losses.add(&units, &owner, false).is_empty());
        assert!(units.iter().all(|unit| losses.is_suspect(*unit)));
        // Lent one at a time, the innocent are counted.
        units.iter().filter(|unit| unit.0 != 7).for_each(|unit| losses.forgive(*unit));
        let with_others = [UnitId(7), UnitId(200), UnitId(201)];
        assert!(losses.add(&with_others, &owner, false).is_empty());
        assert_eq!(losses.add(&with_others, &owner, false), [UnitId(7)]);
        assert!(!losses.is_suspect(UnitId(200)), "others are not blamed beside a suspect");
        assert_eq!(losses.set_aside().iter().collect::<Vec<_>>(), [&UnitId(7)]);
    }

    #[test]
    fn one_owner_among_several_has_no_unit_suspected_nor_set_aside() {
        let (one, other) = (Owner::new("one"), Owner::new("other"));
        let mut losses = Losses::default();
        for _ in 0..50 {
            assert!(losses.add(&[UnitId(7)], &one, true).is_empty());
        }
        assert!(!losses.is_suspect(UnitId(7)), "his workers may do that on purpose");
        for _ in 0..2 {
            assert!(losses.add(&[UnitId(7)], &other, true).is_empty());
            assert!(losses.is_suspect(UnitId(7)), "two owners have lost it");
        }
        assert_eq!(losses.add(&[UnitId(7)], &other, true), [UnitId(7)]);
    }
}
