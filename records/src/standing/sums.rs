//! The sums of the records: small, and part of the checkpoint.

use std::collections::{BTreeMap, BTreeSet};

use queens::{Plan, Tally, UnitId};
use serde::{Deserialize, Serialize};

use super::credits::Accounts;
use super::draws::Draws;
use super::history::History;
use super::incidents::Incidents;
use super::machines::Machines;
use super::processor_time::Took;
use super::vote::Vote;
use crate::double_check::DoubleCheck;
use crate::own_checks::OwnChecks;

/// The sums of all records, without the marks of units.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sums {
    /// The partial totals. The checkpoint has an entry for each family.
    #[serde(skip)]
    pub tally: Tally,
    /// The work and time of each owner's records.
    pub took: BTreeMap<String, Took>,
    /// What each owner gave. The checkpoint has an entry for each.
    #[serde(skip)]
    pub credits: Accounts,
    /// Expected work of the recorded units, in nanoseconds of one core. Each unit counts with the average of its part
    /// of the plan. So the sum needs no inspection of units, and ends at the work of the run.
    pub work: u128,
    /// How units came on record over time.
    pub history: History,
    /// Interventions, starts, conflicts and quarantines. The checkpoint has an entry for each.
    #[serde(skip)]
    pub incidents: Incidents,
    /// Checks: second counts equal to the first.
    pub checks: u64,
    /// The probabilities with which counts were sampled.
    pub draws: Draws,
    /// Units drawn at random whose standing count was checked.
    pub sampled: u64,
    /// Sampled units whose count was contradicted.
    pub refuted: u64,
    /// Counts that contradicted a standing one, or all others of a disputed unit.
    pub conflicts: u64,
    /// Units without a standing count because counts disagree, with all of these. The checkpoint has an entry for each.
    #[serde(skip)]
    pub disputed: BTreeMap<UnitId, Vec<Vote>>,
    /// Constellations with symmetry, by number, whose counts contradicted each other and were disputed for that.
    pub contradicted: BTreeSet<u32>,
    /// The constellations whose counts contradicted each other when all of them were last complete.
    pub contradictory: BTreeSet<u32>,
    /// The machines that have counted.
    pub machines: Machines,
    /// How counts are checked, where the ledger says it.
    pub policy: Option<DoubleCheck>,
    /// The number of owners that must count each checked unit, if the ledger names it.
    pub require_owners: Option<u32>,
    /// Which counts the operator's own machines make once more, where the ledger says it.
    pub own_checks: Option<OwnChecks>,
    /// Units drawn for own checks whose count was contradicted.
    pub own_refuted: u64,
    /// Units that a draw names. They are not random, and do not count for the bound.
    pub own_named: u64,
    /// The last term and its coordinator, if the ledger has one.
    pub term: Option<(u64, String)>,
    /// How many followers must have a record before it is acknowledged, where the ledger says it.
    pub replicas: Option<u32>,
}

impl Sums {
    /// Sums without records.
    pub fn new(plan: &Plan) -> Self {
        Self {
            tally: Tally::new(plan),
            took: BTreeMap::new(),
            credits: Accounts::default(),
            work: 0,
            history: History::default(),
            incidents: Incidents::default(),
            checks: 0,
            draws: Draws::default(),
            sampled: 0,
            refuted: 0,
            conflicts: 0,
            disputed: BTreeMap::new(),
            contradicted: BTreeSet::new(),
            contradictory: BTreeSet::new(),
            machines: Machines::default(),
            policy: None,
            require_owners: None,
            own_checks: None,
            own_refuted: 0,
            own_named: 0,
            term: None,
            replicas: None,
        }
    }

    /// Processor time of all records in microseconds.
    pub fn cpu_us(&self) -> u64 {
        self.took.values().fold(0, |sum, took| sum.saturating_add(took.cpu_us))
    }

    /// True if the units, constellations, machines and kernels in the sums exist.
    pub fn fits(&self, plan: &Plan) -> bool {
        let members = plan.symmetric_members().len();
        let is_known = |vote: &Vote| self.machines.knows(vote.origin);
        self.contradicted.union(&self.contradictory).all(|member| (*member as usize) < members)
            && self.disputed.iter().all(|(unit, votes)| unit.0 < plan.units() && votes.iter().all(is_known))
            && self.machines.fits()
            && self.history.fits()
            && self.credits.fits()
            && self.draws.fits()
    }

    /// True if both agree about the counts. Expected work, credit and plausible times may differ: between releases, and in
    /// the last bits between machines.
    pub fn agrees_with(&self, other: &Self) -> bool {
        let counted = |sums: &Self| Self {
            work: 0,
            took: BTreeMap::new(),
            credits: Accounts::default(),
            history: History::default(),
            incidents: Incidents::default(),
            ..sums.clone()
        };
        counted(self) == counted(other)
    }
}
