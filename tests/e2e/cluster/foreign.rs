//! Coordinators and workers that are not of this release.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use proto::v1::coordinator_client::CoordinatorClient;
use proto::v1::coordinator_server::{Coordinator, CoordinatorServer};
use proto::v1::{self, StatusReply};
use queens::{Board, Plan, PlanSpec};
use records::run_directory::RunDirectory;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio_stream::wrappers::TcpListenerStream;
use tonic::{Code, Request, Response, Status, Streaming, async_trait};

use crate::client::registration;
use crate::harness::{Completed, Folder, free_address, in_time, published, until};

/// Announces a plan, and notes how a worker registers. Without a plan it is something else that speaks gRPC.
struct Announcing {
    plan: v1::PlanReply,
    registered: Arc<Mutex<Option<v1::RegisterRequest>>>,
    /// The verdict on each reported count; `None` to accept no worker.
    verdict: Option<i32>,
}

impl Announcing {
    /// The answer to an accepted worker.
    fn accept<T>(&self, reply: T) -> Answered<T> {
        match self.verdict {
            Some(_) => Ok(Response::new(reply)),
            None => Err(Status::internal("a worker that was not let in must not ask")),
        }
    }
}

type Answered<T> = Result<Response<T>, Status>;

#[async_trait]
impl Coordinator for Announcing {
    type FollowStream = tokio_stream::Empty<Result<v1::FollowReply, Status>>;
    type WatchStream = tokio_stream::Empty<Result<StatusReply, Status>>;

    async fn plan(&self, _: Request<v1::PlanRequest>) -> Answered<v1::PlanReply> {
        if self.plan.spec.is_empty() {
            return Err(Status::not_found("no route to that service"));
        }
        Ok(Response::new(self.plan.clone()))
    }

    async fn register(&self, request: Request<v1::RegisterRequest>) -> Answered<v1::RegisterReply> {
        *self.registered.lock().unwrap() = Some(request.into_inner());
        if self.verdict.is_none() {
            return Err(Status::failed_precondition("that is enough"));
        }
        self.accept(v1::RegisterReply { worker: 7, lease_ms: 15_000, ..v1::RegisterReply::default() })
    }

    async fn lease(&self, _: Request<v1::LeaseRequest>) -> Answered<v1::LeaseReply> {
        let leases = (0..10).map(|unit| v1::Lease { unit, token: unit, ..v1::Lease::default() }).collect();
        self.accept(v1::LeaseReply { leases, finished: false })
    }

    async fn renew(&self, _: Request<v1::RenewRequest>) -> Answered<v1::RenewReply> {
        self.accept(v1::RenewReply::default())
    }

    async fn report(&self, request: Request<v1::ReportRequest>) -> Answered<v1::ReportReply> {
        let verdicts = self.verdict.into_iter().cycle().take(request.get_ref().counts.len()).collect();
        self.accept(v1::ReportReply { verdicts })
    }

    async fn release(&self, _: Request<v1::ReleaseRequest>) -> Answered<v1::ReleaseReply> {
        self.accept(v1::ReleaseReply::default())
    }

    async fn follow(&self, _: Request<Streaming<v1::FollowRequest>>) -> Answered<Self::FollowStream> {
        Err(Status::internal("a worker does not follow"))
    }

    async fn retract(&self, _: Request<v1::RetractRequest>) -> Answered<v1::RetractReply> {
        Err(Status::internal("a worker takes nothing back"))
    }

    async fn change_policy(&self, _: Request<v1::ChangePolicyRequest>) -> Answered<v1::ChangePolicyReply> {
        Err(Status::internal("a worker changes no policy"))
    }

    async fn steer(&self, _: Request<v1::SteerRequest>) -> Answered<v1::SteerReply> {
        Err(Status::internal("a worker steers nothing"))
    }

    async fn status(&self, _: Request<v1::StatusRequest>) -> Answered<StatusReply> {
        Err(Status::internal("a worker does not ask for the status"))
    }

