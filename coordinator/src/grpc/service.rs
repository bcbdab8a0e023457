//! The gRPC service: checks requests, passes them to the keeper, and converts errors to status codes.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use crate::Handle;
use domain::{Lease, PolicyChange, Registration, Report, Steering, Subject, Takeback, WorkerId};
use prost::Message;
use proto::v1::coordinator_server::Coordinator;
use proto::{Protocol, malformed, plan_reply, v1};
use records::policy::MOST_FOLLOWERS;
use tokio::sync::{Mutex, Semaphore};
use tokio_stream::wrappers::{ReceiverStream, WatchStream};
use tokio_stream::{Stream, StreamExt};
use tonic::{Request, Response, Status, Streaming};

use super::following::follow;
use super::quota::CallUnderWay;
use super::refused::refused;
use crate::admission::{Caller, Peer};

/// Maximum waiting time of a request for units.
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// Maximum number of units in one message.
pub const MOST_UNITS: usize = 100_000;

/// Time for which a status is cached.
const STATUS_CACHE_TIME: Duration = Duration::from_millis(50);

/// The service in front of a keeper.
#[derive(Clone, Debug)]
pub struct Service {
    handle: Handle,
    /// True if callers have credentials that identify their owners.
    knows_owners: bool,
    /// The last status and its time.
    status: Arc<Mutex<Option<(Duration, v1::StatusReply)>>>,
    /// Permits for followers.
    followers: Arc<Semaphore>,
}

/// The error if two owners are required but cannot be identified.
const NO_OWNERS: &str = "two owners can be required, and own checks made, only where owners are known: start the coordinator with --keys, and give each owner a token";

impl Service {
    pub fn new(handle: Handle, knows_owners: bool) -> Self {
        Self {
            handle,
            knows_owners,
            status: Arc::default(),
            followers: Arc::new(Semaphore::new(MOST_FOLLOWERS)),
        }
    }

    /// A handle to the keeper on behalf of the caller.
    fn keeper<T>(&self, request: &Request<T>) -> Result<Handle, Status> {
        let caller = request.extensions().get::<Caller>().ok_or_else(not_judged)?;
        Ok(self.handle.on_behalf_of(caller.owner.clone()))
    }

    fn announced_plan(&self) -> v1::PlanReply {
        let plan = self.handle.plan();
        plan_reply(plan.spec(), plan.fingerprint(), self.handle.run(), self.handle.term())
    }

    /// The status, from the cache or from the keeper.
    async fn latest_status(&self) -> Result<v1::StatusReply, Status> {
        let mut latest = self.status.lock().await;
        let now = self.handle.clock().now();
        if let Some((at, status)) = &*latest
            && now.saturating_sub(*at) < STATUS_CACHE_TIME
        {
            return Ok(status.clone());
        }
        let status = v1::StatusReply::from(self.handle.status().await.map_err(refused)?);
        *latest = Some((now, status.clone()));
        Ok(status)
    }
}

/// The call as counted by the gate.
fn call_of<T>(request: &Request<T>) -> Result<Arc<CallUnderWay>, Status> {
    request.extensions().get().cloned().ok_or_else(not_judged)
}

/// The reply to this call. Its bytes are charged to the owner until it has been sent, because a client may read it
/// slowly.
fn reply<T: Message>(call: &CallUnderWay, reply: T) -> Result<Response<T>, Status> {
    call.hold(reply.encoded_len())?;
    Ok(Response::new(reply))
}

fn not_judged() -> Status {
    Status::internal("the call did not come through the gate")
}

/// Checks the number of items in a message, and charges their size in memory to the call. It may be a multiple of their
/// size on the wire.
fn charge_items<T>(call: &CallUnderWay, items: &[T]) -> Result<(), Status> {
    let found = items.len();
    if found > MOST_UNITS {
        let text = format!("a message may name at most {MOST_UNITS} units, not {found}");
        return Err(Status::invalid_argument(text));
    }
    call.hold(size_of_val(items))
}

