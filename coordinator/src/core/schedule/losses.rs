//! Counts how many times each unit was lost with its worker, because the unit may have killed the worker.
//!
//! A dying worker loses thousands of small units, and at most one of them killed it. The rules:
//!
//! - After three losses a unit is a *suspect*. It is lent alone, when nothing else is open. If its worker is lost, only
//!   suspects get another loss.
//! - After five losses the unit is set aside.
//! - A set-aside unit is retried alone, when nothing else is left. The unit may be innocent: a machine may always fail
//!   before the unit is complete. The first retry waits a minute. Each failed retry doubles the wait of the unit, up to
//!   an hour.
//! - A restart forgets all losses, so it retries at once.
//! - Machines that have counted in this run retry first, a check as well if they may make it. A machine that never counts adds
//!   no evidence against a unit.
//!
//! If several owners are connected, the losses of one owner cannot make a unit a suspect. Otherwise an owner could take
//! all units, fall silent, and so force all other owners to count one unit at a time. A set-aside unit is still lent to
//! owners that have never lost it.

use std::collections::BTreeMap;
use std::time::Duration;

use domain::Owner;
use queens::UnitId;

/// Number of losses after which a unit is a suspect.
const SUSPECT_AFTER: u8 = 3;

/// Number of losses after which a unit is set aside.
const SET_ASIDE_AFTER: u8 = 5;

/// Maximum number of losses counted for one owner if several owners have lost the unit. So the other owners must lose
/// it at least twice before it is set aside.
const MAX_LOSSES_OF_ONE_OWNER: u8 = 3;

/// Time between the loss of a set-aside unit and its first retry.
const FIRST_RETRY_WAIT: Duration = Duration::from_mins(1);

/// Maximum time between a failed retry and the next retry.
pub const MAX_RETRY_WAIT: Duration = Duration::from_hours(1);

/// Maximum number of units whose losses are kept. Losses of further units are ignored.
const MAX_TRACKED_UNITS: usize = 100_000;

/// The losses of all units.
#[derive(Debug, Default)]
pub struct Losses {
    of: BTreeMap<UnitId, Loss>,
    set_aside: BTreeMap<UnitId, Retry>,
}

/// When a set-aside unit is retried.
#[derive(Debug)]
struct Retry {
    not_before: Duration,
    /// The wait after the last loss.
    wait: Duration,
}

/// The number of losses of a unit by owner.
#[derive(Debug, Default)]
struct Loss(Vec<(Owner, u8)>);

impl Loss {
    /// Adds a loss with a worker of this owner. While no other owner has lost the unit, at most `most` losses count.
    fn add(&mut self, owner: &Owner, most: u8) {
        let is_first = self.0.iter().all(|(of, _)| of == owner);
        match self.0.iter_mut().find(|(of, _)| of == owner) {
            Some((_, times)) if is_first => *times = (*times + 1).min(most.max(*times)),
            Some((_, times)) => *times = times.saturating_add(1),
            None => self.0.push((owner.clone(), 1)),
        }
    }

    /// The number of losses that count.
    fn times(&self) -> u8 {
        match &self.0[..] {
            [(_, times)] => *times,
            several => several
                .iter()
                .fold(0, |sum, (_, times)| sum.saturating_add(*times.min(&MAX_LOSSES_OF_ONE_OWNER))),
        }
    }

    fn is_of(&self, owner: &Owner) -> bool {
        self.0.iter().any(|(of, _)| of == owner)
    }
}

impl Losses {
    /// Notes that these units were lost with a worker of this owner. Returns the units that are now set aside. If other
    /// owners are connected, one owner alone can neither make a unit a suspect nor set it aside.
    pub fn add(
        &mut self,
        now: Duration,
        units: &[UnitId],
        owner: &Owner,
        has_other_owners: bool,
    ) -> Vec<UnitId> {
        let suspects = units.iter().any(|unit| self.is_suspect(*unit));
        let most = if has_other_owners { SUSPECT_AFTER - 1 } else { SET_ASIDE_AFTER };
        let mut newly_set_aside = Vec::new();
        for unit in units {
            let is_known = self.of.contains_key(unit);
            if (suspects && !self.is_suspect(*unit)) || (!is_known && self.of.len() >= MAX_TRACKED_UNITS) {
                continue;
            }
            let loss = self.of.entry(*unit).or_default();
            loss.add(owner, most);
            if loss.times() < SET_ASIDE_AFTER {
                continue;
            }
            let failed = self.set_aside.get(unit);
            let wait = failed.map_or(FIRST_RETRY_WAIT, |retry| (retry.wait * 2).min(MAX_RETRY_WAIT));
            if failed.is_none() {
                newly_set_aside.push(*unit);
            }
            self.set_aside.insert(*unit, Retry { not_before: now.saturating_add(wait), wait });
        }
        newly_set_aside
    }

    /// The number of losses of the unit.
    pub fn of(&self, unit: UnitId) -> u8 {
        self.of.get(&unit).map_or(0, Loss::times)
    }

    /// Forgets the losses of a unit that was counted.
    pub fn clear(&mut self, unit: UnitId) {
        if !self.of.is_empty() {
            self.of.remove(&unit);
            self.set_aside.remove(&unit);
        }
    }

