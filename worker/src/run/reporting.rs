//! Counts on their way to the coordinator. Each is kept until the coordinator has acknowledged it.

use std::collections::HashMap;
use std::iter::repeat;
use std::time::Duration;

use domain::{Lease, Token, UnitCount, Verdict};
use tokio::time::Instant;
use tracing::warn;

use crate::outage::{GaveUp, Outage};
use crate::pool::{UnitVariant, unit_variant};

/// Maximum number of counts in one report.
const MAX_COUNTS_PER_REPORT: usize = 10_000;

/// Counts that could not be judged are reported again after this time.
const REPORT_AGAIN_AFTER: Duration = Duration::from_secs(1);

/// Counts that wait for a report, and those of the report that is under way.
pub struct Reporting {
    waiting: Vec<UnitCount>,
    in_flight: Vec<UnitCount>,
    not_before: Option<Instant>,
    /// A coordinator that answers may still be unable to record: its disk is full.
    outage: Outage,
}

impl Reporting {
    pub fn new(outage: Outage) -> Self {
        Self { waiting: Vec::new(), in_flight: Vec::new(), not_before: None, outage }
    }

    pub fn add(&mut self, count: UnitCount) {
        self.waiting.push(count);
    }

    /// The counts of the next report, if one is due. One report is under way at a time.
    pub fn next_report(&mut self) -> Option<Vec<UnitCount>> {
        let is_due = self.not_before.is_none_or(|at| at <= Instant::now()) && !self.is_blocked();
        if !is_due || self.is_under_way() || self.waiting.is_empty() {
            return None;
        }
        self.not_before = None;
        let most = self.waiting.len().min(MAX_COUNTS_PER_REPORT);
        self.in_flight = self.waiting.drain(..most).collect();
        Some(self.in_flight.clone())
    }

    /// The coordinator has judged the report. Returns how many counts it acknowledged.
    pub fn judged(&mut self, verdicts: &[Verdict]) -> u64 {
        self.outage.over();
        let counts = std::mem::take(&mut self.in_flight);
        let unjudged = counts.len().saturating_sub(verdicts.len());
        if unjudged > 0 {
            warn!(unjudged, "the coordinator did not judge all reported counts; the rest is reported again");
        }
        let mut acknowledged = 0;
        for (count, verdict) in counts.into_iter().zip(verdicts.iter().chain(repeat(&Verdict::Later))) {
            let unit = count.lease.unit;
            match verdict {
                Verdict::Recorded | Verdict::Known => acknowledged += 1,
                Verdict::Conflict => warn!(%unit, "another worker counted this unit differently"),
                Verdict::Unwanted => warn!(%unit, "the coordinator does not know this unit"),
                Verdict::Later => {
                    self.waiting.push(count);
                    self.not_before = Some(Instant::now() + REPORT_AGAIN_AFTER);
                }
            }
        }
        acknowledged
    }

    /// The report failed: its counts wait again.
    pub fn failed(&mut self) {
        self.waiting.append(&mut self.in_flight);
    }

    /// Handles a report, due at `due`, that the coordinator could not record. Fails if nothing could be recorded for
    /// the configured time.
    pub fn not_recorded(&mut self, due: Instant, why: &str) -> Result<(), GaveUp> {
        self.failed();
        self.outage.failed(due, why)
    }

    /// Sets the tokens of the counts whose units are lent again, and returns the other leases.
    pub fn update_tokens(&mut self, mut leases: Vec<Lease>) -> Vec<Lease> {
        let counts = self.waiting.iter_mut().chain(&mut self.in_flight).map(|count| &mut count.lease);
        let mut tokens: HashMap<UnitVariant, &mut Token> =
            counts.map(|lease| (unit_variant(lease), &mut lease.token)).collect();
        leases.retain(|lease| {
            tokens.get_mut(&unit_variant(lease)).map(|token| **token = lease.token).is_none()
        });
        leases
    }

    /// The leases of all counts that are not acknowledged.
    pub fn leases(&self) -> impl Iterator<Item = Lease> {
        self.in_flight.iter().chain(&self.waiting).map(|count| count.lease)
    }

    pub fn unacknowledged(&self) -> usize {
        self.waiting.len() + self.in_flight.len()
    }

    /// How many counts the coordinator still takes for held units. Those in flight are recorded before it looks at a request
    /// for more, unless it cannot record.
    pub fn held(&self) -> usize {
        self.waiting.len() + if self.outage.is_on() { self.in_flight.len() } else { 0 }
    }

    pub fn is_under_way(&self) -> bool {
        !self.in_flight.is_empty()
    }

    /// Whether the last report could not be recorded.
    pub fn is_failing(&self) -> bool {
        self.outage.is_on()
    }

    /// Whether it is too early to report again to a coordinator that cannot record.
    pub fn is_blocked(&self) -> bool {
        self.outage.until().is_some()
    }

    /// When the next report is due, if it was put off.
    pub fn due(&self) -> Option<Instant> {
        self.outage.until().or(self.not_before)
    }
}
