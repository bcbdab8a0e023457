//! What people did to a run apart from counting: counts that they took back, machines that they expelled or admitted,
//! policies that they changed, takeovers. A sceptic looks for these first.

use std::fmt;

use domain::{Owner, counted};
use serde::{Deserialize, Serialize};

use crate::ledger::{AcceptedLoss, Admission, Expulsion, Policy, Record, Replicas, Retraction, TermRecord};
use crate::run_directory::next_term::TAKEOVER_STEP;

/// No more interventions are listed; the others are only numbered.
const MOST_LISTED: usize = 1000;

/// An intervention in a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Intervention {
    /// The operator took back the counts of single units.
    Retract {
        /// How many units.
        units: u64,
        /// The operator's reason.
        reason: String,
        /// When, in seconds since 1970 (UTC).
        at: u64,
    },
    /// The operator stopped trusting a machine or an owner, and took back their unconfirmed counts; or an own check
    /// suspended an owner.
    Expel(Expulsion),
    /// The operator trusts a machine or an owner again.
    Admit(Admission),
    /// The checks of counts were changed after counting had begun.
    Policy(Policy),
    /// The number of required followers was changed after counting had begun.
    Replicas(Replicas),
    /// A coordinator took the run over from another one.
    Takeover {
        /// The term of the new coordinator.
        term: u64,
        /// When, in seconds since 1970 (UTC).
        at: u64,
    },
    /// The operator went on although acknowledged records may be lost.
    Loss(AcceptedLoss),
}

impl Intervention {
    /// The intervention in a record of the ledger, before which there was this term, and counts or none.
    pub(crate) fn of(record: &Record, term: u64, is_counted: bool) -> Option<Self> {
        match record {
            Record::Retract(Retraction { reason: Some(reason), at, .. }) => {
                Some(Self::Retract { units: 1, reason: reason.clone(), at: *at })
            }
            Record::Expel(r) => Some(Self::Expel(r.clone())),
            Record::Admit(r) => Some(Self::Admit(r.clone())),
            // The first policy is what the run was begun with.
            Record::Policy(r) if is_counted => Some(Self::Policy(r.clone())),
            Record::Replicas(r) if is_counted => Some(Self::Replicas(r.clone())),
            Record::Term(TermRecord { term: raised, at, .. })
                if raised.saturating_sub(term) >= TAKEOVER_STEP =>
            {
                Some(Self::Takeover { term: *raised, at: *at })
            }
            Record::Loss(r) => Some(Self::Loss(r.clone())),
            _ => None,
        }
    }

    /// Adds the retraction of the next unit to this one, if both are one.
    pub(crate) fn joins(&mut self, next: &Self) -> bool {
        match (self, next) {
            (Self::Retract { units, reason, at }, Self::Retract { reason: next, at: then, .. })
                if (&*reason, &*at) == (next, then) =>
            {
                *units += 1;
                true
            }
            _ => false,
        }
    }

    /// When, in seconds since 1970 (UTC).
    pub fn at(&self) -> u64 {
        match self {
            Self::Retract { at, .. } | Self::Takeover { at, .. } => *at,
            Self::Expel(r) => r.at,
            Self::Admit(r) => r.at,
            Self::Policy(r) => r.at,
            Self::Replicas(r) => r.at,
            Self::Loss(r) => r.at,
        }
    }

    /// The operator's reason, if one was given.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Retract { reason, .. } => Some(reason),
            Self::Expel(r) => Some(&r.reason),
            Self::Admit(r) => Some(&r.reason),
            Self::Policy(r) => r.reason.as_deref(),
            Self::Replicas(r) => r.reason.as_deref(),
            Self::Takeover { .. } | Self::Loss(_) => None,
        }
    }
}

impl fmt::Display for Intervention {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Retract { units, .. } => write!(f, "took back the counts of {}", counted(*units, "unit")),
            Self::Expel(r) if r.suspended => {
                write!(f, "suspended {}, whom an own check contradicts", whom(&r.owner, None))
            }
            Self::Expel(r) => write!(f, "stopped trusting {}", whom(&r.owner, r.machine.as_deref())),
            Self::Admit(r) => write!(f, "trusted {} again", whom(&r.owner, r.machine.as_deref())),
            Self::Policy(Policy { double_check, require_owners, own_checks, .. }) => {
                let owners = require_owners.unwrap_or(1);
                write!(f, "set --double-check {double_check} --require-owners {owners}")?;
                own_checks
                    .as_ref()
                    .map_or(Ok(()), |own| write!(f, " --own-checks {} --own {}", own.share, own.owner))
            }
            Self::Replicas(r) => write!(f, "set --replicas {}", r.replicas),
            Self::Takeover { term, .. } => write!(f, "another coordinator took over, with term {term}"),
            Self::Loss(AcceptedLoss { records, bytes, files, .. }) => {
                let records = counted(*records, "record");
                let (bytes, files) = (counted(*bytes, "byte"), counted(*files, "file"));
                write!(f, "accepted a loss in the ledger: {records}, {bytes} behind the last mark, {files}")
            }
        }
    }
}

