//! A dispute: the differing counts of a unit, the winning value, and the machines to be asked for another count.
//!
//! A value wins with two votes at the degree of the dispute:
//!
//! - two owners, if several owners have counted the unit;
//! - else two machines, if several machines have counted it;
//! - else two ways of one machine.
//!
//! Votes at a lower degree decide nothing. A machine votes for its last count. An owner votes for the value of most of
//! its machines; on a tie, for each of these values. A symmetric count also needs both algorithms. Nothing wins while two
//! owners agree against the operator's own machines (`own`).

use std::collections::{BTreeMap, BTreeSet};

use domain::{Owner, Variant};
use records::ledger::UnitRecord;
use records::standing::{Degree, Identity, Machines, Vote, are_several_owners};

use crate::core::workload::ORBITS;

/// Maximum number of counts of one owner that are kept in a dispute. Further counts add no evidence.
const MAX_COUNTS_PER_OWNER: usize = 16;

/// The first question to a machine that has not counted the unit: the other image. Symmetric counts need both
/// algorithms.
const ANOTHER_IMAGE: Variant = Variant { mirrored: true, other_kernel: false };
const BY_BOTH_ALGORITHMS: [Variant; 2] = [Variant { mirrored: true, other_kernel: true }, ANOTHER_IMAGE];

/// One count of the unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cast<'a> {
    owner: &'a str,
    machine: &'a str,
    kernel: &'a str,
    mirrored: bool,
    count: u64,
    nodes: u64,
}

impl<'a> Cast<'a> {
    /// The vote of a count that is to be recorded.
    pub fn of_record(r: &'a UnitRecord) -> Self {
        let UnitRecord { owner, machine, kernel, mirrored, count, nodes, .. } = r;
        Self { owner, machine, kernel, mirrored: *mirrored, count: *count, nodes: *nodes }
    }

    /// A vote on record.
    fn of_vote(machines: &'a Machines, vote: &Vote) -> Self {
        let ((owner, machine), kernel, mirrored) = machines.making(vote);
        Self { owner, machine, kernel, mirrored, count: vote.count, nodes: vote.nodes }
    }

    /// True if both votes agree: on the count, and on the nodes if both searched row by row. The nodes of the other
    /// method depend on the release, so a difference proves nothing.
    fn agrees(&self, other: &Cast<'_>) -> bool {
        let is_search = |cast: &Cast<'_>| cast.kernel.split('/').next() == Some("search");
        self.count == other.count && (self.nodes == other.nodes || !is_search(self) || !is_search(other))
    }

    fn is_by_orbits(&self) -> bool {
        self.kernel == ORBITS
    }

    /// True if the same machine made both counts in the same way.
    fn is_same_way(&self, other: &Cast<'_>) -> bool {
        (self.owner, self.machine, self.kernel, self.mirrored)
            == (other.owner, other.machine, other.kernel, other.mirrored)
    }

    fn is_of(&self, machine: &Identity) -> bool {
        self.owner == machine.owner.name() && self.machine == machine.machine
    }
}

/// The believed counts of a disputed unit, in the order of their records.
#[derive(Debug)]
pub struct Ballot<'a> {
    casts: Vec<Cast<'a>>,
    is_symmetric: bool,
    /// The owner of the operator's own machines, if they make own checks.
    operator: Option<&'a str>,
}

impl<'a> Ballot<'a> {
    /// The ballot of a unit with these votes.
    pub fn new(
        machines: &'a Machines,
        votes: impl Iterator<Item = &'a Vote>,
        is_symmetric: bool,
        operator: Option<&'a str>,
    ) -> Self {
        Self { casts: votes.map(|vote| Cast::of_vote(machines, vote)).collect(), is_symmetric, operator }
    }

    /// True if no believed machine has counted the unit.
    pub fn is_empty(&self) -> bool {
        self.casts.is_empty()
    }

    /// True if the machine's last count in this way is the same.
    pub fn has(&self, cast: &Cast<'_>) -> bool {
        let last = self.casts.iter().rev().find(|other| other.is_same_way(cast));
        last.is_some_and(|last| (last.count, last.nodes) == (cast.count, cast.nodes))
    }