fn leases(call: &CallUnderWay, leases: Vec<v1::Lease>) -> Result<Vec<Lease>, Status> {
    charge_items(call, &leases)?;
    Ok(leases.into_iter().map(Lease::from).collect())
}

#[tonic::async_trait]
impl Coordinator for Service {
    type FollowStream = ReceiverStream<Result<v1::FollowReply, Status>>;
    type WatchStream = Pin<Box<dyn Stream<Item = Result<v1::StatusReply, Status>> + Send>>;

    async fn plan(&self, _: Request<v1::PlanRequest>) -> Result<Response<v1::PlanReply>, Status> {
        Ok(Response::new(self.announced_plan()))
    }

    async fn register(
        &self,
        request: Request<v1::RegisterRequest>,
    ) -> Result<Response<v1::RegisterReply>, Status> {
        let call = call_of(&request)?;
        call.register(self.handle.clock().now())?;
        charge_items(&call, &request.get_ref().held)?;
        let keeper = self.keeper(&request)?;
        if let Err(error) = Protocol::admit(request.get_ref()) {
            let host = request.extensions().get::<Peer>().map(|peer| peer.address().ip());
            keeper.turned_away(host, format!("refused a worker: {error}")).await;
            return Err(Status::failed_precondition(error.to_string()));
        }
        let registration = Registration::try_from(request.into_inner()).map_err(|e| malformed(&e))?;
        reply(&call, keeper.register(registration).await.map_err(refused)?.into())
    }

    async fn lease(&self, request: Request<v1::LeaseRequest>) -> Result<Response<v1::LeaseReply>, Status> {
        let (call, keeper) = (call_of(&request)?, self.keeper(&request)?);
        let v1::LeaseRequest { worker, want, wait_ms } = request.into_inner();
        if want == 0 || want as usize > MOST_UNITS {
            let text = format!("want must be from 1 to {MOST_UNITS} units, not {want}");
            return Err(Status::invalid_argument(text));
        }
        let wait = Duration::from_millis(wait_ms).min(LONGEST_WAIT);
        reply(&call, keeper.lease(WorkerId(worker), want, wait).await.map_err(refused)?.into())
    }

    async fn renew(&self, request: Request<v1::RenewRequest>) -> Result<Response<v1::RenewReply>, Status> {
        let (call, keeper) = (call_of(&request)?, self.keeper(&request)?);
        let v1::RenewRequest { worker, leases: held } = request.into_inner();
        let held = leases(&call, held)?;
        reply(&call, keeper.renew(WorkerId(worker), held).await.map_err(refused)?.into())
    }

    async fn report(&self, request: Request<v1::ReportRequest>) -> Result<Response<v1::ReportReply>, Status> {
        let (call, keeper) = (call_of(&request)?, self.keeper(&request)?);
        charge_items(&call, &request.get_ref().counts)?;
        let verdicts = keeper.report(Report::from(request.into_inner())).await.map_err(refused)?;
        let verdicts = verdicts.into_iter().map(|verdict| v1::Verdict::from(verdict).into()).collect();
        reply(&call, v1::ReportReply { verdicts })
    }

    async fn release(
        &self,
        request: Request<v1::ReleaseRequest>,
    ) -> Result<Response<v1::ReleaseReply>, Status> {
        let (call, keeper) = (call_of(&request)?, self.keeper(&request)?);
        let v1::ReleaseRequest { worker, leases: held, leaving } = request.into_inner();
        keeper.release(WorkerId(worker), leases(&call, held)?, leaving).await.map_err(refused)?;
        Ok(Response::new(v1::ReleaseReply {}))
    }

    async fn follow(
        &self,
        request: Request<Streaming<v1::FollowRequest>>,
    ) -> Result<Response<Self::FollowStream>, Status> {
        let seat = Arc::clone(&self.followers)
            .try_acquire_owned()
            .map_err(|_| Status::resource_exhausted(format!("at most {MOST_FOLLOWERS} may follow a run")))?;
        let keeper = self.keeper(&request)?;
        Ok(Response::new(follow(keeper, request.into_inner(), seat).await?))
    }

