//! A relay between workers and their coordinator, all of them real processes, that keeps a list of its own of what the
//! coordinator has acknowledged.

use std::collections::BTreeSet;
use std::error::Error;
use std::sync::{Arc, Mutex};

use proto::v1::coordinator_client::CoordinatorClient;
use proto::v1::coordinator_server::{Coordinator, CoordinatorServer};
use proto::v1::{self, StatusReply};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio_stream::wrappers::TcpListenerStream;
use tonic::transport::{Channel, Endpoint};
use tonic::{Request, Response, Status, Streaming, async_trait};

use crate::harness::Folder;

/// A count that the coordinator has acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Acknowledged {
    unit: u64,
    count: u64,
    /// Whether the unit was counted mirrored; `None` if another machine had counted it before.
    mirrored: Option<bool>,
}

/// The relay; it listens until it is dropped.
pub struct Relay {
    pub address: String,
    acknowledged: Arc<Mutex<BTreeSet<Acknowledged>>>,
    runtime: Option<Runtime>,
}

impl Relay {
    /// Forwards calls of workers to the coordinator at that address, also if it starts later.
    pub fn to(coordinator: &str) -> Self {
        let (runtime, acknowledged) = (Runtime::new().unwrap(), Arc::default());
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let passing = runtime.block_on(async {
            let channel = Endpoint::from_shared(format!("http://{coordinator}")).unwrap().connect_lazy();
            Passing { coordinator: CoordinatorClient::new(channel), acknowledged: Arc::clone(&acknowledged) }
        });
        let server = tonic::transport::Server::builder().add_service(CoordinatorServer::new(passing));
        runtime.spawn(server.serve_with_incoming(TcpListenerStream::new(listener)));
        Self { address, acknowledged, runtime: Some(runtime) }
    }

    /// All that was acknowledged is on record in that run; gives how many counts that are.
    #[track_caller]
    pub fn nothing_is_lost(&self, folder: &Folder, run: &str) -> usize {
        // Read the list first: records acknowledged during the reading of the ledger may be behind the end that was
        // read.
        let acknowledged = self.acknowledged.lock().unwrap().clone();
        let records = folder.records(run).into_iter();
        let counted = records.filter(|record| record["kind"] == "count" || record["kind"] == "check");
        let on_record: BTreeSet<Acknowledged> = counted
            .flat_map(|record| {
                let [unit, count] = ["unit", "count"].map(|name| record[name].as_u64().unwrap());
                let mirrored = [None, Some(record["mirrored"] == true)];
                mirrored.map(|mirrored| Acknowledged { unit, count, mirrored })
            })
            .collect();
        let lost: Vec<_> = acknowledged.difference(&on_record).collect();
        assert!(lost.is_empty(), "{run} lacks {lost:?}");
        acknowledged.len()
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Forwards calls through the relay.
struct Passing {
    coordinator: CoordinatorClient<Channel>,
    acknowledged: Arc<Mutex<BTreeSet<Acknowledged>>>,
}

type Answered<T> = Result<Response<T>, Status>;

/// The refusal of the coordinator, or its absence.
fn status_of_call(status: Status) -> Status {
    if status.source().is_some() { Status::unavailable("the coordinator is away") } else { status }
}

#[async_trait]
impl Coordinator for Passing {
    type FollowStream = tokio_stream::Empty<Result<v1::FollowReply, Status>>;
    type WatchStream = tokio_stream::Empty<Result<StatusReply, Status>>;

    async fn plan(&self, request: Request<v1::PlanRequest>) -> Answered<v1::PlanReply> {
        self.coordinator.clone().plan(request.into_inner()).await.map_err(status_of_call)
    }

    async fn register(&self, request: Request<v1::RegisterRequest>) -> Answered<v1::RegisterReply> {
        self.coordinator.clone().register(request.into_inner()).await.map_err(status_of_call)
    }

    async fn lease(&self, request: Request<v1::LeaseRequest>) -> Answered<v1::LeaseReply> {
        self.coordinator.clone().lease(request.into_inner()).await.map_err(status_of_call)
    }

    async fn renew(&self, request: Request<v1::RenewRequest>) -> Answered<v1::RenewReply> {
        self.coordinator.clone().renew(request.into_inner()).await.map_err(status_of_call)
    }

    async fn report(&self, request: Request<v1::ReportRequest>) -> Answered<v1::ReportReply> {
        let report = request.into_inner();
        let reply = self.coordinator.clone().report(report.clone()).await.map_err(status_of_call)?;
        let acknowledged =
            report.counts.iter().zip(reply.get_ref().verdicts()).filter_map(|(reported, verdict)| {
                let mirrored = match verdict {
                    v1::Verdict::Recorded => Some(reported.mirrored),
                    v1::Verdict::Known => None,
                    _ => return None,
                };
                Some(Acknowledged { unit: reported.unit, count: reported.completions, mirrored })
            });
        self.acknowledged.lock().unwrap().extend(acknowledged);
        Ok(reply)
    }

    async fn release(&self, request: Request<v1::ReleaseRequest>) -> Answered<v1::ReleaseReply> {
        self.coordinator.clone().release(request.into_inner()).await.map_err(status_of_call)
    }

    async fn follow(&self, _: Request<Streaming<v1::FollowRequest>>) -> Answered<Self::FollowStream> {
        Err(Status::unimplemented("workers do not follow"))
    }

    async fn retract(&self, _: Request<v1::RetractRequest>) -> Answered<v1::RetractReply> {
        Err(Status::unimplemented("workers take nothing back"))
    }

    async fn change_policy(&self, _: Request<v1::ChangePolicyRequest>) -> Answered<v1::ChangePolicyReply> {
        Err(Status::unimplemented("workers change no policy"))
    }

    async fn steer(&self, _: Request<v1::SteerRequest>) -> Answered<v1::SteerReply> {
        Err(Status::unimplemented("workers steer nothing"))
    }

    async fn explain(&self, _: Request<v1::ExplainRequest>) -> Answered<v1::ExplainReply> {
        Err(Status::unimplemented("workers ask for no explanations"))
    }

    async fn status(&self, _: Request<v1::StatusRequest>) -> Answered<StatusReply> {
        Err(Status::unimplemented("workers do not ask for the status"))
    }

    async fn watch(&self, _: Request<v1::StatusRequest>) -> Answered<Self::WatchStream> {
        Err(Status::unimplemented("workers do not watch"))
    }
}
