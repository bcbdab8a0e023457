//! Limits of a coordinator: oversized requests are refused, and request storms do not end it.

use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use domain::{Lease, LeaseReply, Registration, Renewal, Report, Verdict, Welcome, WorkerId};
use proto::v1;
use proto::v1::coordinator_client::CoordinatorClient;
use queens::{Board, Plan, PlanSpec, UnitId};
use tonic::transport::Channel;
use tonic::{Code, Request};
use worker::{CoordinatorError, Lender};

use crate::client::{config, registration};
use crate::credentials::{keys, serve, text};
use crate::harness::{Completed, Folder, Running, published, until};

/// The answer to a call by any client.
fn call<T>(address: &str, call: impl AsyncFnOnce(CoordinatorClient<Channel>) -> T) -> T {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        call(CoordinatorClient::connect(format!("http://{address}")).await.unwrap()).await
    })
}

fn open_coordinator(folder: &Folder) -> (String, Running) {
    let (coordinator, address) = folder.serve("coordinator --n 12 --run run", "log");
    (address, coordinator)
}

#[test]
fn oversized_and_malformed_requests_are_refused() {
    let folder = Folder::new();
    let (address, _coordinator) = open_coordinator(&folder);
    call(&address, async |mut client| {
        let plan = client.plan(v1::PlanRequest {}).await.unwrap().into_inner();
        let register = registration(plan.fingerprint, "a");
        let refused = [
            v1::RegisterRequest { threads: u32::MAX, ..register.clone() },
            v1::RegisterRequest { threads: 0, ..register.clone() },
            v1::RegisterRequest { name: "x".repeat(1_000_000), ..register.clone() },
            v1::RegisterRequest { name: "two\nlines".into(), ..register.clone() },
            v1::RegisterRequest { kernel: "magic".into(), ..register.clone() },
            v1::RegisterRequest { held: vec![0; 100_001], ..register.clone() },
            v1::RegisterRequest { fingerprint: "x".repeat(90_000), ..register.clone() },
            v1::RegisterRequest { kernel: "x".repeat(90_000), ..register.clone() },
        ];
        for request in refused {
            let status = client.register(request).await.unwrap_err();
            assert_eq!(status.code(), Code::InvalidArgument);
            assert!(status.message().len() < 1000, "what is wrong is not sent back whole");
        }
        for _ in 0..30 {
            let vast = v1::RegisterRequest { fingerprint: "x".repeat(6_000_000), ..register.clone() };
            assert_eq!(client.register(vast).await.unwrap_err().code(), Code::InvalidArgument);
        }
        let vast = v1::RegisterRequest { name: "x".repeat(8 << 20), ..register.clone() };
        assert_eq!(client.register(vast).await.unwrap_err().code(), Code::OutOfRange);
        let unknown_worker = client.lease(v1::LeaseRequest { worker: 7, want: u32::MAX, wait_ms: u64::MAX });
        assert_eq!(unknown_worker.await.unwrap_err().code(), Code::InvalidArgument);
        let vast = v1::FollowRequest { hash: vec![0; 5 << 10], ..v1::FollowRequest::default() };
        let followed = client.follow(tokio_stream::once(vast)).await.unwrap_err();
        assert_eq!(followed.code(), Code::OutOfRange, "{followed}");
        // The same bytes as a request for the status but for a field that no release knows.
        let mut grpc = tonic::client::Grpc::new(
            Channel::from_shared(format!("http://{address}")).unwrap().connect_lazy(),
        );
        grpc.ready().await.unwrap();
        let path = "/diadem.v1.Coordinator/Status".parse().unwrap();
        let codec = proto::StrictCodec::<v1::ReleaseRequest, v1::StatusReply>::default();
        let request = v1::ReleaseRequest { worker: 1, ..v1::ReleaseRequest::default() };
        let status = grpc.unary(Request::new(request), path, codec).await.unwrap_err();
        assert_eq!(status.code(), Code::InvalidArgument);
        assert!(status.message().contains("fields that this release does not know"), "{status}");
        let status = client.status(v1::StatusRequest {}).await.unwrap().into_inner();
        assert_eq!(status.workers.len(), 0);
    });
    assert!(fs::read(folder.path().join("log")).unwrap().len() < 10_000, "nor is it logged");
}

