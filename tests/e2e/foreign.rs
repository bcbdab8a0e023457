//! A coordinator that is not of this release.

use proto::v1::coordinator_server::{Coordinator, CoordinatorServer};
use proto::v1::{self, StatusReply};
use tokio::net::TcpListener;
use tokio_stream::wrappers::TcpListenerStream;
use tonic::{Request, Response, Status, Streaming, async_trait};

use crate::harness::Folder;

/// Announces a plan, and is asked for nothing else.
struct Announcing(v1::PlanReply);

type Answered<T> = Result<Response<T>, Status>;

#[async_trait]
impl Coordinator for Announcing {
    type FollowStream = tokio_stream::Empty<Result<v1::FollowReply, Status>>;
    type WatchStream = tokio_stream::Empty<Result<StatusReply, Status>>;

    async fn plan(&self, _: Request<v1::PlanRequest>) -> Answered<v1::PlanReply> {
        Ok(Response::new(self.0.clone()))
    }

    async fn register(&self, _: Request<v1::RegisterRequest>) -> Answered<v1::RegisterReply> {
        Err(Status::internal("a worker of another plan must not register"))
    }

    async fn lease(&self, _: Request<v1::LeaseRequest>) -> Answered<v1::LeaseReply> {
        Err(Status::internal("a worker of another plan must not lease"))
    }

    async fn renew(&self, _: Request<v1::RenewRequest>) -> Answered<v1::RenewReply> {
        Err(Status::internal("a worker of another plan must not renew"))
    }

    async fn report(&self, _: Request<v1::ReportRequest>) -> Answered<v1::ReportReply> {
        Err(Status::internal("a worker of another plan must not report"))
    }

    async fn release(&self, _: Request<v1::ReleaseRequest>) -> Answered<v1::ReleaseReply> {
        Err(Status::internal("a worker of another plan must not release"))
    }

    async fn follow(&self, _: Request<Streaming<v1::FollowRequest>>) -> Answered<Self::FollowStream> {
        Err(Status::internal("a worker does not follow"))
    }

    async fn retract(&self, _: Request<v1::RetractRequest>) -> Answered<v1::RetractReply> {
        Err(Status::internal("a worker takes nothing back"))
    }

    async fn status(&self, _: Request<v1::StatusRequest>) -> Answered<StatusReply> {
        Err(Status::internal("a worker does not ask for the status"))
    }

    async fn watch(&self, _: Request<v1::StatusRequest>) -> Answered<Self::WatchStream> {
        Err(Status::internal("a worker does not watch"))
    }
}

/// What a worker says to a coordinator that announces this plan.
fn worker_meets(spec: &str, fingerprint: &str) -> crate::harness::Completed {
    let reply = v1::PlanReply { spec: spec.into(), fingerprint: fingerprint.into() };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
    let address = listener.local_addr().unwrap();
    let server = tonic::transport::Server::builder().add_service(CoordinatorServer::new(Announcing(reply)));
    runtime.spawn(server.serve_with_incoming(TcpListenerStream::new(listener)));
    Folder::new().run(&format!("worker --coordinator http://{address} --give-up-after 20s"))
}

#[test]
fn a_worker_that_does_not_know_the_plan_version_leaves_with_a_sentence() {
    let spec = r#"{"n":8,"scheme":"constellations","grain":5,"version":99}"#;
    worker_meets(spec, "00").refused(&[
        "version 99",
        "versions 1 to 2 only",
        "the release that began the run",
    ]);
}

#[test]
fn a_worker_that_does_not_know_the_scheme_leaves_with_a_sentence() {
    worker_meets(r#"{"n":8,"scheme":"spirals","version":1}"#, "00")
        .refused(&["spirals", "this release of diadem"]);
}

#[test]
fn a_worker_that_derives_another_plan_leaves_with_a_sentence() {
    let spec = r#"{"n":8,"scheme":"constellations","grain":5,"version":1}"#;
    worker_meets(spec, "00").refused(&["plan is 00", "the same release"]);
}
