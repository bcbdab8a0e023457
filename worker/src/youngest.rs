//! Which of several addresses an operator, an observer or a follower turns to: as a worker does, to the youngest coordinator.

use std::time::Duration;

use proto::{RunStatus, Term, v1};
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout_at};

use crate::boxed::Boxed;
use crate::remote::Remote;

/// For so long an answer is waited for, and for so long once another one has come.
const PATIENCE: [Duration; 2] = [Duration::from_secs(3), Duration::from_secs(1)];

/// A coordinator that is left alone, because another one has the run's highest term too, or a higher one.
#[derive(Clone, Debug)]
pub struct LeftAlone {
    /// Its address.
    pub address: String,
    /// Its term.
    pub term: Term,
    /// Whether its term is the highest: the run has forked.
    pub is_rival: bool,
}

/// What an address has answered.
struct Told {
    site: usize,
    plan: String,
    term: Term,
}

impl Remote {
    /// Asks all addresses for their coordinator's term, which whoever may read the status may, and calls the youngest from now on; gives
    /// those that are left alone. Nothing where there is one address only, or nobody has said a term in time.
    pub fn call_youngest(&self) -> Boxed<'_, Option<Vec<LeftAlone>>> {
        Box::pin(async move {
            if self.addresses() == 1 {
                return None;
            }
            let mut told = self.terms().await;
            told.sort_by_key(|told| told.site);
            let plan = told.first()?.plan.clone();
            told.retain(|told| told.plan == plan);
            let Told { site, term, .. } = *told.iter().rev().max_by_key(|told| told.term.precedence())?;
            self.sites().call(site);
            let others = told.iter().filter(|told| told.term.coordinator != term.coordinator);
            let left_alone = |told: &Told| LeftAlone {
                address: self.sites().address(told.site).to_owned(),
                term: told.term,
                is_rival: told.term.number == term.number,
            };
            Some(others.map(left_alone).collect())
        })
    }

    /// The terms of those that answer in time.
    async fn terms(&self) -> Vec<Told> {
        let mut asked = JoinSet::new();
        for site in 0..self.addresses() {
            let mut client = self.client(site);
            asked.spawn(async move {
                let reply = client.status(v1::StatusRequest {}).await.ok()?.into_inner();
                let plan = reply.fingerprint.clone();
                let term = RunStatus::try_from(reply).ok()?.term?;
                (!Term::is_too_far(term.number, 0)).then_some(Told { site, plan, term })
            });
        }
        let (mut told, mut until) = (Vec::new(), Instant::now() + PATIENCE[0]);
        while let Ok(Some(answer)) = timeout_at(until, asked.join_next()).await {
            if let Ok(Some(answer)) = answer {
                told.push(answer);
                until = until.min(Instant::now() + PATIENCE[1]);
            }
        }
        told
    }
}