#[test]
fn a_storm_of_registrations_is_refused_and_passes() {
    let folder = Folder::new();
    let (address, coordinator) = open_coordinator(&folder);
    call(&address, async |mut client| {
        let plan = client.plan(v1::PlanRequest {}).await.unwrap().into_inner();
        let register = registration("of another plan, so that none is left behind", "storm");
        assert_ne!(register.fingerprint, plan.fingerprint);
        let mut admitted = 0;
        let refused = loop {
            let status = client.register(register.clone()).await.unwrap_err();
            if status.code() != Code::FailedPrecondition {
                break status;
            }
            admitted += 1;
            assert!(admitted < 100_000, "no end");
        };
        assert_eq!(refused.code(), Code::ResourceExhausted, "{refused}");
        assert!(admitted >= 2000, "{admitted}");
    });
    // A worker waits for its turn.
    let worker =
        folder.run(&format!("worker --coordinator http://{address} --threads 1 --give-up-after 20s"));
    assert_eq!(worker.code, Some(0), "{worker:?}");
    assert_eq!(coordinator.end().code, Some(0));
}

#[test]
fn connections_over_file_limit_keep_coordinator_up() {
    let folder = keys();
    let script = format!(
        "ulimit -n 96; exec {} coordinator --n 12 --run run --listen 127.0.0.1:0 --keys keys/coordinator --json",
        env!("CARGO_BIN_EXE_diadem")
    );
    let (mut coordinator, address) = folder.serve_command(Command::new("bash").args(["-c", &script]), "log");
    let flood: Vec<_> = (0..300).filter_map(|_| TcpStream::connect(&address).ok()).collect();
    assert!(flood.len() > 200);
    until("it says that it is full", || {
        fs::read_to_string(folder.path().join("log")).unwrap().contains("too many connections")
    });
    assert!(!coordinator.has_ended());
    drop(flood);
    let worker =
        folder.run(&format!("worker --coordinator https://{address} --keys keys/worker --give-up-after 60s"));
    assert_eq!(worker.code, Some(0), "{worker:?}");
    assert_eq!(coordinator.end().json()["total"], published(12));
}

#[test]
fn connections_that_show_nothing_are_closed() {
    let folder = keys();
    let token = text(&folder, "keys/worker/join.token");
    let (_guarded, over_tls) = serve(&folder, "keys/coordinator");
    let mut plain = folder.diadem("coordinator --n 8 --run plain --listen 127.0.0.1:0");
    let (_plain, plain) = folder.serve_command(plain.env("DIADEM_JOIN_TOKEN", &token), "log");
    let mut silent = [&over_tls, &over_tls, &plain].map(|address| TcpStream::connect(address).unwrap());
    let begun = Instant::now();
    silent[1].write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    for stream in &mut silent {
        stream.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
        // A reset counts as an end.
        if let Err(error) = stream.read_to_end(&mut Vec::new()) {
            assert_eq!(error.kind(), ErrorKind::ConnectionReset);
        }
    }
    assert!(begun.elapsed() < Duration::from_secs(50), "{:?}", begun.elapsed());
}

#[test]
fn too_low_file_limit_is_reported() {
    let commands = [
        "count 12 --run run",
        "coordinator --n 12 --run run --listen 127.0.0.1:0",
        "worker --coordinator http://127.0.0.1:1",
    ];
    for command in commands {
        for open_files in [6, 7, 8, 16, 32] {
            let folder = Folder::new();
            let script = format!("ulimit -n {open_files}; exec {} {command}", env!("CARGO_BIN_EXE_diadem"));
            let mut bash = Command::new("bash");
            let outcome = bash.args(["-c", &script]).current_dir(folder.path()).output().unwrap();
            Completed::of(outcome).refused(&[&format!("only {open_files} files"), "ulimit -n"]);
        }
    }
    let folder = Folder::new();
    let script = format!("ulimit -n 64; exec {} count 12 --run run --json", env!("CARGO_BIN_EXE_diadem"));
    let enough = Command::new("bash").args(["-c", &script]).current_dir(folder.path()).output().unwrap();
    assert_eq!(Completed::of(enough).json()["total"], published(12));
}

