//! What is to be said of machines: what is on record of each, and who is there of it.

use std::cmp::Reverse;
use std::time::Duration;

use domain::{LONGEST_SILENCE, MachineStatus, Owner};
use records::standing::Machine;

use super::Core;
use super::workers::{Crew, MOST_LISTED};

/// A machine of which something is known.
pub struct KnownMachine<'a> {
    owner: &'a str,
    name: &'a str,
    on_record: Option<&'a Machine>,
    crew: Crew,
}

impl KnownMachine<'_> {
    /// Whether it has workers.
    pub fn is_there(&self) -> bool {
        self.crew.workers > 0
    }
}

impl Core {
    /// The machines that are there, and others that have counted.
    pub(super) fn machines(&self, now: Duration) -> Vec<KnownMachine<'_>> {
        let mut crews = self.workers.crews(now, now.saturating_sub(LONGEST_SILENCE));
        let on_record = self.standing.sums().machines.iter().map(|machine| {
            let (owner, name) = (&*machine.owner, &*machine.name);
            let crew = crews.remove(&(owner, name)).unwrap_or_default();
            KnownMachine { owner, name, on_record: Some(machine), crew }
        });
        let mut known: Vec<_> = on_record.collect();
        let newcomers = crews.into_iter();
        known.extend(newcomers.map(|((owner, name), crew)| KnownMachine {
            owner,
            name,
            on_record: None,
            crew,
        }));
        known
    }
}

/// What is to be said of machines, by owner and name. Where there are too many those come first that are there, then
/// those that have counted most.
pub fn listed(mut known: Vec<KnownMachine<'_>>) -> Vec<MachineStatus> {
    if known.len() > MOST_LISTED {
        let counts = |machine: &KnownMachine| machine.on_record.map_or(0, |machine| machine.counts);
        known.select_nth_unstable_by_key(MOST_LISTED, |known| (!known.is_there(), Reverse(counts(known))));
        known.truncate(MOST_LISTED);
    }
    known.sort_unstable_by_key(|machine| (machine.owner, machine.name));
    known.into_iter().map(status).collect()
}

fn status(KnownMachine { owner, name, on_record, crew }: KnownMachine) -> MachineStatus {
    MachineStatus {
        owner: Owner::new(owner),
        name: name.to_owned(),
        workers: crew.workers,
        threads: crew.threads,
        counts: on_record.map_or(0, |machine| machine.counts),
        verified: on_record.map_or(0, |machine| machine.verified),
        wrong: on_record.map_or(0, |machine| machine.wrong),
        is_believed: on_record.is_none_or(|machine| !machine.is_quarantined()),
        speed: crew.work_rate / 1e9,
    }
}
