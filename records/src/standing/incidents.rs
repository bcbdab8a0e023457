//! The incidents of a run: interventions, pauses, starts of its coordinator, conflicts, quarantines. They follow from the records,
//! so every copy of the ledger has them, and a takeover loses none.
//!
//! Incidents of one kind that follow each other on one day are one incident. A machine that is always wrong, or a coordinator
//! that a service manager starts again and again, therefore does not push the operator's decisions out of the list.

use std::collections::VecDeque;

use domain::{Owner, counted};
use queens::UnitId;
use serde::{Deserialize, Serialize};

use super::credits::SECONDS_A_DAY;
use crate::interventions::Intervention;
use crate::ledger::{Pause, Record, Resumption, TermRecord};

/// The latest incidents are kept. A report reads all interventions from the ledger.
const MOST_KEPT: usize = 1000;

/// An incident.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Incident {
    /// An operator or a takeover.
    Intervention(Intervention),
    /// The operator stopped lending.
    Pause(Pause),
    /// The operator lent again.
    Resume(Resumption),
    /// Coordinators opened the run.
    Start {
        /// How many times.
        times: u64,
        /// The last term.
        term: u64,
        /// When the first one did, in seconds since 1970 (UTC).
        at: u64,
    },
    /// Counts contradicted others.
    Conflict {
        /// How many.
        times: u64,
        /// The first unit.
        unit: UnitId,
        /// When, in seconds since 1970 (UTC).
        at: u64,
    },
    /// A machine or an owner lost disputes, and is not believed any more.
    Quarantine {
        /// The owner; empty without authentication.
        owner: String,
        /// Its machine; none for all of them.
        machine: Option<String>,
        /// When, in seconds since 1970 (UTC).
        at: u64,
    },
}

impl Incident {
    /// When, in seconds since 1970 (UTC).
    fn at(&self) -> u64 {
        match self {
            Self::Intervention(intervention) => intervention.at(),
            Self::Pause(r) => r.at,
            Self::Resume(r) => r.at,
            Self::Start { at, .. } | Self::Conflict { at, .. } | Self::Quarantine { at, .. } => *at,
        }
    }

    /// Its kind, without names.
    fn kind(&self) -> &'static str {
        match self {
            Self::Intervention(Intervention::Retract { .. }) => "counts taken back",
            Self::Intervention(Intervention::Expel(r)) if r.suspended => "owner suspended",
            Self::Intervention(Intervention::Expel(_)) => "trust withdrawn",
            Self::Intervention(Intervention::Admit(_)) => "trust restored",
            Self::Intervention(Intervention::Policy(_)) => "checks changed",
            Self::Intervention(Intervention::Replicas(_)) => "required followers changed",
            Self::Intervention(Intervention::Takeover { .. }) => "takeover by another coordinator",
            Self::Intervention(Intervention::Loss(_)) => "loss of records accepted",
            Self::Pause(_) => "pause",
            Self::Resume(_) => "end of a pause",
            Self::Start { .. } => "start of the coordinator",
            Self::Conflict { .. } => "counts contradicted each other",
            Self::Quarantine { .. } => "quarantine",
        }
    }

    /// How many units, starts or counts it is about.
    fn times(&self) -> u64 {
        match self {
            Self::Intervention(Intervention::Retract { units: times, .. })
            | Self::Start { times, .. }
            | Self::Conflict { times, .. } => *times,
            Self::Intervention(_) | Self::Pause(_) | Self::Resume(_) | Self::Quarantine { .. } => 1,
        }
    }

    /// What happened, with names.
    fn text(&self) -> String {
        match self {
            Self::Intervention(intervention) => intervention.to_string(),
            Self::Pause(_) => "paused the run".to_owned(),
            Self::Resume(_) => "resumed the run".to_owned(),
            Self::Start { times: 1, term, .. } => format!("the coordinator began term {term}"),
            Self::Start { times, term, .. } => {
                format!("the coordinator was started {times} times, last with term {term}")
            }
            Self::Conflict { times, unit, .. } => {
                let contradict = if *times == 1 { "contradicts another" } else { "contradict others" };
                format!("{} {contradict}, first of unit {unit}", counted(*times, "count"))
            }
            Self::Quarantine { owner, machine: Some(machine), .. } => {
                format!("machine {} is quarantined", Owner::new(owner).title(machine))
            }
            Self::Quarantine { owner, machine: None, .. } => {
                format!("owner {} is expelled", Owner::new(owner).typed())
            }
        }
    }

    /// For a status.
    fn status(&self) -> domain::Incident {
        let reason = match self {
            Self::Intervention(intervention) => intervention.reason(),
            Self::Pause(r) => Some(&*r.reason),
            _ => None,
        };
        let (at, times, reason) = (self.at(), self.times(), reason.map(str::to_owned));
        domain::Incident { at, kind: self.kind().to_owned(), times, text: self.text(), reason }
    }

    /// Adds the next incident to this one, if both are one.
    fn joins(&mut self, next: &Self) -> bool {
        let is_same_day = self.at() / SECONDS_A_DAY == next.at() / SECONDS_A_DAY;
        match (self, next) {
            (Self::Intervention(own), Self::Intervention(next)) => own.joins(next),
            (Self::Start { times, term, .. }, Self::Start { term: next, .. }) if is_same_day => {
                (*times, *term) = (times.saturating_add(1), *next);
                true
            }
            (Self::Conflict { times, .. }, Self::Conflict { .. }) if is_same_day => {
                *times = times.saturating_add(1);
                true
            }
            _ => false,
        }
    }
}