    /// True if the unit is a suspect and must be lent alone.
    pub fn is_suspect(&self, unit: UnitId) -> bool {
        self.of.get(&unit).is_some_and(|loss| loss.times() >= SUSPECT_AFTER)
    }

    /// True if the unit is set aside and this owner has lost it.
    pub fn is_withheld_from(&self, unit: UnitId, owner: &Owner) -> bool {
        self.set_aside.contains_key(&unit) && self.of.get(&unit).is_some_and(|loss| loss.is_of(owner))
    }

    /// The set-aside units that are due for a retry.
    pub fn due_for_retry(&self, now: Duration) -> impl Iterator<Item = UnitId> {
        let due = self.set_aside.iter().filter(move |(_, retry)| now >= retry.not_before);
        due.map(|(unit, _)| *unit)
    }

    /// The set-aside units. Except for retries, they are not lent to owners that have lost them.
    pub fn set_aside(&self) -> impl ExactSizeIterator<Item = UnitId> + '_ {
        self.set_aside.keys().copied()
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
        units.iter().filter(|unit| unit.0 != 7).for_each(|unit| losses.clear(*unit));
        let with_others = [UnitId(7), UnitId(200), UnitId(201)];
        assert!(losses.add(NOW, &with_others, &owner, false).is_empty());
        assert_eq!(losses.add(NOW, &with_others, &owner, false), [UnitId(7)]);
        assert!(!losses.is_suspect(UnitId(200)), "others are not blamed beside a suspect");
        assert!(losses.set_aside().eq([UnitId(7)]));
    }

    #[test]
    fn one_owner_of_several_cannot_get_unit_set_aside() {
        let (one, other) = (Owner::new("one"), Owner::new("other"));
        let mut losses = Losses::default();
        for _ in 0..50 {
            assert!(losses.add(NOW, &[UnitId(7)], &one, true).is_empty());
        }
        assert!(!losses.is_suspect(UnitId(7)), "one owner may lose units on purpose");
        assert!(losses.add(NOW, &[UnitId(7)], &other, true).is_empty());
        assert!(losses.is_suspect(UnitId(7)), "two owners have lost it");
        for _ in 0..50 {
            assert!(losses.add(NOW, &[UnitId(7)], &one, true).is_empty(), "one loss of the other is chance");
        }
        assert_eq!(losses.add(NOW, &[UnitId(7)], &other, true), [UnitId(7)]);
        assert!(losses.is_withheld_from(UnitId(7), &one) && losses.is_withheld_from(UnitId(7), &other));
        assert!(!losses.is_withheld_from(UnitId(7), &Owner::new("third")), "who has never lost it may try");
    }

    #[test]
    fn failed_retry_delays_no_other_unit() {
        let (owner, mut losses) = (Owner::default(), Losses::default());
        for _ in 0..SET_ASIDE_AFTER {
            losses.add(NOW, &[UnitId(7), UnitId(9)], &owner, false);
        }
        let due = |losses: &Losses, now| losses.due_for_retry(now).map(|unit| unit.0).collect::<Vec<_>>();
        let minutes = |minutes| NOW + FIRST_RETRY_WAIT * minutes;
        assert_eq!((due(&losses, minutes(0)), due(&losses, minutes(1))), (vec![], vec![7, 9]));
        losses.add(minutes(1), &[UnitId(7)], &owner, false);
        assert_eq!((due(&losses, minutes(1)), due(&losses, minutes(3))), (vec![9], vec![7, 9]));
    }

    #[test]
    fn each_failed_retry_doubles_the_wait_up_to_an_hour() {
        let (owner, mut losses, mut now) = (Owner::default(), Losses::default(), NOW);
        let lose = |losses: &mut Losses, now| _ = losses.add(now, &[UnitId(7)], &owner, false);
        (0..SET_ASIDE_AFTER).for_each(|_| lose(&mut losses, now));
        let mut waits = Vec::new();
        for _ in 0..8 {
            let mut minutes = 0;
            while losses.due_for_retry(now).next().is_none() {
                (now, minutes) = (now + Duration::from_mins(1), minutes + 1);
            }
            waits.push(minutes);
            lose(&mut losses, now);
        }
        assert_eq!(waits, [1, 2, 4, 8, 16, 32, 60, 60]);
        losses.clear(UnitId(7));
        (0..SET_ASIDE_AFTER).for_each(|_| lose(&mut losses, now));
        assert_eq!(losses.due_for_retry(now + FIRST_RETRY_WAIT).next(), Some(UnitId(7)));
    }

    #[test]
    fn no_more_losses_are_kept_than_have_room() {
        let units: Vec<UnitId> = (0..MAX_TRACKED_UNITS as u64 + 10).map(UnitId).collect();
        let mut losses = Losses::default();
        for _ in 0..SUSPECT_AFTER {
            losses.add(NOW, &units, &Owner::default(), false);
        }
        assert_eq!(losses.of.len(), MAX_TRACKED_UNITS);
        assert!(losses.is_suspect(UnitId(0)) && !losses.is_suspect(*units.last().unwrap()));
    }
}