/// A coordinator that lends once, and answers a renewal with the end of the run.
#[derive(Clone)]
struct LastRenewal(UnitId);

#[async_trait]
impl Lender for LastRenewal {
    async fn register(&self, _: Registration) -> Result<Welcome, CoordinatorError> {
        Ok(Welcome {
            worker: WorkerId(1),
            lease_time: Duration::from_millis(600),
            leases: Vec::new(),
            term: None,
        })
    }

    async fn lease(&self, _: WorkerId, _: u32, _: Duration) -> Result<LeaseReply, CoordinatorError> {
        std::future::pending().await
    }

    async fn renew(&self, _: WorkerId, _: Vec<Lease>) -> Result<Renewal, CoordinatorError> {
        Ok(Renewal { lost: vec![self.0], finished: true, drain: false })
    }

    async fn report(&self, report: Report) -> Result<Vec<Verdict>, CoordinatorError> {
        Ok(vec![Verdict::Known; report.counts.len()])
    }

    async fn release(&self, _: WorkerId, _: Vec<Lease>, _: bool) -> Result<(), CoordinatorError> {
        Ok(())
    }
}

#[test]
fn threads_and_lists_fit_into_limited_memory() {
    let folder = Folder::new();
    let limited = |kib: u32, command: &str| {
        let script = format!("ulimit -v {kib}; exec {} {command}", env!("CARGO_BIN_EXE_diadem"));
        let output = Command::new("bash").args(["-c", &script]).current_dir(folder.path()).output().unwrap();
        Completed::of(output)
    };
    let counts = "count 14 --method meet --json --quiet";
    let threads = limited(262_144, &format!("{counts} --threads 8 --run eight"));
    assert_eq!(threads.json()["total"], published(14));
    for words in ["8 threads may need 608 MiB of memory", "(ulimit -v): counts on 8 threads with lists of"] {
        assert!(threads.stderr.contains(words), "no {words:?} in {threads:?}");
    }
    // What the user has set is not changed.
    let set = limited(262_144, &format!("{counts} --threads 8 --memory 48 --in-memory"));
    assert!(set.stderr.contains("raise the limit, or use fewer --threads"), "{set:?}");
    let enough = limited(4 << 20, &format!("{counts} --threads 8 --run enough"));
    assert_eq!((enough.code, enough.stderr.as_str()), (Some(0), ""));
    for command in ["count 8 --run small", "coordinator --n 8 --run small --listen 127.0.0.1:0"] {
        limited(60_000, command).refused(&["58 MiB of address space", "ulimit -v 131072"]);
    }
}

#[test]
fn idle_worker_learns_of_the_end_at_renewal() {
    let plan = Plan::derive(PlanSpec::new(Board::new(8).unwrap())).unwrap();
    let kernel = queens::kernel::kernel(queens::kernel::Method::Search, None).unwrap();
    let config = config("here", kernel);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let summary = runtime.block_on(async {
        let work = worker::run(
            Arc::new(LastRenewal(UnitId(0))),
            Arc::new(plan),
            config,
            tokio::sync::watch::channel(worker::Wish::Stay).1,
        );
        tokio::time::timeout(Duration::from_secs(20), work).await.expect("it leaves").unwrap()
    });
    assert!(summary.finished);
}

#[test]
fn renewal_after_the_end_is_answered_with_the_end() {
    let folder = Folder::new();
    let (coordinator, address) =
        folder.serve("coordinator --n 10 --run run --stay --double-check none", "log");
    call(&address, async |mut client| {
        let plan = client.plan(v1::PlanRequest {}).await.unwrap().into_inner();
        let register = registration(plan.fingerprint, "a");
        let worker = client.register(register).await.unwrap().into_inner().worker;
        let renew = v1::RenewRequest { worker, leases: Vec::new() };
        assert!(!client.renew(renew.clone()).await.unwrap().into_inner().finished);
        assert_eq!(folder.run(&format!("worker --coordinator http://{address}")).code, Some(0));
        assert!(client.renew(renew).await.unwrap().into_inner().finished);
    });
    coordinator.terminate();
    assert_eq!(coordinator.end().code, Some(0));
}
