//! Malicious token bearers with their own clients. They cannot exceed their quotas, and other owners' workers
//! are not affected.

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use h2::client::SendRequest;
use proto::v1;
use proto::v1::coordinator_client::CoordinatorClient;
use tokio::runtime::Runtime;
use tonic::codegen::{Bytes, http};
use tonic::metadata::{Ascii, MetadataValue};
use tonic::service::interceptor::InterceptedService;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Request, Status};

use crate::client::registration;
use crate::harness::{Folder, Running, published, until};

/// The rights, in the files of a folder of keys. There is no TLS, so that an attacker needs none.
const JOIN: &str = "11111111111111111111111111111111";
const STATUS: &str = "22222222222222222222222222222222";
const GREEDY: &str = "33333333333333333333333333333333";

/// A coordinator with three owners, this limit of open files and a run of that size.
fn coordinator(folder: &Folder, n: u8, open_files: u32) -> (String, Running) {
    let diadem = env!("CARGO_BIN_EXE_diadem");
    let script = format!(
        "ulimit -n {open_files}; exec {diadem} coordinator --n {n} --run run --listen 127.0.0.1:0 --json --method search \
         --double-check none --relax-checks-after 1s"
    );
    let mut command = Command::new("bash");
    command.args(["-c", &script]).env("DIADEM_STATUS_TOKEN", STATUS);
    command.env("DIADEM_JOIN_TOKEN", format!("{JOIN}\n{GREEDY} greedy\n"));
    let (coordinator, address) = folder.serve_command(&mut command, "log");
    (address, coordinator)
}

/// A worker of the owner `join`.
fn worker(folder: &Folder, address: &str) -> Running {
    let args =
        format!("worker --coordinator http://{address} --threads 2 --isa portable --give-up-after 60s");
    folder.start_command(folder.diadem(&args).env("DIADEM_JOIN_TOKEN", JOIN), "worker.log")
}

/// A connection of the attacker's own, below gRPC.
async fn connect(address: &str) -> Option<SendRequest<Bytes>> {
    let stream = tokio::net::TcpStream::connect(address).await.ok()?;
    let (send, connection) = h2::client::handshake(stream).await.ok()?;
    tokio::spawn(connection);
    Some(send)
}

/// A call that announces a message of `announced` bytes, sends `sent` of them as far as it is let, and never ends it.
/// Says how long it took until it was ended for it.
async fn unfinished(
    send: SendRequest<Bytes>,
    path: &'static str,
    token: &'static str,
    announced: u32,
    sent: usize,
) -> Option<Duration> {
    let begun = Instant::now();
    let request = http::Request::post(format!("http://coordinator/diadem.v1.Coordinator/{path}"))
        .header("content-type", "application/grpc")
        .header("te", "trailers")
        .header("authorization", format!("Bearer {token}"));
    let mut send = send.ready().await.ok()?;
    let (response, mut body) = send.send_request(request.body(()).unwrap(), false).ok()?;
    let sending = async {
        let mut prefix = vec![0];
        prefix.extend(announced.to_be_bytes());
        let mut left = Bytes::from([prefix, vec![0; sent]].concat());
        while !left.is_empty() {
            body.reserve_capacity(left.len().min(16 << 10));
            let granted = std::future::poll_fn(|context| body.poll_capacity(context)).await;
            let Some(Ok(granted)) = granted else { return };
            if body.send_data(left.split_to(granted.min(left.len())), false).is_err() {
                return;
            }
        }
    };
    // The answer may come while the body is still being sent.
    let mut response = Box::pin(response);
    tokio::select! {
        _ = &mut response => return Some(begun.elapsed()),
        () = sending => {}
    }
    response.await.ok();
    Some(begun.elapsed())
}