    async fn explain(&self, _: Request<v1::ExplainRequest>) -> Answered<v1::ExplainReply> {
        Err(Status::internal("a worker asks for no explanations"))
    }

    async fn watch(&self, _: Request<v1::StatusRequest>) -> Answered<Self::WatchStream> {
        Err(Status::not_found("as a balancer says of what it does not know"))
    }
}

/// A coordinator for the life of the runtime: its address and the last registration.
type Running = (Runtime, SocketAddr, Arc<Mutex<Option<v1::RegisterRequest>>>);

/// A coordinator that announces this.
fn announce(plan: v1::PlanReply) -> Running {
    announce_with_verdict(plan, None)
}

/// The same, which accepts workers and gives each count that verdict.
fn announce_with_verdict(plan: v1::PlanReply, verdict: Option<i32>) -> Running {
    let registered = Arc::default();
    let runtime = Runtime::new().unwrap();
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
    let address = listener.local_addr().unwrap();
    let foreign = Announcing { plan, registered: Arc::clone(&registered), verdict };
    let server = tonic::transport::Server::builder().add_service(CoordinatorServer::new(foreign));
    runtime.spawn(server.serve_with_incoming(TcpListenerStream::new(listener)));
    (runtime, address, registered)
}

/// The output of a worker at a coordinator that announces this, and its registration, if any.
fn worker_meets(plan: v1::PlanReply) -> (Completed, Option<v1::RegisterRequest>) {
    let (_runtime, address, registered) = announce(plan);
    let left = Folder::new().run(&format!("worker --coordinator http://{address} --give-up-after 20s"));
    let registered = registered.lock().unwrap().take();
    (left, registered)
}

fn plan(spec: &str, fingerprint: &str) -> v1::PlanReply {
    let term = Some(v1::Term { number: 1, coordinator: vec![7; 16], proof: vec![7; 16] });
    let (spec, fingerprint, run) = (spec.into(), fingerprint.into(), vec![7; 16]);
    v1::PlanReply { spec, fingerprint, run, term, protocol: 1, release: "9.8.7".into() }
}

/// A worker leaves with one sentence, before it registers.
#[track_caller]
fn assert_worker_leaves(plan: v1::PlanReply, words: &[&str]) {
    let (left, registered) = worker_meets(plan);
    left.refused(words);
    assert_eq!(registered, None);
}

#[test]
fn server_without_plan_is_retried_then_given_up() {
    let (_runtime, address, _) = announce(v1::PlanReply::default());
    let folder = Folder::new();
    let left = folder.run(&format!("worker --coordinator http://{address} --give-up-after 2s"));
    assert_eq!(left.code, Some(1), "{left:?}");
    let told = left.stderr.matches("something else than a coordinator answers there (NOT_FOUND)").count();
    assert!((1..10).contains(&told), "{left:?}");
}

#[test]
fn wait_fails_if_no_coordinator_answers_at_first() {
    let (_runtime, address, _) = announce(v1::PlanReply::default());
    let wait = format!("status --wait --coordinator http://{address}");
    let ended = Folder::new().start(&wait, "wait.log").end();
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(
        ended.stderr.contains("something else than a coordinator answers there (NOT_FOUND)"),
        "{ended:?}"
    );
}

#[test]
fn worker_rejects_unknown_plan_version() {
    let spec = r#"{"n":8,"scheme":"constellations","grain":5,"version":99}"#;
    assert_worker_leaves(plan(spec, "00"), &["version 99", "version 1 only", "the build that began it"]);
}

