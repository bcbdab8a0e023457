//! Selects the address for an operator, an observer or a follower: the coordinator with the highest term, as for a
//! worker.

use domain::{RunId, RunStatus, Term};
use proto::v1;
use queens::Classified;
use queens::plan::Fingerprint;
use thiserror::Error;

use super::Remote;

/// A coordinator that is left alone: another one has a higher term of the run, or the same.
#[derive(Clone, Debug)]
pub struct LeftAlone {
    /// Its address.
    pub address: String,
    /// Its term.
    pub term: Term,
    /// Whether its term is the highest: the run has forked.
    pub is_rival: bool,
}

/// Coordinators of two runs answer at the addresses: their terms say nothing about each other.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "{0} and {1} serve two different runs: name the addresses of one of them only, as in --coordinator {0}"
)]
pub struct TwoRuns(pub String, pub String);

impl Classified for TwoRuns {}

/// The reply of an address.
struct Served {
    index: usize,
    plan: Fingerprint,
    run: RunId,
    term: Term,
}

/// The address with the highest term, if any answers. Fails with two addresses that serve two runs.
fn highest(served: &[Served]) -> Result<Option<&Served>, [usize; 2]> {
    let Some(first) = served.first() else { return Ok(None) };
    let is_other_run = |served: &&Served| (&served.plan, served.run) != (&first.plan, first.run);
    match served.iter().find(is_other_run) {
        Some(other) => Err([first.index, other.index]),
        None => Ok(served.iter().rev().max_by_key(|served| served.term.number)),
    }
}

impl Remote {
    /// Asks all addresses for their coordinator's term, and calls the highest from now on. Returns the coordinators
    /// that are not called. Returns none if there is only one address, or if no term arrives in time.
    ///
    /// # Errors
    /// Two runs are served there: neither is chosen.
    pub async fn call_highest_term(&self) -> Result<Option<Vec<LeftAlone>>, TwoRuns> {
        if self.addresses() == 1 {
            return Ok(None);
        }
        let served = self.served().await;
        let address = |index| self.addresses.address(index);
        let found = highest(&served).map_err(|[one, other]| TwoRuns(address(one), address(other)))?;
        let Some(&Served { index, term, .. }) = found else { return Ok(None) };
        self.addresses.call(index);
        let others = served.iter().filter(|served| served.term.coordinator != term.coordinator);
        let left_alone = |served: &Served| LeftAlone {
            address: address(served.index),
            term: served.term,
            is_rival: served.term.number == term.number,
        };
        Ok(Some(others.map(left_alone).collect()))
    }

    /// The answers that arrive in time, in the order of the addresses. The right to read the status suffices.
    async fn served(&self) -> Vec<Served> {
        self.ask_all(|index, mut client| async move {
            let reply = client.status(v1::StatusRequest {}).await.ok()?.into_inner();
            let RunStatus { fingerprint: plan, run, term, .. } = RunStatus::try_from(reply).ok()?;
            Some(Served { index, plan, run: run?, term: term? })
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    use domain::CoordinatorId;

    use super::*;

    fn served(index: usize, plan: &str, run: u128, number: u64) -> Served {
        let term = Term { number, coordinator: CoordinatorId(index as u128), proof: 0 };
        Served { index, plan: plan.to_owned().into(), run: RunId(run), term }
    }

    fn chosen(answers: &[Served]) -> Result<Option<usize>, [usize; 2]> {
        highest(answers).map(|found| found.map(|served| served.index))
    }

    #[test]
    fn highest_term_is_chosen_within_one_run_only() {
        let [own, other] = [1, 2];
        assert_eq!(chosen(&[]), Ok(None));
        assert_eq!(
            chosen(&[served(0, "a", own, 2), served(1, "a", own, 3), served(2, "a", own, 1)]),
            Ok(Some(1))
        );
        assert_eq!(chosen(&[served(0, "a", own, 3), served(2, "a", other, 1)]), Err([0, 2]));
        assert_eq!(chosen(&[served(0, "a", own, 3), served(1, "b", own, 1)]), Err([0, 1]), "of two plans");
    }
}
