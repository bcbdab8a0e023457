//! A coordinator reached over gRPC.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use domain::{
    Lease, LeaseReply, PolicyChange, PolicyInForce, Registration, Renewal, Report, RunStatus, Steering,
    Takeback, TakenBack, Verdict, Welcome, WorkerId,
};
use proto::{WireError, is_for_good, v1, verdicts_from_reply};
use tonic::{Code, Response, Status, Streaming};

use crate::address::AddressError;
use crate::coordinator::{CoordinatorError, Lender};
use crate::credentials::Credentials;
use crate::places::{Client, Place, Places};
use crate::refusal::{Listener, NO_COORDINATOR, SPEAKS_HTTP_1, SPEAKS_TLS, innermost, listener, tls_refusal};
use crate::sites::Sites;

/// For so long an answer is waited for at most.
const PATIENCE: Duration = Duration::from_secs(30);

/// However soon it is given up, a call has this time; where there are several addresses more, since one alone may be there, and be slow.
const LEAST_PATIENCE: Duration = Duration::from_secs(1);
const LEAST_OF_SEVERAL: Duration = Duration::from_secs(5);

/// A coordinator at an address, or at one of several. Connects when it is first called, and again whenever that is
/// needed; where one address does not answer, the next is called.
#[derive(Clone, Debug)]
pub struct Remote {
    places: Arc<Places>,
    sites: Arc<Sites>,
    /// A call that takes this much longer than it was allowed to wait has been lost.
    patience: Duration,
}

impl Remote {
    /// The coordinator at URLs like `http://host:7227`; a bare `host:7227` is understood. There is at least one.
    ///
    /// # Errors
    /// If one is no such URL, what is secret would be readable on the way there, or the keys are of no use.
    pub fn new<A: AsRef<str>>(addresses: &[A], credentials: &Credentials) -> Result<Self, AddressError> {
        let places = addresses.iter().map(|address| Place::new(address.as_ref(), credentials));
        let (places, urls): (Vec<_>, Vec<_>) = places.collect::<Result<Vec<_>, _>>()?.into_iter().unzip();
        if places.is_empty() {
            return Err(AddressError::Malformed(String::new()));
        }
        Ok(Self {
            places: Arc::new(Places::new(places)),
            sites: Arc::new(Sites::new(urls)),
            patience: PATIENCE,
        })
    }

    /// The same for who gives up after that time: within it each of the addresses is called.
    #[must_use]
    pub fn giving_up_after(self, limit: Option<Duration>) -> Self {
        let each = limit.map_or(PATIENCE, |limit| limit / self.addresses() as u32);
        let least = if self.addresses() > 1 { LEAST_OF_SEVERAL } else { LEAST_PATIENCE };
        Self { patience: each.clamp(least, PATIENCE), ..self }
    }

    /// Shows these credentials from the next call on, as all do that call over the same connections; calls that are under way
    /// end as they were begun.
    ///
    /// # Errors
    /// As [`new`](Self::new) has them; then it goes on with those that it has.
    pub fn show(&self, credentials: &Credentials) -> Result<(), AddressError> {
        let place = |site| Ok(Place::new(self.sites.address(site), credentials)?.0);
        self.places.replace((0..self.addresses()).map(place).collect::<Result<_, _>>()?);
        Ok(())
    }

    /// Waits until a call is refused for a reason that other credentials may mend, or has been since this was last waited for.
    pub async fn refused(&self) {
        self.places.refused().await;
    }

    /// Which of the addresses is called.
    pub(crate) fn sites(&self) -> &Sites {
        &self.sites
    }

    /// How many addresses there are.
    pub fn addresses(&self) -> usize {
        self.sites.len()
    }

    /// The address that is called: the last one that answered.
    pub fn address(&self) -> &str {
        self.sites.address(self.sites.current())
    }

    /// A way of its own for another worker, over the same connections: what one of them is refused, and where it turns then,
    /// does not concern the others.
    #[must_use]
    pub fn beside(&self) -> Self {
        Self { sites: Arc::new(self.sites.beside()), ..self.clone() }
    }

    /// A way to one of the addresses.
    pub(crate) fn client(&self, site: usize) -> Client {
        self.places.client(site)
    }

