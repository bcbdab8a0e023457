//! The counts in a ledger of units to be recounted.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use domain::{Owner, seen};
use queens::UnitId;

use crate::ledger::{Location, Record};

/// The place of a unit's standing count in the ledger, and its origin.
#[derive(Clone, Debug)]
pub struct StandingCount {
    /// The count.
    pub count: u64,
    /// The line.
    pub location: Location,
    /// The machine, as it is named to take its counts back.
    pub machine: Arc<str>,
    /// The kernel, as in `search/portable`.
    pub kernel: Arc<str>,
}

/// Some units of a run, with their standing counts as far as the ledger has been read.
#[derive(Debug)]
pub struct Sampled {
    units: HashMap<UnitId, Option<StandingCount>>,
    /// The names of machines and kernels.
    names: HashSet<Arc<str>>,
}

impl Sampled {
    /// A sample of these units, without counts yet.
    pub fn of(units: Vec<UnitId>) -> Self {
        Self { units: units.into_iter().map(|unit| (unit, None)).collect(), names: HashSet::new() }
    }

    /// How many units there are.
    pub fn len(&self) -> u64 {
        self.units.len() as u64
    }

    /// Takes note of a record.
    pub fn note(&mut self, location: Location, record: &Record) {
        match record {
            Record::Count(r) if self.units.contains_key(&r.unit) => {
                let (machine, kernel) =
                    (self.name(&Owner::new(&r.owner).title(&r.machine)), self.name(&seen(&r.kernel, &[])));
                self.units.insert(r.unit, Some(StandingCount { count: r.count, location, machine, kernel }));
            }
            Record::Retract(r) => {
                if let Some(standing) = self.units.get_mut(&r.unit) {
                    *standing = None;
                }
            }
            Record::Restore(r) if self.units.contains_key(&r.unit) => {
                let (machine, kernel) =
                    (self.name(&Owner::new(&r.owner).title(&r.machine)), self.name(&seen(&r.kernel, &[])));
                self.units.insert(r.unit, Some(StandingCount { count: r.count, location, machine, kernel }));
            }
            _ => {}
        }
    }

    /// The shared copy of the name.
    fn name(&mut self, name: &str) -> Arc<str> {
        if let Some(known) = self.names.get(name) {
            return Arc::clone(known);
        }
        let new: Arc<str> = name.into();
        self.names.insert(Arc::clone(&new));
        new
    }

    /// The units with a standing count, in the order of their numbers.
    pub fn counted(&self) -> Vec<(UnitId, &StandingCount)> {
        let counted = self.units.iter().filter_map(|(unit, counted)| Some((*unit, counted.as_ref()?)));
        let mut counted: Vec<_> = counted.collect();
        counted.sort_unstable_by_key(|(unit, _)| *unit);
        counted
    }
}
