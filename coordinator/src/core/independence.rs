//! Which machines may check a count: the required degree of independence, and how it relaxes.
//!
//! The degrees, from lowest to highest:
//!
//! 1. the same machine, with another method and image;
//! 2. another machine;
//! 3. another owner.
//!
//! A check must have the highest degree of which an unquarantined participant has counted in this run or is connected.
//! When only checks are left, the degree drops by one after each tenth of the time spent counting. Disputes never
//! relax; `votes::ballot` decides them.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use records::standing::Degree;

/// Minimum time before the degree drops.
const RELAX_AFTER_AT_LEAST: Duration = Duration::from_secs(15);

/// The degree drops after each such fraction of the time spent counting.
const TENTH: u32 = 10;

/// The unquarantined machines that have counted in this run or are connected, by owner.
#[derive(Debug, Default)]
pub struct Participants {
    machines: BTreeMap<String, BTreeSet<String>>,
}

impl Participants {
    /// The participants with these owners and machine names.
    pub fn of<'a>(machines: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let mut participants = Self::default();
        for (owner, name) in machines {
            participants.machines.entry(owner.to_owned()).or_default().insert(name.to_owned());
        }
        participants
    }

    /// The highest degree at which a count of this machine can be checked.
    pub fn highest_degree(&self, (owner, name): (&str, &str)) -> Degree {
        let is_another = |other: &String| !other.is_empty() && !owner.is_empty() && other != owner;
        if self.machines.keys().any(is_another) {
            return Degree::OtherOwner;
        }
        let is_another = |other: &String| other != name;
        // An owner without a name may be any other owner.
        if self.machines.values().any(|machines| machines.iter().any(is_another)) {
            Degree::OtherMachine
        } else {
            Degree::SameMachine
        }
    }
}

/// The required degree and its relaxation.
#[derive(Debug)]
pub struct Independence {
    needs_two_owners: bool,
    /// The configured time after which the degree drops, if any.
    relax_after: Option<Duration>,
    /// The time that earlier processes of this run spent counting.
    counted_before: Duration,
    /// The start of the period with only checks left, and the time between two drops.
    only_checks: Option<(Duration, Duration)>,
}

impl Independence {
    /// The rules of a run. `counted_before` is the time that earlier processes spent counting.
    pub fn new(relax_after: Option<Duration>, counted_before: Duration) -> Self {
        Self { needs_two_owners: false, relax_after, counted_before, only_checks: None }
    }

    /// Sets whether each check must be made by another owner, without relaxation.
    pub fn require_two_owners(&mut self, needs: bool) {
        self.needs_two_owners = needs;
    }

    /// Notes whether only checks are left. Incoming checks do not restart the clock.
    pub fn note_only_checks(&mut self, now: Duration, are_left: bool) {
        if !are_left {
            self.only_checks = None;
        } else if self.only_checks.is_none() {
            let tenth = self.counted_before.saturating_add(now) / TENTH;
            let after = self.relax_after.unwrap_or_else(|| tenth.max(RELAX_AFTER_AT_LEAST));
            self.only_checks = Some((now, after));
        }
    }

    /// The lowest degree at which a count may be checked now. `highest` is the highest available degree.
    pub fn degree(&self, now: Duration, highest: Degree) -> Degree {
        if self.needs_two_owners {
            return Degree::OtherOwner;
        }
        match (highest, self.steps(now)) {
            (Degree::OtherOwner, 0) => Degree::OtherOwner,
            (Degree::OtherOwner, 1) | (Degree::OtherMachine, 0) => Degree::OtherMachine,
            _ => Degree::SameMachine,
        }
    }

    /// The number of drops so far.
    fn steps(&self, now: Duration) -> u128 {
        let Some((since, after)) = self.only_checks else { return 0 };
        let waited = now.saturating_sub(since);
        waited.as_nanos().checked_div(after.as_nanos()).unwrap_or(u128::MAX)
    }

    /// The time until the next drop, if there is one.
    pub fn next_step(&self, now: Duration) -> Option<Duration> {
        let (since, after) = self.only_checks.filter(|_| !self.needs_two_owners)?;
        let steps = u32::try_from(self.steps(now).saturating_add(1)).ok()?;
        Some(since.saturating_add(after.saturating_mul(steps)).saturating_sub(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table of examples in docs/reliability.md.
    #[test]
    fn highest_degree_follows_from_participants() {
        let one_machine = Participants::of([("", "host")]);
        let two_machines = Participants::of([("", "host"), ("", "other")]);
        let one_owner = Participants::of([("ada", "host"), ("ada", "other")]);
        let owners = Participants::of([("ada", "host"), ("ben", "host"), ("mallory", "m")]);
        let card = Participants::of([("", "host"), ("", "host/gpu0")]);
        let keyless_beside_owner = Participants::of([("", "host"), ("ada", "host")]);
        for (participants, counted, degree) in [
            (&one_machine, ("", "host"), Degree::SameMachine),
            (&two_machines, ("", "host"), Degree::OtherMachine),
            (&one_owner, ("ada", "other"), Degree::OtherMachine),
            (&owners, ("ada", "host"), Degree::OtherOwner),
            (&card, ("", "host/gpu0"), Degree::OtherMachine),
            (&keyless_beside_owner, ("", "host"), Degree::SameMachine),
        ] {
            assert_eq!(participants.highest_degree(counted), degree, "{counted:?} of {participants:?}");
        }
    }

    #[test]
    fn degree_drops_after_each_tenth_of_the_time() {
        let second = Duration::from_secs;
        let mut rules = Independence::new(None, second(700));
        let degree = |rules: &Independence, now| rules.degree(second(now), Degree::OtherOwner);
        assert_eq!(degree(&rules, 300), Degree::OtherOwner);
        // 1,000 s were spent counting.
        rules.note_only_checks(second(300), true);
        rules.note_only_checks(second(350), true);
        let seen = [300, 399, 400, 499, 500, 9000].map(|now| degree(&rules, now));
        let [owner, machine, way] = [Degree::OtherOwner, Degree::OtherMachine, Degree::SameMachine];
        assert_eq!(seen, [owner, owner, machine, machine, way, way]);
        assert_eq!(rules.degree(second(400), machine), way);
        assert_eq!(rules.next_step(second(430)), Some(second(70)));
        rules.note_only_checks(second(410), false);
        assert_eq!(degree(&rules, 410), owner);
        rules.note_only_checks(second(410), true);
        rules.require_two_owners(true);
        assert_eq!((degree(&rules, 9000), rules.next_step(second(410))), (owner, None));
    }

    #[test]
    fn degree_drops_after_15_s_unless_configured() {
        let mut rules = Independence::new(None, Duration::ZERO);
        rules.note_only_checks(Duration::from_secs(20), true);
        assert_eq!(rules.next_step(Duration::from_secs(20)), Some(RELAX_AFTER_AT_LEAST));
        let mut rules = Independence::new(Some(Duration::ZERO), Duration::from_hours(9));
        rules.note_only_checks(Duration::ZERO, true);
        assert_eq!(rules.degree(Duration::ZERO, Degree::OtherOwner), Degree::SameMachine);
    }
}