    /// True if no more counts of this owner are kept.
    pub fn is_full_for(&self, owner: &str) -> bool {
        self.casts.iter().filter(|cast| cast.owner == owner).count() >= MAX_COUNTS_PER_OWNER
    }

    /// True if the value of this count wins with this vote.
    pub fn elects(&self, cast: &Cast<'_>) -> bool {
        let casts: Vec<&Cast<'_>> = self.casts.iter().chain([cast]).collect();
        if self.opposition(&casts).is_some() {
            return false;
        }
        let agreeing = || casts.iter().filter(|other| other.agrees(cast));
        let is_by_both = agreeing().any(|other| other.is_by_orbits() != cast.is_by_orbits());
        (is_by_both || !self.is_symmetric) && votes_for(cast, &casts) >= 2
    }

    /// True if two owners agree against the operator's machines. Only these machines count the unit further.
    pub fn opposes_operator(&self) -> bool {
        self.opposition(&self.casts.iter().collect::<Vec<_>>()).is_some()
    }

    /// A value on which two owners agree, and which the operator's machines contradict.
    fn opposition<'b>(&self, casts: &[&'b Cast<'b>]) -> Option<&'b Cast<'b>> {
        let operator = self.operator?;
        if casts.iter().all(|cast| cast.owner != operator) {
            return None;
        }
        let is_opposed = |cast: &&&Cast<'_>| {
            let voters = owners_for(cast, casts);
            voters.len() >= 2 && !voters.contains(operator)
        };
        casts.iter().find(is_opposed).copied()
    }

    /// The owners, with their value, who agree against the operator's machines after this vote, if these machines have
    /// said the same in two ways.
    pub fn refuted_with<'b>(&'b self, cast: &'b Cast<'b>) -> Vec<(&'b str, u64)> {
        let casts: Vec<&Cast<'_>> = self.casts.iter().chain([cast]).collect();
        let Some(opposed) = self.opposition(&casts) else { return Vec::new() };
        let of_operator = || casts.iter().filter(|cast| Some(cast.owner) == self.operator);
        let is_voted_for =
            |cast: &Cast<'_>| owners_for(cast, &casts).iter().any(|owner| Some(*owner) == self.operator);
        let ways = |value: &Cast<'_>| {
            let agreeing = of_operator().filter(|cast| cast.agrees(value));
            agreeing.map(|cast| (cast.machine, cast.kernel, cast.mirrored)).collect::<BTreeSet<_>>().len()
        };
        if !of_operator().any(|cast| is_voted_for(cast) && ways(cast) >= 2) {
            return Vec::new();
        }
        owners_for(opposed, &casts).into_iter().map(|owner| (owner, opposed.count)).collect()
    }

    /// The variant in which the machine should count the unit. None if the machine has counted the unit and another
    /// machine can still be asked.
    pub fn ask(
        &self,
        machine: &Identity,
        label: impl Fn(Variant) -> String,
        is_left_to_others: impl Fn() -> bool,
    ) -> Option<Variant> {
        if self.is_full_for(machine.owner.name()) {
            return None;
        }
        let opposes_operator = self.opposes_operator();
        if opposes_operator && self.operator != Some(machine.owner.name()) {
            return None;
        }
        if !self.has_count_of(machine) {
            return Some(self.first_question());
        }
        if !opposes_operator && is_left_to_others() {
            return None;
        }
        let own = || self.casts.iter().filter(|cast| cast.is_of(machine));
        let is_new_algorithm = |asked: &Variant| own().all(|cast| cast.is_by_orbits() != asked.other_kernel);
        let is_new = |variant: &Variant| {
            let label = label(*variant);
            own().all(|cast| cast.kernel != label || cast.mirrored != variant.mirrored)
        };
        let second = BY_BOTH_ALGORITHMS.into_iter().filter(|_| self.is_symmetric).find(is_new_algorithm);
        second.or_else(|| Variant::ALL.into_iter().find(is_new))
    }

    /// True if the machine has counted the unit.
    pub fn has_count_of(&self, machine: &Identity) -> bool {
        self.casts.iter().any(|cast| cast.is_of(machine))
    }

    /// How a machine that has not counted the unit counts it.
    fn first_question(&self) -> Variant {
        let is_new =
            |asked: &Variant| self.casts.iter().all(|cast| cast.is_by_orbits() != asked.other_kernel);
        let algorithms = BY_BOTH_ALGORITHMS.into_iter().filter(|_| self.is_symmetric);
        algorithms.clone().find(is_new).or_else(|| algorithms.clone().next()).unwrap_or(ANOTHER_IMAGE)
    }

    /// True if several owners have counted the unit.
    pub fn is_among_owners(&self) -> bool {
        degree_of(&self.casts.iter().collect::<Vec<_>>()) == Degree::OtherOwner
    }

    /// A readable list of the machines and their counts.
    pub fn summary(&self) -> String {
        let mut said: Vec<String> = Vec::new();
        for Cast { owner, machine, count, .. } in &self.casts {
            let line = format!("{} says {count}", Owner::new(owner).title(machine));
            if !said.contains(&line) {
                said.push(line);
            }
        }
        said.join(", ")
    }
}

