//! The requests for units, which wait until some open.

use std::time::Duration;

use proto::LeaseReply;

use super::ending::Stage;
use super::inbox::LeaseCall;
use super::{Keeper, TICK};

/// So many waiting requests for which nothing is found are looked at in one round: the others have their turn in the next.
const ASKED_IN_VAIN: usize = 100;

/// A request for units that waits until some open, or until a time by the keeper's clock.
pub(super) struct WaitingWorker {
    pub request: LeaseCall,
    until: Duration,
}

impl Keeper {
    /// Somebody asks for units: he waits with the others.
    pub(super) fn ask(&mut self, request: LeaseCall) {
        match self.core.check_owner(request.worker, &request.owner) {
            Ok(()) => {
                let until = self.clock.now().saturating_add(request.wait);
                self.waiting.push_back(WaitingWorker { request, until });
            }
            Err(refusal) => {
                request.reply.send(Err(refusal.into())).ok();
            }
        }
    }

    /// Lends to those who wait, and answers those who have waited for long enough.
    pub(super) fn serve_waiting(&mut self) {
        let (now, clock) = (self.now(), self.clock.now());
        let has_ended = matches!(self.stage, Stage::Ended(_));
        let looks_at_all = has_ended || clock >= self.look_next;
        if looks_at_all {
            self.look_next = clock + TICK;
        }
        let mut in_vain = 0;
        for _ in 0..self.waiting.len() {
            if in_vain == ASKED_IN_VAIN && !looks_at_all {
                break;
            }
            let Some(waiting) = self.waiting.pop_front() else { break };
            let LeaseCall { worker, want, reply, .. } = &waiting.request;
            if reply.is_closed() {
                continue;
            }
            let may_lend = in_vain < ASKED_IN_VAIN && self.core.may_lend(now);
            let answer = if has_ended {
                Ok(LeaseReply::Finished)
            } else if !may_lend && clock < waiting.until {
                self.waiting.push_back(waiting);
                continue;
            } else {
                match self.core.lease(now, *worker, *want) {
                    Ok(leases) if leases.is_empty() && clock < waiting.until => {
                        in_vain += 1;
                        self.waiting.push_back(waiting);
                        continue;
                    }
                    Ok(leases) => Ok(LeaseReply::Granted(leases)),
                    Err(refusal) => Err(refusal.into()),
                }
            };
            waiting.request.reply.send(answer).ok();
        }
    }
}
