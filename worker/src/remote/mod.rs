//! A coordinator reached over gRPC, at one of several addresses.

mod address_list;
mod address_source;
mod clients;
mod highest_term;
mod known_terms;
mod lender;
mod registration;
mod streams;

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use domain::{Explained, PolicyChange, PolicyInForce, RunStatus, Steering, Subject, Takeback, TakenBack};
use proto::{WireError, is_for_good, plan_from_reply, v1};
use queens::plan::Fingerprint;
use queens::{PlanSpec, UnitId};
use tokio::task::{JoinSet, spawn_blocking};
use tokio::time::timeout;
use tonic::{Code, Response, Status, Streaming};
use tracing::{info, warn};

use crate::address::AddressError;
use crate::coordinator::{CallResult, CoordinatorError};
use crate::credentials::Credentials;
use crate::refusal::{NO_COORDINATOR, innermost, tls_refusal, wrong_listener};
use address_list::AddressList;
use address_source::AddressSource;
use clients::{AddressClient, AddressClients, Client};
pub use highest_term::{LeftAlone, TwoRuns};
pub use registration::{Announced, fetch_plan};
pub use streams::{FollowStream, StatusStream};

/// Maximum waiting time for an answer.
const PATIENCE: Duration = Duration::from_secs(30);

/// Minimum time for a call, even if the caller gives up sooner.
const MIN_PATIENCE: Duration = Duration::from_secs(1);

/// The same with several addresses, because the only coordinator that answers may be slow.
const MIN_PATIENCE_OF_SEVERAL: Duration = Duration::from_secs(5);

/// How long a failed call waits for the file of addresses.
const READING_PATIENCE: Duration = Duration::from_secs(1);

/// The time in which all addresses must answer a simultaneous request.
const ASK_ALL_PATIENCE: Duration = Duration::from_secs(3);

/// A coordinator at an address, or at one of several. Connects with the first call, and again whenever that is needed. If one
/// address does not answer, the next is called.
#[derive(Clone, Debug)]
pub struct Remote {
    clients: Arc<AddressClients>,
    addresses: Arc<AddressList>,
    /// Where the addresses are read again, if they are in a file.
    source: Option<Arc<AddressSource>>,
    /// A call that takes this much longer than it was allowed to wait is lost.
    patience: Duration,
}

/// What a coordinator knows of a unit.
#[derive(Clone, Debug)]
pub struct ExplainedUnit {
    /// Its holders, and why it is still open.
    pub explained: Explained,
    /// The lines of the ledger about it, oldest first.
    pub lines: Vec<String>,
    /// The plan that numbers it, with its fingerprint.
    pub plan: (PlanSpec, Fingerprint),
}

type Grpc<T> = Result<Response<T>, Status>;

impl Remote {
    /// The coordinator at URLs like `http://host:7227`, or bare like `host:7227`. There is at least one.
    ///
    /// # Errors
    /// One is no such URL, a secret would be readable on the way there, or the keys are of no use.
    pub fn new<A: AsRef<str>>(addresses: &[A], credentials: &Credentials) -> Result<Self, AddressError> {
        let clients = addresses.iter().map(|address| AddressClient::new(address.as_ref(), credentials));
        let (clients, urls): (Vec<_>, Vec<_>) = clients.collect::<Result<Vec<_>, _>>()?.into_iter().unzip();
        if clients.is_empty() {
            return Err(AddressError::Malformed(String::new()));
        }
        let clients = Arc::new(AddressClients::new(clients, credentials.clone()));
        Ok(Self { clients, addresses: Arc::new(AddressList::new(urls)), source: None, patience: PATIENCE })
    }

    /// The coordinator at addresses as typed: `@FILE` stands for the addresses in a file. The file is read again whenever the
    /// coordinator is lost.
    ///
    /// # Errors
    /// As [`new`](Self::new) has them, or a file cannot be read or has a text that is no address.
    pub fn typed<A: AsRef<str>>(typed: &[A], credentials: &Credentials) -> Result<Self, AddressError> {
        let (addresses, source) = AddressSource::read(typed, credentials)?;
        Ok(Self { source: source.map(Arc::new), ..Self::new(&addresses, credentials)? })
    }

    /// The same for a caller that gives up after this time. Each address is called within this time.
    #[must_use]
    pub fn giving_up_after(self, limit: Option<Duration>) -> Self {
        let each = limit.map_or(PATIENCE, |limit| limit / self.addresses() as u32);
        let least = if self.addresses() > 1 { MIN_PATIENCE_OF_SEVERAL } else { MIN_PATIENCE };
        Self { patience: each.clamp(least, PATIENCE), ..self }
    }

    /// Shows these credentials from the next call on, for all that share the connections. Calls under way end as they began.
    ///
    /// # Errors
    /// As [`new`](Self::new) has them; then the credentials stay as they are.
    pub fn show(&self, credentials: &Credentials) -> Result<(), AddressError> {
        self.clients.show(credentials, &self.addresses)
    }

    /// Waits until a call is refused for a reason that other credentials may mend, or was since the last wait.
    pub async fn refused(&self) {
        self.clients.refused().await;
    }