/// The last count of each machine. A machine's later counts replace its earlier counts.
fn last_counts<'a>(casts: &[&'a Cast<'a>]) -> BTreeMap<(&'a str, &'a str), &'a Cast<'a>> {
    casts.iter().map(|cast| ((cast.owner, cast.machine), *cast)).collect()
}

/// The owners who vote for this value.
fn owners_for<'a>(value: &Cast<'_>, casts: &[&'a Cast<'a>]) -> BTreeSet<&'a str> {
    let machines = last_counts(casts);
    let owners: BTreeSet<&str> =
        machines.keys().map(|(owner, _)| *owner).filter(|owner| !owner.is_empty()).collect();
    let votes_for = |owner: &&str| {
        let of_owner: Vec<&Cast<'_>> =
            machines.iter().filter(|((of, _), _)| of == owner).map(|(_, cast)| *cast).collect();
        let with = |value: &Cast<'_>| of_owner.iter().filter(|cast| cast.agrees(value)).count();
        let others = of_owner.iter().filter(|cast| !cast.agrees(value));
        with(value) > 0 && others.map(|other| with(other)).all(|votes| votes <= with(value))
    };
    owners.into_iter().filter(votes_for).collect()
}

/// The number of votes for this value at the degree of the dispute.
fn votes_for(value: &Cast<'_>, casts: &[&Cast<'_>]) -> usize {
    match degree_of(casts) {
        Degree::OtherOwner => owners_for(value, casts).len(),
        Degree::OtherMachine => last_counts(casts).values().filter(|cast| cast.agrees(value)).count(),
        Degree::SameMachine | Degree::Once => {
            let ways: BTreeMap<(&str, bool), &Cast<'_>> =
                casts.iter().map(|cast| ((cast.kernel, cast.mirrored), *cast)).collect();
            ways.values().filter(|cast| cast.agrees(value)).count()
        }
    }
}

