//! The requests for units, which wait until some open: one of each worker.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use domain::{LeaseReply, WorkerId};

use super::inbox::{CallError, LeaseCall};
use super::{Keeper, TICK};

/// So many waiting requests for which nothing is found are looked at in one round: the others have their turn in the next.
const ASKED_IN_VAIN: usize = 100;

/// About so many units are lent in one round, in which nobody is heard: who waits for more has his turn in the next.
pub(super) const LENT_IN_A_ROUND: usize = 20_000;

/// The requests that wait.
#[derive(Default)]
pub(super) struct Waiting {
    /// Whose they are, in the order in which they are looked at next.
    line: VecDeque<WorkerId>,
    requests: HashMap<WorkerId, WaitingRequest>,
    /// Whether the last round ended before all were looked at, because it had lent enough.
    has_more: bool,
    /// When all of them are looked at again, for those that have waited long enough.
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
            // Whoever asks anew does not wait for the answer to what he has asked before.
            Some(former) => drop(former.call.reply.send(Ok(LeaseReply::Granted(Vec::new())))),
            None => self.line.push_back(worker),
        }
    }

    /// For how long the keeper may wait until it looks at them again.
    pub fn rest(&self) -> Duration {
        if self.has_more { Duration::ZERO } else { TICK }
    }

    /// Has all of them looked at in the next round.
    pub fn look_soon(&mut self) {
        self.next_look = Duration::ZERO;
    }

    fn next(&mut self) -> Option<WaitingRequest> {
        self.requests.remove(&self.line.pop_front()?)
    }

    /// Answers all of them so.
    pub fn refuse(&mut self, error: &CallError) {
        self.line.clear();
        self.requests.drain().for_each(|(_, request)| drop(request.call.reply.send(Err(error.clone()))));
    }
}

impl Keeper {
    /// Somebody asks for units: he waits with the others, where he was if he has asked before.
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

    /// Lends to those who wait, and answers those who have waited for long enough.
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
            self.waiting.has_more = lent >= LENT_IN_A_ROUND;
            if self.waiting.has_more || (in_vain == ASKED_IN_VAIN && !looks_at_all) {
                break;
            }
            let Some(waiting) = self.waiting.next() else { break };
            let LeaseCall { worker, want, reply, .. } = &waiting.call;
            if reply.is_closed() {
                continue;
            }
            let may_lend = in_vain < ASKED_IN_VAIN && self.core.may_lend();
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
