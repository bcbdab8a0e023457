//! The machines in a status: their records and their connected workers.

use std::cmp::Reverse;
use std::time::Duration;

use domain::{LONGEST_SILENCE, MachineStatus, Owner};
use records::standing::{Machine, Machines};

use super::{ConnectedWorkers, MAX_LISTED, Members};

/// A machine with records or connected workers.
pub struct KnownMachine<'a> {
    owner: &'a str,
    name: &'a str,
    on_record: Option<&'a Machine>,
    connected: ConnectedWorkers,
}

impl KnownMachine<'_> {
    /// True if it has connected workers.
    pub fn is_connected(&self) -> bool {
        self.connected.workers > 0
    }
}

/// The machines that are connected or have counted.
pub fn known_machines<'a>(
    members: &'a Members,
    machines: &'a Machines,
    now: Duration,
) -> Vec<KnownMachine<'a>> {
    let mut workers_by_machine = members.workers_by_machine(now, now.saturating_sub(LONGEST_SILENCE));
    let on_record = machines.iter().map(|machine| {
        let (owner, name) = machine.maker();
        let connected = workers_by_machine.remove(&(owner, name)).unwrap_or_default();
        KnownMachine { owner, name, on_record: Some(machine), connected }
    });
    let mut known: Vec<_> = on_record.collect();
    let newcomers = workers_by_machine.into_iter();
    known.extend(newcomers.map(|((owner, name), connected)| KnownMachine {
        owner,
        name,
        on_record: None,
        connected,
    }));
    known
}

/// The status of machines, by owner and name. If there are too many, connected machines come first, then the machines
/// with the most counts.
pub fn listed(mut known: Vec<KnownMachine<'_>>) -> Vec<MachineStatus> {
    if known.len() > MAX_LISTED {
        let counts = |machine: &KnownMachine| machine.on_record.map_or(0, |machine| machine.counts);
        known.select_nth_unstable_by_key(MAX_LISTED, |known| (!known.is_connected(), Reverse(counts(known))));
        known.truncate(MAX_LISTED);
    }
    known.sort_unstable_by_key(|machine| (machine.owner, machine.name));
    known.into_iter().map(status).collect()
}

fn status(KnownMachine { owner, name, on_record, connected }: KnownMachine) -> MachineStatus {
    MachineStatus {
        owner: Owner::new(owner),
        name: name.to_owned(),
        workers: connected.workers,
        threads: connected.threads,
        counts: on_record.map_or(0, |machine| machine.counts),
        verified: on_record.map_or(0, |machine| machine.verified),
        wrong: on_record.map_or(0, |machine| machine.wrong),
        is_believed: on_record.is_none_or(|machine| !machine.is_quarantined()),
        speed: connected.work_rate / 1e9,
    }
}
