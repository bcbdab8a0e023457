//! Requests for units that wait until units are open, at most one for each worker.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use domain::{LeaseReply, WorkerId};

use super::inbox::{CallError, LeaseCall};
use super::{Keeper, TICK};

/// Maximum number of requests without success in one round. The other requests come first in the next round.
const MAX_FAILED_REQUESTS: usize = 100;

/// Approximate number of units lent in one round, in which no other request is handled. The remaining workers come
/// first in the next round.
pub(super) const MAX_LEASES_PER_ROUND: usize = 20_000;

/// The requests that wait.
#[derive(Default)]
pub(super) struct Waiting {
    /// Their workers, in the order of the next attempts.
    line: VecDeque<WorkerId>,
    requests: HashMap<WorkerId, WaitingRequest>,
    /// True if the last round ended early because it had lent enough.
    has_more: bool,
    /// Time of the next attempt for all requests, which also ends requests that waited long enough.
    next_look: Duration,
}

/// A request for units that waits until some open, or until a time by the keeper's clock.
struct WaitingRequest {
    call: LeaseCall,
    until: Duration,
}

impl Waiting {
    fn add(&mut self, request: WaitingRequest) {
        let worker = request.call.worker;
        match self.requests.insert(worker, request) {
            // A worker that asks again does not wait for the answer to its earlier request.
            Some(former) => drop(former.call.reply.send(Ok(LeaseReply::Granted(Vec::new())))),
            None => self.line.push_back(worker),
        }
    }

    /// How long the keeper may wait before the next attempt.
    pub fn rest(&self) -> Duration {
        if self.has_more { Duration::ZERO } else { TICK }
    }

    /// Tries all requests again in the next round.
    pub fn look_soon(&mut self) {
        self.next_look = Duration::ZERO;
    }

    fn next(&mut self) -> Option<WaitingRequest> {
        self.requests.remove(&self.line.pop_front()?)
    }

    /// Answers all requests with this error.
    pub fn refuse(&mut self, error: &CallError) {
        self.line.clear();
        self.requests.drain().for_each(|(_, request)| drop(request.call.reply.send(Err(error.clone()))));
    }
}

impl Keeper {
    /// Adds a request for units. A repeated request keeps the place of the worker's earlier request.
    pub(super) fn ask(&mut self, call: LeaseCall) {
        match self.core.check_owner(call.worker, &call.owner) {
            Ok(()) => {
                let until = self.clock.elapsed().saturating_add(call.wait);
                self.waiting.add(WaitingRequest { call, until });
            }
            Err(refusal) => {
                call.reply.send(Err(refusal.into())).ok();
            }
        }
    }

    /// Lends to the waiting workers, and answers requests that waited long enough.
    pub(super) fn serve_waiting(&mut self) {
        let (now, clock) = (self.clock.now(), self.clock.elapsed());
        let has_ended = self.is_answered().unwrap_or_else(|withheld| {
            self.waiting.refuse(&withheld);
            true
        });
        let looks_at_all = has_ended || clock >= self.waiting.next_look;
        if looks_at_all {
            self.waiting.next_look = clock + TICK;
        }
        let (mut in_vain, mut lent) = (0, 0);
        self.waiting.has_more = false;
        for _ in 0..self.waiting.line.len() {
            self.waiting.has_more = lent >= MAX_LEASES_PER_ROUND;
            if self.waiting.has_more || (in_vain == MAX_FAILED_REQUESTS && !looks_at_all) {
                break;
            }
            let Some(waiting) = self.waiting.next() else { break };
            let LeaseCall { worker, want, reply, .. } = &waiting.call;
            if reply.is_closed() {
                continue;
            }
            let may_lend = in_vain < MAX_FAILED_REQUESTS && self.core.may_lend();
            let answer = if has_ended {
                Ok(LeaseReply::Finished)
            } else if !may_lend && clock < waiting.until {
                self.waiting.add(waiting);
                continue;
            } else {
                match self.core.lease(now, *worker, *want) {
                    Ok(leases) if leases.is_empty() && clock < waiting.until => {
                        in_vain += 1;
                        self.waiting.add(waiting);
                        continue;
                    }
                    Ok(leases) => {
                        lent += leases.len();
                        Ok(LeaseReply::Granted(leases))
                    }
                    Err(refusal) => Err(refusal.into()),
                }
            };
            waiting.call.reply.send(answer).ok();
        }
    }
}