    /// How many addresses there are.
    pub fn addresses(&self) -> usize {
        self.addresses.listed().len()
    }

    /// The address that is called: the last one that answered.
    pub fn address(&self) -> String {
        self.addresses.address(self.addresses.current())
    }

    /// The same coordinator for another worker, over the same connections. If one worker is refused and changes its
    /// address, the others do not.
    #[must_use]
    pub fn beside(&self) -> Self {
        Self { addresses: Arc::new(self.addresses.beside()), ..self.clone() }
    }

    /// The status of the run.
    ///
    /// # Errors
    /// The coordinator cannot be reached, refuses, or sends a reply that this release does not understand.
    pub async fn status(&self) -> CallResult<RunStatus> {
        let status =
            self.call(Duration::ZERO, |mut c| async move { c.status(v1::StatusRequest {}).await }).await?;
        RunStatus::try_from(status).map_err(not_understood)
    }

    /// Takes back counts that the operator does not believe. Returns their number, and where that is on disk.
    ///
    /// # Errors
    /// The coordinator cannot be reached, refuses, or finds no such counts.
    pub async fn retract(&self, takeback: Takeback) -> CallResult<TakenBack> {
        let request = v1::RetractRequest::from(takeback);
        Ok(self.call(Duration::ZERO, |mut c| async move { c.retract(request).await }).await?.into())
    }

    /// Changes the check policy and the required followers. Returns the values in effect.
    ///
    /// # Errors
    /// The coordinator cannot be reached, or refuses.
    pub async fn change_policy(&self, change: PolicyChange) -> CallResult<PolicyInForce> {
        let request = v1::ChangePolicyRequest::from(change);
        Ok(self.call(Duration::ZERO, |mut c| async move { c.change_policy(request).await }).await?.into())
    }

    /// Pauses or resumes the run, or has a machine's workers leave. Returns how many workers that concerns.
    ///
    /// # Errors
    /// The coordinator cannot be reached, refuses, or has no worker of that machine.
    pub async fn steer(&self, steering: Steering) -> CallResult<u64> {
        let request = v1::SteerRequest::from(steering);
        Ok(self.call(Duration::ZERO, |mut c| async move { c.steer(request).await }).await?.workers)
    }

    /// What the coordinator knows of a machine or a worker.
    ///
    /// # Errors
    /// The coordinator cannot be reached, refuses, or sends a reply that this release does not understand.
    pub async fn explain(&self, subject: Subject) -> CallResult<Explained> {
        Explained::try_from(self.explained(subject).await?).map_err(not_understood)
    }

    /// What the coordinator knows of a unit.
    ///
    /// # Errors
    /// As [`explain`](Self::explain) has them.
    pub async fn explain_unit(&self, unit: UnitId) -> CallResult<ExplainedUnit> {
        let mut reply = self.explained(Subject::Unit(unit)).await?;
        let lines = std::mem::take(&mut reply.lines);
        let plan = plan_from_reply(reply.plan.take().unwrap_or_default()).map_err(not_understood)?;
        Ok(ExplainedUnit { explained: reply.try_into().map_err(not_understood)?, lines, plan })
    }

    async fn explained(&self, subject: Subject) -> CallResult<v1::ExplainReply> {
        let request = v1::ExplainRequest::from(subject);
        self.call(Duration::ZERO, |mut c| async move { c.explain(request).await }).await
    }

    /// Calls the coordinator at the current address.
    async fn call<T, F: Future<Output = Grpc<T>>>(
        &self,
        wait: Duration,
        call: impl FnOnce(Client) -> F,
    ) -> CallResult<T> {
        let index = self.addresses.current();
        self.answer(index, wait, call(self.clients.client(index))).await
    }

    /// Awaits a call to the address at `index`. If it fails, another address is called from now on.
    async fn answer<T>(
        &self,
        index: usize,
        wait: Duration,
        call: impl Future<Output = Grpc<T>>,
    ) -> CallResult<T> {
        self.reply(index, wait, call).await.map_err(|error| self.addresses.failed(index, error))
    }

    /// Awaits a call to the address at `index`. If it fails, the addresses may have changed.
    async fn reply<T>(
        &self,
        index: usize,
        wait: Duration,
        call: impl Future<Output = Grpc<T>>,
    ) -> CallResult<T> {
        let reply = self.reply_in_time(index, wait, call).await;
        if let Err(error) = &reply {
            self.read_addresses_after(error).await;
        }
        reply
    }

    /// Reads the addresses again if the coordinator may have moved. A hanging file is not waited for.
    async fn read_addresses_after(&self, error: &CoordinatorError) {
        let is_lost = matches!(error, CoordinatorError::Unavailable(_) | CoordinatorError::Refused(_));
        let Some(source) = self.source.clone().filter(|_| is_lost) else { return };
        let remote = self.clone();
        let reading = spawn_blocking(move || {
            let Some(addresses) = source.read_again(&remote.clients.credentials()) else { return };
            match remote.clients.list(&addresses, &remote.addresses) {
                Ok(true) => info!("the coordinator's addresses are now {}", addresses.join(", ")),
                Ok(false) => {}
                Err(error) => warn!("{error}; the addresses known before stay in use"),
            }
        });
        timeout(READING_PATIENCE, reading).await.ok();
    }

