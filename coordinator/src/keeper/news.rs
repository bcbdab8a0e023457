//! The news of a run: its list of events, and the log lines that owners cause.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::sync::Arc;

use domain::Owner;
use records::Clock;
use records::standing::{Machine, Machines};
use tracing::{Level, warn};

use super::events::Events;
use crate::event::Event;
use crate::log_lines::LogLines;

/// Maximum number of refused callers that are remembered. Other callers are logged at each refusal.
const MAX_REMEMBERED: usize = 1000;

/// A caller that was refused.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TurnedAway {
    pub owner: Owner,
    /// The address of the caller, if known.
    pub host: Option<IpAddr>,
    /// The caller and the reason: one sentence for the log.
    pub why: String,
}

/// The events and log lines of a run.
#[derive(Debug)]
pub(super) struct News {
    clock: Arc<dyn Clock>,
    events: Events,
    log_lines: LogLines,
    /// Callers whose refusal was logged. A service manager starts such a worker again and again.
    turned_away: BTreeSet<TurnedAway>,
    /// The machines reported as quarantined.
    quarantined: BTreeSet<String>,
    /// The number of trust changes at that time.
    trust_changes: u64,
}

impl News {
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self {
            clock,
            events: Events::default(),
            log_lines: LogLines::default(),
            turned_away: BTreeSet::new(),
            quarantined: BTreeSet::new(),
            trust_changes: 0,
        }
    }

    /// Logs the event and lists it.
    pub fn add(&mut self, event: Event) {
        event.log();
        self.list(event);
    }

    /// The same for an event that an owner caused. It is logged only while the owner's share of the log lasts.
    pub fn add_by(&mut self, owner: &Owner, event: Event) {
        if self.may_log(owner) {
            event.log();
        }
        self.list(event);
    }

    /// Lists the event without logging it.
    pub fn list(&mut self, event: Event) {
        self.events.add(self.clock.since_1970().as_secs(), event);
    }

    /// The events as the status lists them.
    pub fn events(&self) -> Vec<domain::Event> {
        self.events.list()
    }

    /// True if another log line caused by this owner may be written. Logs the number of omitted lines before it.
    pub fn may_log(&mut self, owner: &Owner) -> bool {
        let left_out = self.log_lines.take(self.clock.now(), owner);
        if let Some(lines @ 1..) = left_out {
            warn!(%owner, lines, "lines of the log were left out");
        }
        left_out.is_some()
    }

    /// Logs a refused caller, once for each host and reason.
    pub fn turned_away(&mut self, caller: TurnedAway) {
        if self.turned_away.contains(&caller) || !self.may_log(&caller.owner) {
            return;
        }
        let host = caller.host.map_or_else(String::new, |host| host.to_string());
        warn!(host, owner = %caller.owner, "{}", caller.why);
        if self.turned_away.len() < MAX_REMEMBERED {
            self.turned_away.insert(caller);
        }
    }

    /// Reports which machines are quarantined now, and which are trusted again.
    pub fn report_trust(&mut self, machines: &Machines) {
        if machines.trust_changes() == self.trust_changes {
            return;
        }
        self.trust_changes = machines.trust_changes();
        let quarantined: BTreeSet<_> = machines.quarantined().map(Machine::title).collect();
        let known = std::mem::replace(&mut self.quarantined, quarantined.clone());
        for machine in quarantined.difference(&known) {
            let text = format!("machine {machine} is quarantined");
            self.add(Event::counted_by_name(Level::WARN, "machines are quarantined", machine, text));
        }
        for machine in known.difference(&quarantined) {
            let text = format!("machine {machine} is believed again");
            self.add(Event::new(Level::INFO, "believed again", text));
        }
    }
}