fn whom(owner: &str, machine: Option<&str>) -> String {
    let owner = Owner::new(owner);
    match machine {
        Some(machine) => format!("machine {}", owner.title(machine)),
        None => format!("owner {}", owner.typed()),
    }
}

/// The interventions in a run, in the order of the ledger.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Interventions {
    /// The first interventions.
    pub listed: Vec<Intervention>,
    /// How many others there are.
    pub unlisted: u64,
    term: u64,
    is_counted: bool,
}

impl Interventions {
    /// Looks at the next record of the ledger.
    pub(crate) fn note(&mut self, record: &Record) {
        let found = Intervention::of(record, self.term, self.is_counted);
        match record {
            Record::Term(r) => self.term = r.term,
            Record::Count(_) => self.is_counted = true,
            _ => {}
        }
        let Some(found) = found else { return };
        if self.listed.last_mut().is_some_and(|last| last.joins(&found)) {
            return;
        }
        if self.listed.len() < MOST_LISTED {
            self.listed.push(found);
        } else {
            self.unlisted += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::double_check::DoubleCheck;
    use crate::testing::known_run;

    fn noted(records: &[Record]) -> Interventions {
        let mut interventions = Interventions::default();
        records.iter().for_each(|record| interventions.note(record));
        interventions
    }

    fn term(term: u64) -> Record {
        let coordinator = "0".repeat(32).parse().unwrap();
        Record::Term(TermRecord { term, coordinator, key: None, at: term })
    }

    #[test]
    fn restarts_and_first_policy_are_no_interventions() {
        let policy = || {
            let double_check = DoubleCheck::All;
            Record::Policy(Policy {
                double_check,
                require_owners: None,
                own_checks: None,
                reason: None,
                at: 5,
            })
        };
        let begun = [term(1), policy(), known_run::record(0), term(2), known_run::record(1)];
        assert_eq!(noted(&begun), Interventions { term: 2, is_counted: true, ..Interventions::default() });
        let changed = [begun.as_slice(), &[term(2 + TAKEOVER_STEP), policy()]].concat();
        let said: Vec<_> = noted(&changed).listed.iter().map(ToString::to_string).collect();
        assert_eq!(
            said,
            ["another coordinator took over, with term 1000002", "set --double-check all --require-owners 1"]
        );
    }

    #[test]
    fn units_of_one_retraction_are_one_intervention() {
        let retraction = |unit, at| {
            let Record::Count(r) = known_run::record(unit) else { panic!("a count") };
            let (owner, machine, kernel) = (r.owner, r.machine, r.kernel);
            let reason = Some("wrong".to_owned());
            let (quarantine, contradiction, mirrored) = (false, false, r.mirrored);
            let (unit, count, nodes) = (r.unit, r.count, r.nodes);
            Record::Retract(Retraction {
                unit,
                count,
                nodes,
                owner,
                machine,
                kernel,
                mirrored,
                quarantine,
                contradiction,
                reason,
                at,
            })
        };
        let found = noted(&[retraction(0, 7), retraction(1, 7), retraction(2, 8)]);
        let units = found.listed.iter().map(|found| (found.to_string(), found.reason(), found.at()));
        let is = |text: &str, at| (text.to_owned(), Some("wrong"), at);
        assert_eq!(
            units.collect::<Vec<_>>(),
            [is("took back the counts of 2 units", 7), is("took back the counts of 1 unit", 8)]
        );
    }

    #[test]
    fn listed_interventions_are_limited() {
        let admission =
            Record::Admit(Admission { owner: "ada".into(), machine: None, reason: "x".into(), at: 1 });
        let found = noted(&vec![admission; MOST_LISTED + 3]);
        assert_eq!((found.listed.len(), found.unlisted), (MOST_LISTED, 3));
    }
}