/// The latest incidents, in the order of the ledger.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Incidents {
    /// How many came before the list.
    dropped: u64,
    list: VecDeque<Incident>,
}

impl Incidents {
    /// Looks at the next record of the ledger, before which there was this term, and counts or none.
    pub(super) fn note(&mut self, record: &Record, term: u64, is_counted: bool) {
        let incident = match (Intervention::of(record, term, is_counted), record) {
            (Some(intervention), _) => Incident::Intervention(intervention),
            (None, Record::Term(TermRecord { term, at, .. })) => {
                Incident::Start { times: 1, term: *term, at: *at }
            }
            (None, Record::Conflict(r)) => Incident::Conflict { times: 1, unit: r.unit, at: r.at },
            (None, Record::Pause(r)) => Incident::Pause(r.clone()),
            (None, Record::Resume(r)) => Incident::Resume(r.clone()),
            _ => return,
        };
        self.add(incident);
    }

    /// Adds the quarantine of a machine, or the expulsion of an owner, that a record at this time has caused.
    pub(super) fn quarantine(&mut self, (owner, machine): (String, Option<String>), at: u64) {
        self.add(Incident::Quarantine { owner, machine, at });
    }

    fn add(&mut self, incident: Incident) {
        if self.list.back_mut().is_some_and(|last| last.joins(&incident)) {
            return;
        }
        if self.list.len() == MOST_KEPT {
            self.list.pop_front();
            self.dropped += 1;
        }
        self.list.push_back(incident);
    }

    /// The last incidents, at most this number, oldest first, and the number of all.
    pub fn status(&self, longest: usize) -> (Vec<domain::Incident>, u64) {
        let last = self.list.iter().skip(self.list.len().saturating_sub(longest));
        (last.map(Incident::status).collect(), self.dropped + self.list.len() as u64)
    }

    /// The incidents with their numbers.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, &Incident)> {
        (self.dropped..).zip(&self.list)
    }

    /// Adds the next incident of a checkpoint. None if its number does not follow.
    pub(crate) fn restore(&mut self, number: u64, incident: Incident) -> Option<()> {
        if self.list.is_empty() {
            self.dropped = number;
        }
        let is_next =
            self.list.len() < MOST_KEPT && number == self.dropped.saturating_add(self.list.len() as u64);
        is_next.then(|| self.list.push_back(incident))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start(term: u64, at: u64) -> Incident {
        Incident::Start { times: 1, term, at }
    }

    fn conflict(unit: u64, at: u64) -> Incident {
        Incident::Conflict { times: 1, unit: UnitId(unit), at }
    }

    fn of(all: impl IntoIterator<Item = Incident>) -> Incidents {
        let mut incidents = Incidents::default();
        all.into_iter().for_each(|incident| incidents.add(incident));
        incidents
    }

    #[test]
    fn incidents_of_one_kind_and_day_are_one() {
        let day = SECONDS_A_DAY;
        let incidents =
            of([start(1, 5), start(2, 9), conflict(7, 10), conflict(3, 11), start(3, 12), start(4, day)]);
        let (listed, total) = incidents.status(9);
        let texts: Vec<_> = listed.iter().map(|incident| &*incident.text).collect();
        assert_eq!(
            texts,
            [
                "the coordinator was started 2 times, last with term 2",
                "2 counts contradict others, first of unit 7",
                "the coordinator began term 3",
                "the coordinator began term 4"
            ]
        );
        assert_eq!((total, listed[1].at, listed[1].times), (4, 10, 2));
        assert_eq!(incidents.status(1), (vec![listed[3].clone()], 4));
    }

    #[test]
    fn oldest_incident_makes_room_and_is_numbered() {
        let incidents = of((0..MOST_KEPT as u64 + 5).map(|day| start(day, day * SECONDS_A_DAY)));
        let (listed, total) = incidents.status(usize::MAX);
        assert_eq!((listed.len(), total), (MOST_KEPT, MOST_KEPT as u64 + 5));
        assert_eq!(listed[0].text, "the coordinator began term 5");
        let mut restored = Incidents::default();
        for (number, incident) in incidents.iter() {
            restored.restore(number, incident.clone()).unwrap();
        }
        assert_eq!(restored, incidents);
        assert_eq!(restored.restore(7, start(1, 1)), None);
    }
}