/// Opens `connections` connections with 32 such calls each. Returns the number of connections and the longest
/// life of one.
fn pin_memory(
    address: &str,
    connections: usize,
    path: &'static str,
    token: &'static str,
    sent: usize,
) -> (usize, Duration) {
    let runtime = Runtime::new().unwrap();
    runtime.block_on(async {
        let mut calls = Vec::new();
        for _ in 0..connections {
            let send = connect(address).await.unwrap();
            calls.extend(
                (0..32).map(|_| tokio::spawn(unfinished(send.clone(), path, token, 6_400_000, sent))),
            );
        }
        let mut ended = Vec::new();
        for call in calls {
            let outcome = tokio::time::timeout(Duration::from_mins(2), call).await;
            ended.extend(outcome.expect("the call is ended").unwrap());
        }
        (ended.len(), ended.into_iter().max().unwrap_or_default())
    })
}

#[test]
fn unfinished_requests_for_the_status_pin_no_memory() {
    let folder = Folder::new();
    let (address, mut coordinator) = coordinator(&folder, 12, 1024);
    let before = coordinator.peak_kib().unwrap();
    let (calls, longest) = pin_memory(&address, 8, "Status", STATUS, 6_000_000);
    let grown = coordinator.peak_kib().unwrap() - before;
    assert!(calls >= 200 && longest < Duration::from_secs(30), "{calls} calls, {longest:?}");
    assert!(grown < 32 << 10, "{grown} KiB for requests of readers");
    // Requests that announce an allowed size and never arrive do not block it either.
    let (_, longest) = Runtime::new().unwrap().block_on(async {
        let send = connect(&address).await.unwrap();
        (0, unfinished(send, "Status", STATUS, 100, 50).await.unwrap())
    });
    assert!((Duration::from_secs(9)..Duration::from_secs(30)).contains(&longest), "{longest:?}");
    assert!(!coordinator.has_ended());
}

#[test]
fn unfinished_reports_hold_memory_of_their_owner_only() {
    let folder = Folder::new();
    let (address, coordinator) = coordinator(&folder, 17, 1024);
    let before = coordinator.peak_kib().unwrap();
    let attack = {
        let address = address.clone();
        std::thread::spawn(move || pin_memory(&address, 6, "Report", GREEDY, 1_000_000))
    };
    let has_grown = |peak: u64| peak > before + (16 << 10);
    until("the attack is felt", || coordinator.peak_kib().is_some_and(has_grown));
    let worker = worker(&folder, &address);
    let peak = {
        let mut peak = before;
        until("the attack ends", || {
            peak = peak.max(coordinator.peak_kib().unwrap_or(0));
            attack.is_finished()
        });
        peak
    };
    let (calls, longest) = attack.join().unwrap();
    assert!(calls >= 100 && longest < Duration::from_secs(100), "{calls} calls, {longest:?}");
    assert!(peak - before < 192 << 10, "{} KiB for reports of one owner", peak - before);
    assert_eq!(worker.end().code, Some(0));
    assert_eq!(coordinator.end().json()["total"], published(17));
}

type BearerClient = CoordinatorClient<InterceptedService<Channel, AddToken>>;

#[derive(Clone)]
struct AddToken(MetadataValue<Ascii>);

impl tonic::service::Interceptor for AddToken {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        request.metadata_mut().insert("authorization", self.0.clone());
        Ok(request)
    }
}

/// A client of the wire with that token.
fn bearer(address: &str, token: &str) -> BearerClient {
    let channel = Endpoint::from_shared(format!("http://{address}")).unwrap().connect_lazy();
    CoordinatorClient::with_interceptor(channel, AddToken(format!("Bearer {token}").parse().unwrap()))
}