    /// Awaits a call to the address at `index`, within a bound, and sorts its errors by what to do about them.
    async fn reply_in_time<T>(
        &self,
        index: usize,
        wait: Duration,
        call: impl Future<Output = Grpc<T>>,
    ) -> CallResult<T> {
        let error = match timeout(wait + self.patience, call).await {
            Ok(Ok(response)) => {
                self.addresses.answered(index);
                return Ok(response.into_inner());
            }
            Ok(Err(status)) => self.sort(index, &status),
            Err(_) => return Err(CoordinatorError::Unavailable("no answer in time".into())),
        };
        if matches!(error, CoordinatorError::Unavailable(_))
            && let Some(address) = self.clients.plain(index)
            && let Some(why) = wrong_listener(&address).await
        {
            return Err(self.refused_for_now(index, why.into()));
        }
        Err(error)
    }

    /// The next message of a stream. If the stream ends, another address is called from now on.
    async fn next<M, T: TryFrom<M, Error = WireError>>(
        &self,
        index: usize,
        replies: &mut Streaming<M>,
    ) -> CallResult<T> {
        let reply = match replies.message().await {
            Ok(Some(reply)) => T::try_from(reply).map_err(not_understood),
            Ok(None) => Err(CoordinatorError::Unavailable("the coordinator has ended".into())),
            Err(status) => Err(self.sort(index, &status)),
        };
        if let Err(error) = &reply {
            self.read_addresses_after(error).await;
        }
        reply.map_err(|error| self.addresses.failed(index, error))
    }

    /// Asks all addresses at once. Returns the answers that come in time, in the order of the addresses.
    async fn ask_all<T, F>(&self, ask: impl Fn(usize, Client) -> F) -> Vec<T>
    where
        T: Send + 'static,
        F: Future<Output = Option<T>> + Send + 'static,
    {
        let mut asked = JoinSet::new();
        for (place, index) in self.addresses.listed().into_iter().enumerate() {
            let answer = ask(index, self.clients.client(index));
            asked.spawn(async move { Some((place, timeout(ASK_ALL_PATIENCE, answer).await.ok()??)) });
        }
        let mut answers: Vec<(usize, T)> = asked.join_all().await.into_iter().flatten().collect();
        answers.sort_by_key(|(place, _)| *place);
        answers.into_iter().map(|(_, answer)| answer).collect()
    }

    /// Decides how to handle a failed call. A permanent refusal of the coordinator itself stays a refusal. Other
    /// refusals may be temporary: a wrong clock, keys that are being replaced, or a load balancer in front of an absent
    /// coordinator.
    fn sort(&self, index: usize, status: &Status) -> CoordinatorError {
        if let Some(refusal) = tls_refusal(status) {
            return self.refused_for_now(index, refusal);
        }
        let cause = std::error::Error::source(status);
        let text = cause.map_or_else(|| status.message().to_owned(), innermost);
        match status.code() {
            Code::NotFound => CoordinatorError::Unregistered,
            Code::FailedPrecondition | Code::InvalidArgument => CoordinatorError::Refused(text),
            Code::PermissionDenied if is_for_good(status) => CoordinatorError::Refused(text),
            Code::Unauthenticated | Code::PermissionDenied => self.refused_for_now(index, text),
            Code::Unimplemented => self.refused_for_now(index, NO_COORDINATOR.into()),
            _ => CoordinatorError::Unavailable(text),
        }
    }

    /// The address refuses in a way that may pass by itself, or with other credentials.
    fn refused_for_now(&self, index: usize, why: String) -> CoordinatorError {
        self.clients.notify_refusal();
        self.addresses.refused_for_now(index, why)
    }
}

fn not_understood(error: WireError) -> CoordinatorError {
    CoordinatorError::Refused(strange_answer(&error))
}

fn strange_answer(error: &WireError) -> String {
    format!("the coordinator's answer is not understood: {error}; use the coordinator's release of diadem")
}

#[cfg(test)]
mod tests {
    use proto::for_good;

    use super::*;

    /// Addresses of an invitation come from others, who must not name files.
    #[tokio::test]
    async fn only_typed_addresses_name_files() {
        let found = Remote::new(&["@/etc/hostname"], &Credentials::default());
        assert!(matches!(found, Err(AddressError::Malformed(_))), "{found:?}");
    }

    #[tokio::test]
    async fn permanent_refusal_ends_registered_worker() {
        let remote = Remote::new(&["http://127.0.0.1:1"], &Credentials::default()).unwrap();
        remote.addresses.taken_in();
        let is_final = |status: &Status| matches!(remote.sort(0, status), CoordinatorError::Refused(why) if why == status.message());
        assert!(is_final(&for_good(Status::permission_denied("nobody of that name any more"))));
        for passing in
            [Status::permission_denied("no right to that"), Status::unauthenticated("another token")]
        {
            assert!(!is_final(&passing), "{passing}");
        }
    }
}
