//! What the coordinator's answers change.

use domain::{Lease, LeaseReply, Renewal, Welcome};
use tokio::time::Instant;
use tracing::info;

use super::{Answer, LoopEvent, Membership, WorkerError, WorkerLoop};
use crate::coordinator::CoordinatorError;
use crate::outage::GaveUp;
use crate::pool::Pool;

impl<P: Pool> WorkerLoop<P> {
    /// Takes in what a call has brought.
    pub(super) fn take(&mut self, Answer { due, event }: Answer) -> Result<(), WorkerError> {
        let result = match event {
            LoopEvent::Registered(result) => {
                self.membership = Membership::None;
                result.map(|welcome| self.welcome(welcome))
            }
            LoopEvent::Leased(result) => {
                self.leasing = false;
                result.map(|reply| self.leased(reply))
            }
            LoopEvent::Reported(Ok(verdicts)) => {
                self.summary.units += self.reporting.judged(&verdicts);
                Ok(())
            }
            LoopEvent::Reported(Err(CoordinatorError::Unavailable(why))) => {
                self.ask_whether_it_answers();
                return Ok(self.reporting.not_recorded(due, &why)?);
            }
            LoopEvent::Reported(Err(error)) => {
                self.reporting.failed();
                Err(error)
            }
            LoopEvent::Renewed(result) => {
                self.renewing = false;
                result.map(|Renewal { lost, finished, drain }| {
                    // Who still counts what others have counted asks for no more units, and hears it here.
                    self.summary.finished |= finished;
                    if !finished {
                        self.held.log_lost(&lost, self.reporting.leases());
                    }
                    if drain {
                        self.asked_to_drain = Some("the operator wishes it");
                    }
                })
            }
        };
        match result {
            Ok(()) => self.outage.over(),
            Err(CoordinatorError::Unavailable(why)) => {
                let failed = self.outage.failed(due, &why);
                self.unless_it_finishes(failed)?;
            }
            Err(CoordinatorError::Unregistered) => {
                if matches!(self.membership, Membership::Member { .. }) {
                    self.membership = Membership::None;
                }
            }
            Err(CoordinatorError::OtherRun) => return Err(WorkerError::OtherRun),
            Err(CoordinatorError::Refused(why)) => return Err(WorkerError::Refused(why)),
        }
        Ok(())
    }

    /// A report was in vain: whether the coordinator is away or cannot record, a renewal tells.
    fn ask_whether_it_answers(&mut self) {
        if let Membership::Member { renew_next, .. } = &mut self.membership
            && !self.reporting.is_failing()
        {
            *renew_next = Instant::now();
        }
    }

    /// Goes on although it would give up, where it is to finish what it holds and there is something left of that.
    fn unless_it_finishes(&self, failed: Result<(), GaveUp>) -> Result<(), WorkerError> {
        match failed {
            Err(_) if self.config.finishes_when_lost && !self.held.is_empty() => Ok(()),
            other => Ok(other?),
        }
    }

    fn welcome(&mut self, Welcome { worker, lease_time, leases, .. }: Welcome) {
        self.former = Some(worker);
        let renew_every = lease_time / 6;
        self.membership =
            Membership::Member { worker, renew_every, renew_next: Instant::now() + renew_every };
        info!(%worker, kernel = %self.config.kernel.name(), again = leases.len(), "registered");
        self.lent(leases);
    }

    fn leased(&mut self, reply: LeaseReply) {
        match reply {
            LeaseReply::Finished => self.summary.finished = true,
            LeaseReply::Granted(leases) => {
                self.lent(leases);
                self.held.set_full(self.reporting.held());
            }
        }
    }

    /// Takes what it is lent. What is held already (its lease had expired while the network was cut) is counted once, and
    /// reported under the later token, once more if need be where it is being reported. The check of a count that is still
    /// being reported is another variant, and counted too. A worker that drains begins nothing: it gives back what it does
    /// not hold, perhaps what it gave back itself before it heard that it is lent.
    fn lent(&mut self, leases: Vec<Lease>) {
        let units = self.plan.units();
        let leases = leases.into_iter().filter(|lease| lease.unit.0 < units);
        let to_count = self.reporting.update_tokens(self.held.update_tokens(leases));
        if self.drains_until.is_some() {
            return self.give_back(to_count);
        }
        for lease in to_count {
            if self.held.add(lease) {
                self.counting.start(lease);
            }
        }
    }
}
