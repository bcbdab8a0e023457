//! What the coordinator's answers change.

use std::time::Duration;

use proto::{Lease, LeaseReply, Renewal, UnitCount, Verdict, Welcome};
use tokio::time::Instant;
use tracing::{info, warn};

use super::{LoopEvent, Membership, WorkerError, WorkerLoop, task};
use crate::coordinator::CoordinatorError;
use crate::outage::GaveUp;
use crate::pool::Pool;

/// Counts that could not be judged are reported again after this time.
const AGAIN: Duration = Duration::from_secs(1);

impl<P: Pool> WorkerLoop<P> {
    /// Takes in what a call has brought.
    pub(super) fn take(&mut self, event: LoopEvent) -> Result<(), WorkerError> {
        let result = match event {
            LoopEvent::Registered(result) => {
                self.membership = Membership::None;
                result.map(|welcome| self.welcome(welcome))
            }
            LoopEvent::Leased(result) => {
                self.leasing = false;
                result.map(|reply| self.leased(reply))
            }
            LoopEvent::Reported(result) => {
                let counts = std::mem::take(&mut self.reporting);
                match result {
                    Ok(verdicts) => {
                        self.record_outage.over();
                        self.reported(counts, &verdicts);
                        Ok(())
                    }
                    Err(CoordinatorError::Unavailable(why)) => {
                        self.counted.extend(counts);
                        let failed = self.record_outage.failed(&why);
                        return self.unless_it_finishes(failed);
                    }
                    Err(error) => {
                        self.counted.extend(counts);
                        Err(error)
                    }
                }
            }
            LoopEvent::Renewed(result) => {
                self.renewing = false;
                result.map(|Renewal { lost, finished, drain }| {
                    // Who still counts what others have counted asks for no more units, and hears it here.
                    self.summary.finished |= finished;
                    if !finished && !lost.is_empty() {
                        warn!(units = lost.len(), "leases lost; their counts are still welcome");
                    }
                    if drain {
                        self.drain("the operator wishes it");
                    }
                })
            }
        };
        match result {
            Ok(()) => self.outage.over(),
            Err(CoordinatorError::Unavailable(why)) => {
                let failed = self.outage.failed(&why);
                self.unless_it_finishes(failed)?;
            }
            Err(CoordinatorError::Unregistered) => {
                if matches!(self.membership, Membership::Member { .. }) {
                    self.membership = Membership::None;
                }
            }
            Err(CoordinatorError::Refused(why)) => return Err(WorkerError::Refused(why)),
        }
        Ok(())
    }

    /// Goes on although it would give up, where it is to finish what it holds and there is something left of that.
    fn unless_it_finishes(&self, failed: Result<(), GaveUp>) -> Result<(), WorkerError> {
        match failed {
            Err(_) if self.config.finishes_when_lost && !self.counting.is_empty() => Ok(()),
            other => Ok(other?),
        }
    }

    fn welcome(&mut self, Welcome { worker, lease_time, leases, .. }: Welcome) {
        self.former = Some(worker);
        let renew_every = lease_time / 6;
        self.membership =
            Membership::Member { worker, renew_every, renew_next: Instant::now() + renew_every };
        info!(%worker, kernel = %self.config.kernel.name(), again = leases.len(), "registered");
        leases.into_iter().for_each(|lease| self.lent(lease));
    }

    fn leased(&mut self, reply: LeaseReply) {
        match reply {
            LeaseReply::Finished => self.summary.finished = true,
            // Asked for before it drained, and perhaps what it gave back itself.
            LeaseReply::Granted(leases) if self.drains_until.is_some() => self.give_back(leases),
            LeaseReply::Granted(leases) => {
                leases.into_iter().for_each(|lease| self.lent(lease));
                self.full = self.in_hand();
            }
        }
    }

    /// Counts a unit that it is lent. What comes twice (its lease had expired while the network was cut) is counted once, and
    /// reported under the later token; the check of a count that is still being reported is another variant, and counted too.
    fn lent(&mut self, lease: Lease) {
        if lease.unit.0 >= self.plan.units() {
            return;
        }
        let is_it = |count: &UnitCount| task(&count.lease) == task(&lease);
        if let Some(held) = self.counting.get_mut(&task(&lease)) {
            held.token = lease.token;
        } else if let Some(count) = self.counted.iter_mut().find(|count| is_it(count)) {
            count.lease.token = lease.token;
        } else if !self.reporting.iter().any(is_it) {
            self.counting.insert(task(&lease), lease);
            self.pool.count(lease);
        }
    }

    fn reported(&mut self, counts: Vec<UnitCount>, verdicts: &[Verdict]) {
        for (count, verdict) in counts.into_iter().zip(verdicts) {
            match verdict {
                Verdict::Recorded | Verdict::Known => self.summary.units += 1,
                Verdict::Conflict => {
                    warn!(unit = %count.lease.unit, "another worker counted this unit differently")
                }
                Verdict::Unwanted => {
                    warn!(unit = %count.lease.unit, "the coordinator does not know this unit")
                }
                Verdict::Later => {
                    self.counted.push(count);
                    self.report_not_before = Some(Instant::now() + AGAIN);
                }
            }
        }
    }
}
