//! What a worker asks of the coordinator, and when.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use domain::{Lease, Owner, Registration, Report};
use tokio::time::Instant;

use super::{Answer, LoopEvent, Membership, WorkerLoop};
use crate::coordinator::{CoordinatorError, Lender};
use crate::pool::Pool;

/// How long a request for units waits at the coordinator.
const LEASE_WAIT: Duration = Duration::from_secs(20);

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
                let register = move |c: Arc<dyn Lender>| async move { c.register(registration).await };
                self.call(Duration::ZERO, register, LoopEvent::Registered);
            }
            return;
        };
        let now = Instant::now();
        if let Some(counts) = self.reporting.next_report() {
            let report = Report { worker, counts };
            let report = move |c: Arc<dyn Lender>| async move { c.report(report).await };
            self.call(Duration::ZERO, report, LoopEvent::Reported);
        }
        if !self.leasing
            && self.drains_until.is_none()
            && let Some(want) =
                self.held.wanted(self.reporting.held(), self.counting.target(), self.counting.least())
        {
            self.leasing = true;
            let lease = move |c: Arc<dyn Lender>| async move { c.lease(worker, want, LEASE_WAIT).await };
            self.call(LEASE_WAIT, lease, LoopEvent::Leased);
        }
        if !self.renewing && now >= renew_next {
            self.renewing = true;
            self.held.give_up(&self.counting.find_hung(renew_every));
            self.membership = Membership::Member { worker, renew_every, renew_next: now + renew_every };
            let uncountable = self.held.take_uncountable();
            self.give_back(uncountable);
            let held = self.leases();
            let renew = move |c: Arc<dyn Lender>| async move { c.renew(worker, held).await };
            self.call(Duration::ZERO, renew, LoopEvent::Renewed);
        }
    }

    /// Makes a call in a task of its own, which may wait for so long at the coordinator.
    fn call<T: Send + 'static, R: Future<Output = Result<T, CoordinatorError>> + Send>(
        &self,
        wait: Duration,
        call: impl FnOnce(Arc<dyn Lender>) -> R + Send + 'static,
        event: fn(Result<T, CoordinatorError>) -> LoopEvent,
    ) {
        let (coordinator, events) = (Arc::clone(&self.coordinator), self.events.clone());
        let due = Instant::now() + wait;
        tokio::spawn(async move {
            let result = call(coordinator).await;
            // The worker may have left meanwhile.
            events.send(Answer { due, event: event(result) }).ok();
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

    /// What is held. What is counted comes first: where not all may be held any more, it is.
    pub(super) fn leases(&self) -> Vec<Lease> {
        self.reporting.leases().chain(self.held.leases()).collect()
    }
}
