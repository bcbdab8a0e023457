//! Units that were lost with their workers, for one of them may be the reason.
//!
//! A worker that dies takes thousands of small units with it, and one of them at most has killed it. So a unit that
//! was lost three times is a *suspect*: it is lent when nothing else is open, one at a time, and from then on only the suspect
//! is blamed when a worker is lost. After five losses it is set aside: machines that live shorter than a unit takes are no fault of
//! it, so it is tried again where nothing else is left, but no sooner than an hour after one that is set aside was lost, and alone.
//! Such a unit costs a worker an hour at most. All of that is forgotten with the process: a restart tries again at once.
//!
//! Where several owners are there none of that follows from the losses of one: whoever has workers come, take all and fall
//! silent would have everybody count one unit at a time. And what was set aside is still lent to owners who have never lost it.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound::{Excluded, Unbounded};
use std::time::Duration;

use domain::Owner;
use queens::UnitId;

/// Losses after which a unit is a suspect, and set aside.
const SUSPECT: u8 = 3;
const SET_ASIDE: u8 = 5;

/// So many losses of one owner are believed where others have lost the unit too: the others have lost it twice at least before it
/// is set aside.
const OF_ONE: u8 = 3;

/// What is set aside is left in peace so long after one such unit was lost.
pub const REST: Duration = Duration::from_hours(1);

/// The losses of so many units are kept; of more it is not known whether they kill workers.
const MOST: usize = 100_000;

/// How often units were lost.
#[derive(Debug, Default)]
pub struct Losses {
    of: BTreeMap<UnitId, Loss>,
    set_aside: BTreeSet<UnitId>,
    /// Until when none of those is tried again,
    rests_until: Duration,
    /// and which one was tried last.
    tried: Option<UnitId>,
}

/// How often a unit was lost, with the workers of each owner.
#[derive(Debug, Default)]
struct Loss(Vec<(Owner, u8)>);

impl Loss {
    /// Lost once more with a worker of that owner, of whom so many losses count as long as he is the only one.
    fn add(&mut self, owner: &Owner, most: u8) {
        let is_first = self.0.iter().all(|(of, _)| of == owner);
        match self.0.iter_mut().find(|(of, _)| of == owner) {
            Some((_, times)) if is_first => *times = (*times + 1).min(most.max(*times)),
            Some((_, times)) => *times = times.saturating_add(1),
            None => self.0.push((owner.clone(), 1)),
        }
    }

    /// How often, as far as it is believed.
    fn times(&self) -> u8 {
        match &self.0[..] {
            [(_, times)] => *times,
            several => several.iter().fold(0, |sum, (_, times)| sum.saturating_add(*times.min(&OF_ONE))),
        }
    }

    fn is_of(&self, owner: &Owner) -> bool {
        self.0.iter().any(|(of, _)| of == owner)
    }
}

impl Losses {
    /// These units were lost together with a worker of that owner; gives those that are set aside from now on. Where
    /// other owners are there, one alone can have no unit suspected, nor set aside.
    pub fn add(
        &mut self,
        now: Duration,
        units: &[UnitId],
        owner: &Owner,
        has_other_owners: bool,
    ) -> Vec<UnitId> {
        let suspects = units.iter().any(|unit| self.is_suspect(*unit));
        let most = if has_other_owners { SUSPECT - 1 } else { SET_ASIDE };
        let mut given_up = Vec::new();
        for unit in units {
            let is_known = self.of.contains_key(unit);
            if (suspects && !self.is_suspect(*unit)) || (!is_known && self.of.len() >= MOST) {
                continue;
            }
            let loss = self.of.entry(*unit).or_default();
            loss.add(owner, most);
            if loss.times() >= SET_ASIDE && self.set_aside.insert(*unit) {
                given_up.push(*unit);
            }
        }
        if units.iter().any(|unit| self.set_aside.contains(unit)) {
            self.rests_until = now.saturating_add(REST);
        }
        given_up
    }

    /// How often the unit was lost.
    pub fn of(&self, unit: UnitId) -> u8 {
        self.of.get(&unit).map_or(0, Loss::times)
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
        self.of.get(&unit).is_some_and(|loss| loss.times() >= SUSPECT)
    }

    /// Whether the unit is not lent to that owner any more.
    pub fn is_kept_from(&self, unit: UnitId, owner: &Owner) -> bool {
        self.set_aside.contains(&unit) && self.of.get(&unit).is_some_and(|loss| loss.is_of(owner))
    }

