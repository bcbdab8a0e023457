//! Which of several addresses an operator, an observer or a follower turns to: as a worker does, to the youngest coordinator.

use domain::{RunId, RunStatus, Term};
use proto::v1;
use queens::Classified;
use queens::plan::Fingerprint;
use thiserror::Error;

use super::Remote;

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

/// Coordinators of two runs answer at the addresses: what one of them is told says nothing to the other one.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "{0} and {1} serve two different runs: name the addresses of one of them only, as in --coordinator {0}"
)]
pub struct TwoRuns(pub String, pub String);

impl Classified for TwoRuns {}

/// What an address has answered.
struct Served {
    index: usize,
    plan: Fingerprint,
    run: RunId,
    term: Term,
}

impl Served {
    fn is_of_another_run_than(&self, other: &Served) -> bool {
        self.plan != other.plan || self.run != other.run
    }
}

/// Of those that have answered, in the order of their addresses, the one whom everybody turns to, if there is one.
///
/// # Errors
/// Two of them are of two runs: their terms say nothing about each other.
fn highest(told: &[Served]) -> Result<Option<&Served>, [usize; 2]> {
    let Some(of_run) = told.first() else { return Ok(None) };
    if let Some(other) = told.iter().find(|told| told.is_of_another_run_than(of_run)) {
        let [first, second] = [of_run.index.min(other.index), of_run.index.max(other.index)];
        return Err([first, second]);
    }
    Ok(told.iter().rev().max_by_key(|told| told.term.number))
}

impl Remote {
    /// Asks all addresses for their coordinator's term, which whoever may read the status may, and calls the youngest from now on; gives
    /// those that are left alone. Nothing where there is one address only, or nobody has said a term in time.
    ///
    /// # Errors
    /// Two runs are served there: none of them is chosen.
    pub async fn call_highest_term(&self) -> Result<Option<Vec<LeftAlone>>, TwoRuns> {
        if self.addresses() == 1 {
            return Ok(None);
        }
        let told = self.served().await;
        let address = |index| self.addresses.address(index).to_owned();
        let found = highest(&told).map_err(|[one, other]| TwoRuns(address(one), address(other)))?;
        let Some(&Served { index, term, .. }) = found else { return Ok(None) };
        self.addresses.call(index);
        let others = told.iter().filter(|told| told.term.coordinator != term.coordinator);
        let left_alone = |told: &Served| LeftAlone {
            address: address(told.index),
            term: told.term,
            is_rival: told.term.number == term.number,
        };
        Ok(Some(others.map(left_alone).collect()))
    }

    /// What those say that answer in time.
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

    fn told(index: usize, plan: &str, run: u128, number: u64) -> Served {
        let term = Term { number, coordinator: CoordinatorId(index as u128), proof: 0 };
        Served { index, plan: plan.to_owned().into(), run: RunId(run), term }
    }

    fn chosen(told: &[Served]) -> Result<Option<usize>, [usize; 2]> {
        highest(told).map(|found| found.map(|told| told.index))
    }

    #[test]
    fn of_one_run_the_youngest_is_turned_to_and_of_two_runs_none() {
        let [own, other] = [1, 2];
        assert_eq!(chosen(&[]), Ok(None));
        assert_eq!(chosen(&[told(0, "a", own, 2), told(1, "a", own, 3), told(2, "a", own, 1)]), Ok(Some(1)));
        assert_eq!(chosen(&[told(0, "a", own, 3), told(2, "a", other, 1)]), Err([0, 2]));
        assert_eq!(chosen(&[told(0, "a", own, 3), told(1, "b", own, 1)]), Err([0, 1]), "of two plans");
    }
}