    async fn retract(
        &self,
        request: Request<v1::RetractRequest>,
    ) -> Result<Response<v1::RetractReply>, Status> {
        charge_items(&*call_of(&request)?, &request.get_ref().units)?;
        let takeback = Takeback::try_from(request.into_inner()).map_err(|e| malformed(&e))?;
        Ok(Response::new(self.handle.retract(takeback).await.map_err(refused)?.into()))
    }

    async fn change_policy(
        &self,
        request: Request<v1::ChangePolicyRequest>,
    ) -> Result<Response<v1::ChangePolicyReply>, Status> {
        let change = PolicyChange::try_from(request.into_inner()).map_err(|e| malformed(&e))?;
        let needs_owners = change.require_owners.is_some_and(|owners| owners > 1) || change.own.is_some();
        if needs_owners && !self.knows_owners {
            return Err(Status::failed_precondition(NO_OWNERS));
        }
        Ok(Response::new(self.handle.change_policy(change).await.map_err(refused)?.into()))
    }

    async fn steer(&self, request: Request<v1::SteerRequest>) -> Result<Response<v1::SteerReply>, Status> {
        let steering = Steering::try_from(request.into_inner()).map_err(|e| malformed(&e))?;
        Ok(Response::new(v1::SteerReply { workers: self.handle.steer(steering).await.map_err(refused)? }))
    }

    async fn status(&self, request: Request<v1::StatusRequest>) -> Result<Response<v1::StatusReply>, Status> {
        let call = call_of(&request)?;
        call.ask_status(self.handle.clock().now())?;
        let status = self.latest_status().await?;
        reply(&call, status)
    }

    async fn explain(
        &self,
        request: Request<v1::ExplainRequest>,
    ) -> Result<Response<v1::ExplainReply>, Status> {
        let call = call_of(&request)?;
        call.ask_status(self.handle.clock().now())?;
        let subject = Subject::try_from(request.into_inner()).map_err(|e| malformed(&e))?;
        let explained = self.handle.explain(subject.clone()).await.map_err(refused)?;
        let mut explained = v1::ExplainReply::from(explained);
        if let Subject::Unit(unit) = subject {
            let lines = self.handle.lines_of_unit(unit).await;
            explained.lines = lines.map_err(|error| Status::unavailable(error.to_string()))?;
            explained.plan = Some(self.announced_plan());
        }
        reply(&call, explained)
    }

    async fn watch(
        &self,
        request: Request<v1::StatusRequest>,
    ) -> Result<Response<Self::WatchStream>, Status> {
        let watching = call_of(&request)?.watch()?;
        let snapshots = WatchStream::new(self.handle.snapshots());
        Ok(Response::new(Box::pin(snapshots.map(move |snapshot| {
            let _held_as_long_as_the_stream = &watching;
            Ok(snapshot.status.into())
        }))))
    }
}

#[cfg(test)]
mod tests {
    use domain::Owner;

    use super::*;
    use crate::grpc::quota::Quotas;

    #[test]
    fn counts_are_charged_by_their_size_in_memory() {
        let quotas = Arc::new(Quotas::default());
        let report = v1::ReportRequest { worker: 1, counts: vec![v1::UnitCount::default(); MOST_UNITS] };
        let taken_in = |owner: &str| {
            let calls = (0..1000).map(|_| quotas.call(&Owner::new(owner)));
            calls.take_while(|call| charge_items(call, &report.counts).is_ok()).collect::<Vec<_>>()
        };
        let of_greedy = taken_in("greedy");
        let bytes = of_greedy.len() * MOST_UNITS * size_of::<v1::UnitCount>();
        assert!(bytes <= 64 << 20 && bytes > 32 << 20, "{bytes} bytes in {} reports", of_greedy.len());
        assert!(!taken_in("modest").is_empty());
    }
}