#[test]
fn attackers_with_status_tokens_do_not_stop_workers() {
    let folder = Folder::new();
    // Room for 96 connections; they hold 240, and come back whenever they are closed.
    let (address, coordinator) = coordinator(&folder, 15, 160);
    let runtime = Runtime::new().unwrap();
    for _ in 0..6 * 40 {
        let address = address.clone();
        runtime.spawn(async move {
            loop {
                let mut client = bearer(&address, STATUS);
                if let Ok(stream) = client.watch(v1::StatusRequest {}).await {
                    let mut stream = stream.into_inner();
                    while let Ok(Some(_)) = stream.message().await {
                        client.status(v1::StatusRequest {}).await.ok();
                    }
                }
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        });
    }
    let open = || fs::read_dir(format!("/proc/{}/fd", coordinator.pid())).unwrap().count();
    until("they hold all connections that they get", || open() >= 96);
    let begun = Instant::now();
    let worker = worker(&folder, &address);
    until("the worker joins", || fs::read_to_string(&worker.log).unwrap().contains("registered"));
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    assert_eq!(worker.end().code, Some(0));
    runtime.shutdown_background();
    let answer = coordinator.end();
    assert_eq!(answer.json()["total"], published(15));
    assert!(answer.stderr.len() < 100_000, "the log is not filled");
}

#[test]
fn endless_registrations_exhaust_own_quota_only() {
    let folder = Folder::new();
    let (address, coordinator) = coordinator(&folder, 12, 1024);
    let listed = Runtime::new().unwrap().block_on(async {
        let mut client = bearer(&address, GREEDY);
        let plan = client.plan(v1::PlanRequest {}).await.unwrap().into_inner();
        let refused = loop {
            let request = v1::RegisterRequest {
                machine: "y".repeat(200),
                ..registration(plan.fingerprint.clone(), &"x".repeat(200))
            };
            if let Err(status) = client.register(request).await {
                break status;
            }
        };
        assert_eq!(refused.code(), Code::ResourceExhausted, "{refused}");
        let status = bearer(&address, STATUS).status(v1::StatusRequest {}).await.unwrap().into_inner();
        assert!(status.workers_total >= 2000, "{}", status.workers_total);
        assert!(status.workers.iter().all(|worker| worker.owner == "greedy"));
        status.workers.len()
    });
    assert_eq!(listed, 1000);
    // The other owners have their own.
    let begun = Instant::now();
    let worker = worker(&folder, &address);
    assert_eq!(worker.end().code, Some(0));
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    assert_eq!(coordinator.end().json()["total"], published(12));
}

#[test]
fn a_worker_can_be_named_by_its_owner_only() {
    let folder = Folder::new();
    let (address, _coordinator) = coordinator(&folder, 18, 1024);
    let other = worker(&folder, &address);
    until("it holds something", || folder.counts("run") > 0);
    // What no log tells an attacker: the number of the other's worker.
    let log = fs::read_to_string(&other.log).unwrap();
    let (_, number) = log.split_once("registered worker=").unwrap();
    let worker: u64 = number.split_whitespace().next().unwrap().parse().unwrap();
    Runtime::new().unwrap().block_on(async {
        let mut client = bearer(&address, GREEDY);
        let plan = client.plan(v1::PlanRequest {}).await.unwrap().into_inner();
        let request =
            v1::RegisterRequest { machine: "greedy".into(), ..registration(plan.fingerprint, "greedy") };
        let own = client.register(request).await.unwrap().into_inner().worker;
        assert!(client.renew(v1::RenewRequest { worker: own, leases: Vec::new() }).await.is_ok());
        let leaving = v1::ReleaseRequest { worker, leases: Vec::new(), leaving: true };
        assert_eq!(client.release(leaving).await.unwrap_err().code(), Code::NotFound);
        let lease = v1::LeaseRequest { worker, want: 1, wait_ms: 0 };
        assert_eq!(client.lease(lease).await.unwrap_err().code(), Code::NotFound);
        let renew = v1::RenewRequest { worker, leases: Vec::new() };
        assert_eq!(client.renew(renew).await.unwrap_err().code(), Code::NotFound);
        let report = v1::ReportRequest { worker, counts: Vec::new() };
        assert_eq!(client.report(report).await.unwrap_err().code(), Code::NotFound);
        let status = client.status(v1::StatusRequest {}).await.unwrap().into_inner();
        let owners: Vec<_> = status.workers.iter().map(|worker| worker.owner.as_str()).collect();
        assert_eq!(owners, ["greedy", "join"], "nobody was struck off");
    });
}