#[test]
fn worker_rejects_unknown_scheme() {
    let spirals = plan(r#"{"n":8,"scheme":"spirals","version":1}"#, "00");
    assert_worker_leaves(spirals, &["spirals", "this release of diadem"]);
}

#[test]
fn worker_rejects_wrong_plan_fingerprint() {
    let spec = r#"{"n":8,"scheme":"constellations","grain":5,"version":1}"#;
    assert_worker_leaves(plan(spec, "00"), &["plan is 00", "the same release"]);
}

#[test]
fn a_worker_refuses_a_monstrous_plan_at_once() {
    let begun = Instant::now();
    let spec = r#"{"n":18,"scheme":"constellations","grain":1,"version":1}"#;
    assert_worker_leaves(plan(spec, "00"), &["with grain 1 ", "more than 20000000 units", "a larger grain"]);
    in_time(Duration::from_secs(3), begun);
}

#[test]
fn signal_ends_worker_during_long_plan_derivation() {
    // It has ten million units, which is allowed, and takes some twenty seconds.
    let (_runtime, address, _) =
        announce(plan(r#"{"n":16,"scheme":"constellations","grain":1,"version":1}"#, "00"));
    let folder = Folder::new();
    let mut worker = folder.start(&format!("worker --coordinator http://{address}"), "worker");
    until("it derives the plan", || {
        assert!(!worker.has_ended());
        worker.ticks() > 50
    });
    worker.terminate();
    let asked = Instant::now();
    let ended = worker.end();
    in_time(Duration::from_secs(1), asked);
    assert_eq!(ended.code, Some(0), "it holds nothing: {ended:?}");
}

/// A coordinator of a plan that all know, whose newest version of the contract is that.
fn speaks(newest: u32) -> v1::PlanReply {
    let spec = r#"{"n":8,"scheme":"constellations","grain":5,"version":1}"#;
    let fingerprint = Plan::derive(serde_json::from_str(spec).unwrap()).unwrap().fingerprint().to_string();
    v1::PlanReply { protocol: newest, ..plan(spec, &fingerprint) }
}

#[test]
fn worker_speaks_the_newest_common_version() {
    for newest in [1, 7] {
        let (left, registered) = worker_meets(speaks(newest));
        assert!(left.stderr.contains("that is enough"), "{left:?}");
        let registered = registered.unwrap();
        assert_eq!((registered.protocol, registered.release.as_str()), (1, env!("CARGO_PKG_VERSION")));
    }
}

#[test]
fn worker_leaves_coordinator_without_common_version() {
    let own = format!("diadem {}, version 1 ", env!("CARGO_PKG_VERSION"));
    assert_worker_leaves(speaks(0), &["diadem 9.8.7, version 0 ", &own, "use the coordinator's release"]);
}

#[test]
fn worker_skips_coordinator_with_impossible_term() {
    let absurd = || {
        let term = v1::Term { number: 1 << 63, coordinator: vec![7; 16], proof: vec![7; 16] };
        v1::PlanReply { term: Some(term), ..speaks(1) }
    };
    let (left, registered) = worker_meets(absurd());
    let said = "the number of a term cannot be 9223372036854775808; it must be below";
    assert_eq!((left.code, registered), (Some(1), None), "{left:?}");
    assert!(left.stderr.contains(said), "{left:?}");
    // The coordinator comes later.
    let (folder, address) = (Folder::new(), free_address());
    let (_runtime, strange, registered) = announce(absurd());
    // The worker takes no plan from the coordinator that is reachable first.
    let both =
        format!("worker --coordinator http://{strange} --coordinator http://{address} --give-up-after 60s");
    let worker = folder.start(&both, "worker");
    let log = || std::fs::read_to_string(folder.path().join("worker")).unwrap();
    until("the worker has met the term", || log().contains(said));
    let coordinator = folder.serve_at(&address, "coordinator --n 8 --run run --json", "log");
    let worker = worker.end();
    assert_eq!((worker.code, registered.lock().unwrap().is_none()), (Some(0), true), "{worker:?}");
    assert_eq!(coordinator.end().json()["total"], published(8));
}

#[test]
fn worker_leaves_coordinator_with_unknown_verdict() {
    let said =
        "the coordinator's answer is not understood: a verdict cannot be 99; it must be one of the five";
    // The plan of the other coordinator's run.
    let plan = Plan::derive(PlanSpec::new(Board::new(8).unwrap())).unwrap();
    let spec = serde_json::to_string(&plan.spec()).unwrap();
    let folder = Folder::new();
    // The other coordinator's next term is the second one of its run.
    let serve = "coordinator --n 8 --run run --json";
    let (first, address) = folder.serve(serve, "first");
    first.terminate();
    first.end();
    let run = RunDirectory::open(&folder.path().join("run")).unwrap().run().hash().bytes().to_vec();
    let plan = v1::PlanReply { run, ..self::plan(&spec, &plan.fingerprint().to_string()) };
    let (_runtime, strange, _) = announce_with_verdict(plan, Some(99));
    let alone = Folder::new().run(&format!("worker --coordinator http://{strange} --give-up-after 20s"));
    assert_eq!(alone.code, Some(1), "{alone:?}");
    assert!(alone.stderr.contains(said), "{alone:?}");
    let both =
        format!("worker --coordinator http://{strange} --coordinator http://{address} --give-up-after 60s");
    let worker = folder.start(&both, "worker");
    let log = || std::fs::read_to_string(folder.path().join("worker")).unwrap();
    let given_up = || log().matches(&format!("not called any more: {said}")).count();
    until("the worker has heard the verdict", || given_up() == 1);
    let coordinator = folder.serve_at(&address, serve, "log");
    let worker = worker.end();
    assert_eq!((worker.code, given_up()), (Some(0), 1), "{}", log());
    assert_eq!(coordinator.end().json()["total"], published(8));
}

#[test]
fn coordinator_refuses_unsupported_versions() {
    let folder = Folder::new();
    let (running, address) = folder.serve("coordinator --n 8 --run run --stay", "log");
    Runtime::new().unwrap().block_on(async {
        let mut client = CoordinatorClient::connect(format!("http://{address}")).await.unwrap();
        let plan = client.plan(v1::PlanRequest {}).await.unwrap().into_inner();
        assert_eq!(plan.protocol, 1);
        assert_eq!(plan.release, env!("CARGO_PKG_VERSION"));
        assert_eq!(plan.term.unwrap().number, 1);
        let as_of = |protocol, release: &str| v1::RegisterRequest {
            machine: "foreign".into(),
            protocol,
            release: release.into(),
            ..registration(plan.fingerprint.clone(), "foreign")
        };
        for release in ["0.0.1", ""] {
            assert!(client.register(as_of(1, release)).await.is_ok(), "{release:?}");
        }
        for (protocol, release, named) in [
            (0, "", "an unnamed release, version 0 "),
            (2, "9.8.7", "diadem 9.8.7, version 2 "),
            (u32::MAX, "x\ny", "an unnamed release, version 4294967295 "),
        ] {
            let refused = client.register(as_of(protocol, release)).await.unwrap_err();
            assert_eq!(refused.code(), Code::FailedPrecondition);
            let own = format!("diadem {}, version 1 ", env!("CARGO_PKG_VERSION"));
            assert!(refused.message().contains(named) && refused.message().contains(&own), "{refused}");
        }
        // Whoever was refused may come again as often as a service manager has it: the log tells of it once, and of others
        // that are refused for another reason.
        for (protocol, times) in [(2, 50), (3, 1)] {
            for _ in 0..times {
                client.register(as_of(protocol, "9.8.7")).await.unwrap_err();
            }
        }
    });
    let log = || std::fs::read_to_string(&running.log).unwrap();
    let told = |version| log().matches(&format!("diadem 9.8.7, version {version} ")).count();
    until("the last is told", || told(3) == 1);
    assert_eq!(told(2), 1, "{}", log());
    assert!(log().contains("host=\"127.0.0.1\""), "{}", log());
    running.terminate();
    assert_eq!(running.end().code, Some(143));
}
