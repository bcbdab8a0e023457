//! A coordinator that nobody can wear down: what is out of proportion is refused, storms pass.

use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::process::Command;
use std::time::{Duration, Instant};

use proto::v1;
use proto::v1::coordinator_client::CoordinatorClient;
use tonic::transport::Channel;
use tonic::{Code, Request};

use crate::harness::{Folder, Running, free_address, published, until};
use crate::security::{keys, serve, text};

/// What a client of any kind gets for a call.
fn call<T>(address: &str, call: impl AsyncFnOnce(CoordinatorClient<Channel>) -> T) -> T {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        call(CoordinatorClient::connect(format!("http://{address}")).await.unwrap()).await
    })
}

fn open_coordinator(folder: &Folder) -> (String, Running) {
    let address = free_address();
    let coordinator = folder.start(&format!("coordinator --n 12 --run run --listen {address}"), "log");
    until("the coordinator listens", || TcpStream::connect(&address).is_ok());
    (address, coordinator)
}

#[test]
fn requests_out_of_all_proportion_and_of_unknown_fields_are_refused() {
    let folder = Folder::new();
    let (address, _coordinator) = open_coordinator(&folder);
    call(&address, async |mut client| {
        let plan = client.plan(v1::PlanRequest {}).await.unwrap().into_inner();
        let register = v1::RegisterRequest {
            fingerprint: plan.fingerprint,
            name: "a".into(),
            threads: 1,
            kernel: "search/portable".into(),
            held: Vec::new(),
            machine: "here".into(),
            self_test: 14_200,
            ..v1::RegisterRequest::default()
        };
        let refused = [
            v1::RegisterRequest { threads: u32::MAX, ..register.clone() },
            v1::RegisterRequest { threads: 0, ..register.clone() },
            v1::RegisterRequest { name: "x".repeat(1_000_000), ..register.clone() },
            v1::RegisterRequest { name: "two\nlines".into(), ..register.clone() },
            v1::RegisterRequest { kernel: "magic".into(), ..register.clone() },
            v1::RegisterRequest { held: vec![0; 100_001], ..register.clone() },
        ];
        for request in refused {
            assert_eq!(client.register(request).await.unwrap_err().code(), Code::InvalidArgument);
        }
        let vast = v1::RegisterRequest { name: "x".repeat(8 << 20), ..register.clone() };
        assert_eq!(client.register(vast).await.unwrap_err().code(), Code::OutOfRange);
        let unknown_worker = client.lease(v1::LeaseRequest { worker: 7, want: u32::MAX, wait_ms: u64::MAX });
        assert_eq!(unknown_worker.await.unwrap_err().code(), Code::InvalidArgument);
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
}

#[test]
fn a_storm_of_registrations_is_refused_and_passes() {
    let folder = Folder::new();
    let (address, coordinator) = open_coordinator(&folder);
    call(&address, async |mut client| {
        let plan = client.plan(v1::PlanRequest {}).await.unwrap().into_inner();
        let register = v1::RegisterRequest {
            fingerprint: "of another plan, so that none is left behind".into(),
            name: "storm".into(),
            threads: 1,
            kernel: "search/portable".into(),
            held: Vec::new(),
            machine: "here".into(),
            self_test: 14_200,
            ..v1::RegisterRequest::default()
        };
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
fn more_connections_than_there_are_open_files_do_not_end_a_coordinator() {
    let folder = keys();
    let address = free_address();
    let script = format!(
        "ulimit -n 96; exec {} coordinator --n 12 --run run --listen {address} --keys keys/coordinator --json",
        env!("CARGO_BIN_EXE_diadem")
    );
    let mut coordinator = folder.start_command(Command::new("bash").args(["-c", &script]), "log");
    until("the coordinator listens", || TcpStream::connect(&address).is_ok());
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
    let (over_tls, plain) = (free_address(), free_address());
    let _guarded = [
        serve(&folder, &over_tls, "keys/coordinator"),
        folder.start_command(
            folder
                .diadem(&format!("coordinator --n 8 --run plain --listen {plain}"))
                .env("DIADEM_JOIN_TOKEN", &token),
            "log",
        ),
    ];
    until("the coordinator listens", || TcpStream::connect(&plain).is_ok());
    let mut silent = [&over_tls, &over_tls, &plain].map(|address| TcpStream::connect(address).unwrap());
    let begun = Instant::now();
    silent[1].write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    for stream in &mut silent {
        stream.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
        // A reset is as good as an end.
        if let Err(error) = stream.read_to_end(&mut Vec::new()) {
            assert_eq!(error.kind(), ErrorKind::ConnectionReset);
        }
    }
    assert!(begun.elapsed() < Duration::from_secs(50), "{:?}", begun.elapsed());
}