    /// Awaits a call to one of them. Where it fails another one is called from now on.
    pub(crate) async fn answer<T>(
        &self,
        site: usize,
        wait: Duration,
        call: impl Future<Output = Result<Response<T>, Status>>,
    ) -> Result<T, CoordinatorError> {
        self.reply(site, wait, call).await.map_err(|error| self.sites.failed(site, error))
    }

    /// Awaits a call to one of them, but not for ever, and sorts its errors by what to do about them.
    pub(crate) async fn reply<T>(
        &self,
        site: usize,
        wait: Duration,
        call: impl Future<Output = Result<Response<T>, Status>>,
    ) -> Result<T, CoordinatorError> {
        let error = match tokio::time::timeout(wait + self.patience, call).await {
            Ok(Ok(response)) => {
                self.sites.answered(site);
                return Ok(response.into_inner());
            }
            Ok(Err(status)) => self.sort(site, &status),
            Err(_) => return Err(CoordinatorError::Unavailable("no answer in time".into())),
        };
        if matches!(error, CoordinatorError::Unavailable(_))
            && let Some(address) = self.places.plain(site)
            && let Some(listener) = listener(&address).await
        {
            let why = match listener {
                Listener::Tls => SPEAKS_TLS,
                Listener::Http1 => SPEAKS_HTTP_1,
            };
            return Err(self.refused_for_now(site, why.into()));
        }
        Err(error)
    }

    /// What one of them says next in a call that goes on. Where that ends another one is called from now on.
    pub(crate) async fn next<M, T>(
        &self,
        site: usize,
        replies: &mut Streaming<M>,
    ) -> Result<T, CoordinatorError>
    where
        T: TryFrom<M, Error = WireError>,
    {
        let reply = match replies.message().await {
            Ok(Some(reply)) => T::try_from(reply).map_err(not_understood),
            Ok(None) => Err(CoordinatorError::Unavailable("the coordinator has ended".into())),
            Err(status) => Err(self.sort(site, &status)),
        };
        reply.map_err(|error| self.sites.failed(site, error))
    }

    /// What to do about a call to one of them that has failed. What the coordinator itself means for good stays a refusal; the rest
    /// may be a clock, keys that are being replaced, or what stands in for a coordinator that is away, as a balancer does.
    fn sort(&self, site: usize, status: &Status) -> CoordinatorError {
        if let Some(refusal) = tls_refusal(status) {
            return self.refused_for_now(site, refusal);
        }
        let cause = std::error::Error::source(status);
        let text = cause.map_or_else(|| status.message().to_owned(), innermost);
        match status.code() {
            Code::NotFound => CoordinatorError::Unregistered,
            Code::FailedPrecondition | Code::InvalidArgument => CoordinatorError::Refused(text),
            Code::PermissionDenied if is_for_good(status) => CoordinatorError::Refused(text),
            Code::Unauthenticated | Code::PermissionDenied => self.refused_for_now(site, text),
            Code::Unimplemented => self.refused_for_now(site, NO_COORDINATOR.into()),
            _ => CoordinatorError::Unavailable(text),
        }
    }

    /// One of them refuses in a way that may pass by itself, or with other credentials.
    fn refused_for_now(&self, site: usize, why: String) -> CoordinatorError {
        self.places.tell_of_refusal();
        self.sites.refused_for_now(site, why)
    }

    /// Where the run stands.
    ///
    /// # Errors
    /// If the coordinator cannot be reached, refuses, or answers what this release does not understand.
    pub async fn status(&self) -> Result<RunStatus, CoordinatorError> {
        let site = self.sites.current();
        let mut client = self.client(site);
        let reply = self.answer(site, Duration::ZERO, client.status(v1::StatusRequest {})).await?;
        RunStatus::try_from(reply).map_err(not_understood)
    }

    /// Takes counts back that the operator does not believe; gives their number, and where that is on disk.
    ///
    /// # Errors
    /// If the coordinator cannot be reached, refuses, or finds nothing of the kind.
    pub async fn retract(&self, takeback: Takeback) -> Result<TakenBack, CoordinatorError> {
        let site = self.sites.current();
        let mut client = self.client(site);
        let call = client.retract(v1::RetractRequest::from(takeback));
        Ok(self.answer(site, Duration::ZERO, call).await?.into())
    }

