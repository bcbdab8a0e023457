//! How far the counts of a run were checked, as its certificate says it.

use domain::Assurance;
use serde::{Deserialize, Serialize};

use crate::double_check::DoubleCheck;
use crate::standing::Sums;

/// A certificate is small: no more machines or owners are named.
const MOST_NAMED: usize = 100;

/// How far the counts were checked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Checked {
    /// Units counted twice with the same outcome, by two owners,
    pub(super) on_two_owners: u64,
    /// or else on two machines of one owner,
    on_two_machines: u64,
    /// or else by one machine in two ways.
    on_one_machine: u64,
    /// Units counted on two kinds of hardware.
    on_two_kinds: u64,
    /// Units that an external program has also counted.
    by_external: u64,
    /// Units drawn at random whose count was checked,
    sampled: u64,
    /// and of which it was contradicted.
    refuted: u64,
    conflicts: u64,
    /// The number of quarantined machines, and some of their names.
    quarantined: u64,
    pub(super) quarantined_machines: Vec<String>,
    /// The number of expelled owners, and some of their names.
    pub(super) expelled: u64,
    expelled_owners: Vec<String>,
    /// How counts are checked, where the ledger says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    policy: Option<DoubleCheck>,
    /// Counts that the operator's own machines made once more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    own_checks: Option<OwnChecked>,
}

/// The own checks of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct OwnChecked {
    /// The share of units, drawn at random.
    share: DoubleCheck,
    /// The owner of the operator's machines.
    owner: String,
    /// Units that these machines counted once more, with the same outcome.
    made: u64,
    /// Drawn units whose count was contradicted, and taken back.
    refuted: u64,
}

impl Checked {
    pub(super) fn of(assurance: Assurance, sums: &Sums) -> Self {
        let named = |mut names: Vec<String>| {
            let number = names.len() as u64;
            names.truncate(MOST_NAMED);
            (number, names)
        };
        let (quarantined, quarantined_machines) = named(assurance.quarantined);
        let (expelled, expelled_owners) = named(assurance.expelled);
        Self {
            on_two_owners: assurance.on_two_owners,
            on_two_machines: assurance.on_two_machines,
            on_one_machine: assurance.on_one_machine,
            on_two_kinds: assurance.on_two_kinds,
            by_external: assurance.by_external,
            sampled: assurance.sampled,
            refuted: sums.refuted,
            conflicts: assurance.conflicts,
            quarantined,
            quarantined_machines,
            expelled,
            expelled_owners,
            policy: sums.policy,
            own_checks: sums.own_checks.as_ref().map(|own| OwnChecked {
                share: own.share,
                owner: own.owner.clone(),
                made: assurance.own_checks.map_or(0, |own| own.made),
                refuted: sums.own_refuted,
            }),
        }
    }

    /// The kind of untrusted participants whose number differs from the number of names, with both numbers.
    pub(super) fn misnamed(&self) -> Option<(&'static str, u64, usize)> {
        let named = [
            ("machines", self.quarantined, self.quarantined_machines.len()),
            ("owners", self.expelled, self.expelled_owners.len()),
        ];
        named.into_iter().find(|(_, number, named)| *named as u64 != (*number).min(MOST_NAMED as u64))
    }

    /// Units counted twice.
    pub(super) fn counted_twice(&self) -> u128 {
        [self.on_two_owners, self.on_two_machines, self.on_one_machine].into_iter().map(u128::from).sum()
    }
}
