//! What a worker asks of the coordinator, and when.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use proto::{Lease, Owner, Registration, Report};
use tokio::time::Instant;

use super::{LoopEvent, Membership, WorkerLoop};
use crate::coordinator::{CoordinatorError, Lender};
use crate::pool::Pool;

/// How long a request for units waits at the coordinator.
const LEASE_WAIT: Duration = Duration::from_secs(20);

/// At most so many counts in one report.
const MOST_COUNTS: usize = 10_000;

impl<P: Pool> WorkerLoop<P> {
    /// Makes the calls that are due.
    pub(super) fn call_where_due(&mut self) {
        if self.outage.until().is_some() {
            return;
        }
        let Membership::Member { worker, renew_every, renew_next } = self.membership else {
            if matches!(self.membership, Membership::None) {
                self.membership = Membership::Asked;
                let registration = self.registration();
                self.call(move |c| async move { c.register(registration).await }, LoopEvent::Registered);
            }
            return;
        };
        let now = Instant::now();
        let due = self.report_not_before.is_none_or(|at| at <= now) && self.record_outage.until().is_none();
        if self.reporting.is_empty() && !self.counted.is_empty() && due {
            self.report_not_before = None;
            let most = self.counted.len().min(MOST_COUNTS);
            self.reporting = self.counted.drain(..most).collect();
            let report = Report { worker, counts: self.reporting.clone() };
            self.call(move |c| async move { c.report(report).await }, LoopEvent::Reported);
        }
        let (target, in_hand) = (self.pace.target(), self.in_hand());
        let is_little = in_hand < 2 * self.config.threads as usize;
        if !self.leasing
            && self.drains_until.is_none()
            && (is_little || in_hand * 4 <= self.full.min(target) * 3)
        {
            self.leasing = true;
            let want = (target - in_hand) as u32;
            self.call(move |c| async move { c.lease(worker, want, LEASE_WAIT).await }, LoopEvent::Leased);
        }
        if !self.renewing && now >= renew_next {
            self.renewing = true;
            self.give_up_hung(renew_every);
            self.membership = Membership::Member { worker, renew_every, renew_next: now + renew_every };
            let beyond = std::mem::take(&mut self.beyond);
            if !beyond.is_empty() {
                self.give_back(beyond);
            }
            let held = self.leases();
            self.call(move |c| async move { c.renew(worker, held).await }, LoopEvent::Renewed);
        }
    }

    /// Makes a call in a task of its own.
    fn call<T: Send + 'static, R: Future<Output = Result<T, CoordinatorError>> + Send>(
        &self,
        call: impl FnOnce(Arc<dyn Lender>) -> R + Send + 'static,
        event: fn(Result<T, CoordinatorError>) -> LoopEvent,
    ) {
        let (coordinator, events) = (Arc::clone(&self.coordinator), self.events.clone());
        tokio::spawn(async move {
            let result = call(coordinator).await;
            // The worker may have left meanwhile.
            events.send(event(result)).ok();
        });
    }

    fn registration(&self) -> Registration {
        let leases = self.leases();
        Registration {
            owner: Owner::default(),
            fingerprint: self.plan.fingerprint().clone(),
            name: self.config.name.clone(),
            machine: self.config.machine.clone(),
            self_test: self.self_test,
            threads: self.config.threads,
            kernel: self.config.kernel.name(),
            held: leases.iter().map(|lease| lease.unit).collect(),
            former: self.former,
            leases,
            // Whoever carries this to a coordinator knows which others it has met.
            met: None,
        }
    }

    /// How many units are in hand: to be counted, or counted and not yet reported. Those that are being reported will be
    /// off the coordinator's books when it looks at a request for more, unless it cannot record at the moment.
    pub(super) fn in_hand(&self) -> usize {
        let reporting = if self.record_outage.is_on() { self.reporting.len() } else { 0 };
        self.counting.len() + self.counted.len() + reporting
    }

    /// What is held. What is counted comes first: where not all may be held any more, it is.
    pub(super) fn leases(&self) -> Vec<Lease> {
        let counted = self.reporting.iter().chain(&self.counted).map(|count| count.lease);
        counted.chain(self.counting.values().copied()).collect()
    }
}