    /// Changes how the run is checked and copied; gives what holds from then on.
    ///
    /// # Errors
    /// If the coordinator cannot be reached, or refuses.
    pub async fn change_policy(&self, change: PolicyChange) -> Result<PolicyInForce, CoordinatorError> {
        let site = self.sites.current();
        let mut client = self.client(site);
        let call = client.change_policy(v1::ChangePolicyRequest::from(change));
        Ok(self.answer(site, Duration::ZERO, call).await?.into())
    }

    /// Has the run pause or go on, or a machine's workers leave; gives how many workers that concerns.
    ///
    /// # Errors
    /// If the coordinator cannot be reached, refuses, or has no worker of that machine.
    pub async fn steer(&self, steering: Steering) -> Result<u64, CoordinatorError> {
        let site = self.sites.current();
        let mut client = self.client(site);
        let call = client.steer(v1::SteerRequest::from(steering));
        Ok(self.answer(site, Duration::ZERO, call).await?.workers)
    }
}

#[async_trait]
impl Lender for Remote {
    async fn register(&self, registration: Registration) -> Result<Welcome, CoordinatorError> {
        self.join(registration).await
    }

    async fn lease(
        &self,
        worker: WorkerId,
        want: u32,
        wait: Duration,
    ) -> Result<LeaseReply, CoordinatorError> {
        let site = self.sites.current();
        let wait_ms = wait.as_millis().try_into().unwrap_or(u64::MAX);
        let request = v1::LeaseRequest { worker: worker.0, want, wait_ms };
        let mut client = self.client(site);
        let reply = self.answer(site, wait, client.lease(request)).await?.into();
        // What a coordinator lends that was left meanwhile is another one's to lend.
        Ok(if site == self.sites.current() { reply } else { LeaseReply::Granted(Vec::new()) })
    }

    async fn renew(&self, worker: WorkerId, held: Vec<Lease>) -> Result<Renewal, CoordinatorError> {
        let leases = held.into_iter().map(Into::into).collect();
        let request = v1::RenewRequest { worker: worker.0, leases };
        let site = self.sites.current();
        let mut client = self.client(site);
        Ok(self.answer(site, Duration::ZERO, client.renew(request)).await?.into())
    }

    async fn report(&self, report: Report) -> Result<Vec<Verdict>, CoordinatorError> {
        let request = v1::ReportRequest::from(report);
        let site = self.sites.current();
        let mut client = self.client(site);
        // Cut off it would be sent anew, perhaps for ever where a disk or a follower is slow: a renewal tells who is gone.
        let recording = PATIENCE.saturating_sub(self.patience);
        let reply = self.answer(site, recording, client.report(request)).await?;
        verdicts_from_reply(&reply).map_err(|error| self.sites.give_up_on(site, strange_answer(&error)))
    }

    async fn release(
        &self,
        worker: WorkerId,
        held: Vec<Lease>,
        leaving: bool,
    ) -> Result<(), CoordinatorError> {
        let leases = held.into_iter().map(Into::into).collect();
        let request = v1::ReleaseRequest { worker: worker.0, leases, leaving };
        let site = self.sites.current();
        let mut client = self.client(site);
        self.answer(site, Duration::ZERO, client.release(request)).await.map(|_| ())
    }
}

pub(crate) fn not_understood(error: WireError) -> CoordinatorError {
    CoordinatorError::Refused(strange_answer(&error))
}

fn strange_answer(error: &WireError) -> String {
    format!("the coordinator's answer is not understood: {error}; use the coordinator's release of diadem")
}

#[cfg(test)]
mod tests {
    use proto::for_good;

    use super::*;

    #[tokio::test]
    async fn a_refusal_that_is_meant_for_good_ends_who_was_taken_in_whatever_its_words_are() {
        let remote = Remote::new(&["http://127.0.0.1:1"], &Credentials::default()).unwrap();
        remote.sites.taken_in();
        let is_final = |status: &Status| matches!(remote.sort(0, status), CoordinatorError::Refused(why) if why == status.message());
        assert!(is_final(&for_good(Status::permission_denied("nobody of that name any more"))));
        for passing in
            [Status::permission_denied("no right to that"), Status::unauthenticated("another token")]
        {
            assert!(!is_final(&passing), "{passing}");
        }
    }
}