    /// The units that are set aside and may be tried again, the one whose turn it is first.
    pub fn may_be_tried(&self, now: Duration) -> impl Iterator<Item = UnitId> {
        let after = self.tried.map_or(Unbounded, Excluded);
        let in_turn = self.set_aside.range((after, Unbounded)).chain(&self.set_aside);
        in_turn.copied().filter(move |_| now >= self.rests_until)
    }

    /// That unit is tried again.
    pub fn try_again(&mut self, unit: UnitId) {
        self.tried = Some(unit);
    }

    /// The units that are set aside: nobody who has lost them is lent them, unless they are tried again.
    pub fn set_aside(&self) -> &BTreeSet<UnitId> {
        &self.set_aside
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Duration = Duration::from_secs(7);

    #[test]
    fn only_the_unit_that_kills_is_set_aside() {
        let units: Vec<UnitId> = (0..100).map(UnitId).collect();
        let owner = Owner::default();
        let mut losses = Losses::default();
        for _ in 0..2 {
            assert!(losses.add(NOW, &units, &owner, false).is_empty() && !losses.is_suspect(UnitId(7)));
        }
        assert!(losses.add(NOW, &units, &owner, false).is_empty());
        assert!(units.iter().all(|unit| losses.is_suspect(*unit)));
        // Lent one at a time, the innocent are counted.
        units.iter().filter(|unit| unit.0 != 7).for_each(|unit| losses.forgive(*unit));
        let with_others = [UnitId(7), UnitId(200), UnitId(201)];
        assert!(losses.add(NOW, &with_others, &owner, false).is_empty());
        assert_eq!(losses.add(NOW, &with_others, &owner, false), [UnitId(7)]);
        assert!(!losses.is_suspect(UnitId(200)), "others are not blamed beside a suspect");
        assert_eq!(losses.set_aside().iter().collect::<Vec<_>>(), [&UnitId(7)]);
    }

    #[test]
    fn one_owner_of_several_cannot_get_unit_set_aside() {
        let (one, other) = (Owner::new("one"), Owner::new("other"));
        let mut losses = Losses::default();
        for _ in 0..50 {
            assert!(losses.add(NOW, &[UnitId(7)], &one, true).is_empty());
        }
        assert!(!losses.is_suspect(UnitId(7)), "his workers may do that on purpose");
        assert!(losses.add(NOW, &[UnitId(7)], &other, true).is_empty());
        assert!(losses.is_suspect(UnitId(7)), "two owners have lost it");
        for _ in 0..50 {
            assert!(losses.add(NOW, &[UnitId(7)], &one, true).is_empty(), "one loss of the other is chance");
        }
        assert_eq!(losses.add(NOW, &[UnitId(7)], &other, true), [UnitId(7)]);
        assert!(losses.is_kept_from(UnitId(7), &one) && losses.is_kept_from(UnitId(7), &other));
        assert!(!losses.is_kept_from(UnitId(7), &Owner::new("third")), "who has never lost it may try");
    }

    #[test]
    fn set_aside_units_are_retried_in_turn_hourly() {
        let (owner, mut losses) = (Owner::default(), Losses::default());
        for _ in 0..SET_ASIDE {
            losses.add(NOW, &[UnitId(7), UnitId(9)], &owner, false);
        }
        let next = |losses: &Losses, now| losses.may_be_tried(now).next();
        assert_eq!((next(&losses, REST), next(&losses, NOW + REST)), (None, Some(UnitId(7))));
        losses.try_again(UnitId(7));
        assert_eq!(next(&losses, NOW + REST), Some(UnitId(9)));
        losses.add(NOW + REST, &[UnitId(7)], &owner, false);
        assert_eq!((next(&losses, NOW + REST), next(&losses, NOW + 2 * REST)), (None, Some(UnitId(9))));
        losses.forgive(UnitId(9));
        assert_eq!(next(&losses, NOW + 2 * REST), Some(UnitId(7)));
    }

    #[test]
    fn no_more_losses_are_kept_than_have_room() {
        let units: Vec<UnitId> = (0..MOST as u64 + 10).map(UnitId).collect();
        let mut losses = Losses::default();
        for _ in 0..SUSPECT {
            losses.add(NOW, &units, &Owner::default(), false);
        }
        assert_eq!(losses.of.len(), MOST);
        assert!(losses.is_suspect(UnitId(0)) && !losses.is_suspect(*units.last().unwrap()));
    }
}