/// The degree of a dispute between these counts.
fn degree_of(casts: &[&Cast<'_>]) -> Degree {
    let first = casts.first().map(|cast| cast.machine);
    if are_several_owners(casts.iter().map(|cast| cast.owner)) {
        Degree::OtherOwner
    } else if casts.iter().any(|cast| Some(cast.machine) != first) {
        Degree::OtherMachine
    } else {
        Degree::SameMachine
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A count of `OWNER/MACHINE`, or of a machine without an owner.
    fn cast(machine: &'static str, count: u64) -> Cast<'static> {
        let (owner, machine) = machine.split_once('/').unwrap_or(("", machine));
        Cast { owner, machine, kernel: "search/avx2", mirrored: false, count, nodes: 1 }
    }

    fn elects(casts: &[(&'static str, u64)]) -> bool {
        let (last, former) = casts.split_last().unwrap();
        let casts = former.iter().map(|(machine, count)| cast(machine, *count)).collect();
        Ballot { casts, is_symmetric: false, operator: None }.elects(&cast(last.0, last.1))
    }

    #[test]
    fn two_votes_at_level_of_dispute_win() {
        // Two machines of one owner, and without owners.
        assert!(elects(&[("ada/a", 5), ("ada/b", 7), ("ada/c", 5)]));
        assert!(elects(&[("a", 5), ("b", 7), ("c", 7)]));
        assert!(!elects(&[("a", 5), ("b", 7), ("c", 9)]));
        // Two owners: a machine more of either is no vote more.
        assert!(!elects(&[("ada/a", 5), ("mallory/m", 7), ("mallory/n", 7), ("mallory/o", 7)]));
        assert!(elects(&[("ada/a", 5), ("mallory/m", 7), ("mallory/n", 7), ("ben/b", 5)]));
        // An owner whose machines differ votes for each value with as many machines.
        assert!(elects(&[("ada/a", 5), ("ada/b", 7), ("ben/b", 5)]));
        assert!(!elects(&[("ada/a", 5), ("ada/b", 7), ("ada/c", 7), ("ben/b", 5)]));
        // A machine votes for its last count.
        assert!(elects(&[("ada/a", 5), ("ben/b", 7), ("ada/a", 7)]));
        assert!(!elects(&[("a", 5), ("b", 7), ("b", 9), ("c", 7)]));
        // The owner without a name may be any other owner.
        assert!(!elects(&[("ada/a", 5), ("ben/b", 7), ("c", 5)]));
    }

    #[test]
    fn two_owners_do_not_outvote_operator() {
        let votes = |casts: &[(&'static str, u64)]| {
            let (last, former) = casts.split_last().unwrap();
            let casts = former.iter().map(|(machine, count)| cast(machine, *count)).collect();
            let ballot = Ballot { casts, is_symmetric: false, operator: Some("ada") };
            let last = cast(last.0, last.1);
            let refuted = ballot.refuted_with(&last).into_iter().map(|(owner, _)| owner.to_owned()).collect();
            (ballot.elects(&last), refuted)
        };
        let (nobody, both) = (Vec::<String>::new(), vec!["mallory".to_owned(), "oscar".to_owned()]);
        let lie = [("mallory/m", 7), ("oscar/o", 7)];
        assert_eq!(votes(&[lie[0], ("ada/a", 5), lie[1]]), (false, nobody.clone()), "ada counts again");
        assert_eq!(votes(&[lie[0], ("ada/a", 5), lie[1], ("ada/b", 5)]), (false, both.clone()));
        assert_eq!(votes(&[lie[0], ("ada/a", 5), ("ada/b", 5), lie[1]]), (false, both));
        assert_eq!(votes(&[lie[0], ("ada/a", 5), ("ada/b", 5), ("ben/b", 5)]), (true, nobody.clone()));
        // The operator's machine was wrong.
        assert_eq!(votes(&[lie[0], ("ada/a", 5), lie[1], ("ada/a", 7)]), (true, nobody.clone()));
        assert_eq!(votes(&[lie[0], lie[1], ("ben/b", 5), ("ada/a", 7)]), (true, nobody));
    }

    #[test]
    fn machine_alone_is_decided_by_two_ways() {
        let casts = vec![cast("a", 5), Cast { mirrored: true, ..cast("a", 7) }];
        let ballot = Ballot { casts, is_symmetric: false, operator: None };
        assert!(!ballot.elects(&cast("a", 5)), "the same way again");
        assert!(ballot.elects(&Cast { kernel: "meet/avx2", ..cast("a", 5) }));
    }

    #[test]
    fn symmetric_count_needs_both_algorithms() {
        let ballot = Ballot { casts: vec![cast("a", 5), cast("b", 7)], is_symmetric: true, operator: None };
        assert!(!ballot.elects(&cast("c", 5)));
        assert!(ballot.elects(&Cast { kernel: ORBITS, ..cast("c", 5) }));
    }
}
