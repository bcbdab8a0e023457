//! The load of a coordinator: `cargo bench --bench load [-- WORKERS RATE SECONDS [LEASES WAITING]]`.
//!
//! Measures a coordinator on loopback with the plan of n = 28 (ten million units), TLS and a token. Simulated
//! workers (1000 by default) register, lease, renew and report made-up counts. Together they report RATE
//! counts a second (default 5000) for SECONDS (default 30). They hold LEASES units together (default: ten
//! seconds ahead each). WAITING further workers (default 0) have their share already and wait for units.
//! Prints the durable counts a second, and the time from a report to its acknowledgement. It also prints the
//! processor time and memory of the coordinator, and the processor time of the simulated workers, which share
//! the machine with it.

mod worker;

use std::fs;
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use ::worker::Credentials;
use domain::AccessToken;
use proto::v1::coordinator_client::CoordinatorClient;
use proto::{bearer, v1};
use tempfile::TempDir;
use tokio::task::JoinSet;
use tonic::transport::Endpoint;

use worker::{Acknowledgements, BearerToken, Client, LoadWorker};

/// The workers have come to their rate.
const WARM_UP: Duration = Duration::from_secs(10);

/// Starting takes no longer.
const PATIENCE: Duration = Duration::from_mins(2);

/// The processor's clock ticks in a second, as the system counts them.
const TICKS: f64 = 100.0;

fn main() {
    let numbers: Vec<u32> = std::env::args().filter_map(|arg| arg.parse().ok()).collect();
    let [workers, rate, seconds, leases, waiting] =
        [0, 1, 2, 3, 4].map(|at| numbers.get(at).copied().unwrap_or([1000, 5000, 30, 0, 0][at]));
    let runtime = tokio::runtime::Runtime::new().expect("threads");
    let time = Duration::from_secs(seconds.into());
    runtime.block_on(measure(workers, f64::from(rate), time, leases / workers, waiting));
}

async fn measure(workers: u32, rate: f64, time: Duration, leases_each: u32, waiting: u32) {
    let (coordinator, endpoint, token) = served();
    let client = || CoordinatorClient::with_interceptor(endpoint.connect_lazy(), BearerToken(bearer(&token)));
    let fingerprint = plan(client()).await;
    let acknowledged = Arc::new(Acknowledgements::default());
    let period = Duration::from_secs_f64(f64::from(workers) / rate);
    let mut crowd = JoinSet::new();
    for k in 0..workers {
        let worker = LoadWorker::new(client(), k, period, leases_each as usize, Arc::clone(&acknowledged));
        crowd.spawn(worker.run(fingerprint.clone()));
    }
    tokio::time::sleep(WARM_UP).await;
    for k in workers..workers + waiting {
        let worker = LoadWorker::new(client(), k, period, 0, Arc::clone(&acknowledged));
        crowd.spawn(worker.wait(fingerprint.clone()));
    }
    tokio::time::sleep(if waiting > 0 { WARM_UP } else { Duration::ZERO }).await;
    acknowledged.take();
    let (begun, cpu, own_cpu) = (Instant::now(), coordinator.cpu_seconds(), cpu_seconds("self"));
    tokio::time::sleep(time).await;
    let (seconds, mut latencies) = (begun.elapsed().as_secs_f64(), acknowledged.take());
    let (cpu, own_cpu) = (coordinator.cpu_seconds() - cpu, cpu_seconds("self") - own_cpu);
    let status = client().status(v1::StatusRequest {}).await.expect("a status").into_inner();
    println!("{} leases, {} workers registered", status.leased, status.workers_total);
    assert!(crowd.try_join_next().is_none(), "no worker has failed");
    crowd.shutdown().await;
    let counts: u64 = latencies.iter().map(|(_, counts)| u64::from(*counts)).sum();
    latencies.sort_unstable();
    let at = |share: f64| latencies[((latencies.len() - 1) as f64 * share) as usize].0.as_secs_f64() * 1e3;
    println!(
        "{workers} workers, {rate:.0} counts a second offered: {:.0} a second durable, in {:.0} reports a second",
        counts as f64 / seconds,
        latencies.len() as f64 / seconds,
    );
    println!(
        "acknowledged after {:.1} ms (p50), {:.1} ms (p99), {:.1} ms (longest)",
        at(0.5),
        at(0.99),
        at(1.0)
    );
    println!(
        "coordinator: {:.2} cores, {:.0} us a count, {:.0} MiB at most",
        cpu / seconds,
        1e6 * cpu / counts as f64,
        coordinator.peak_mib()
    );
    println!("simulated workers: {:.2} cores, beside it on the same machine", own_cpu / seconds);
}

/// A coordinator that has begun to start, and how workers come to it.
fn served() -> (CoordinatorProcess, Endpoint, AccessToken) {
    let folder = TempDir::new().expect("a folder");
    let keys = Command::new(env!("CARGO_BIN_EXE_diadem"))
        .args(["keys", "init", "keys", "--host", "127.0.0.1"])
        .current_dir(folder.path())
        .stdout(Stdio::null())
        .status();
    assert!(keys.expect("the binary starts").success());
    let read = |file: &str| fs::read_to_string(folder.path().join("keys/worker").join(file)).expect("a key");
    let authority = Some(read("ca.pem"));
    let token: AccessToken = read("join.token").trim().parse().expect("a token");
    let address = TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a free port");
    let log = fs::File::create(folder.path().join("log")).expect("a file");
    let coordinator = Command::new(env!("CARGO_BIN_EXE_diadem"))
        .args(["coordinator", "--n", "28", "--run", "run", "--listen", &address.to_string()])
        .args(["--keys", "keys/coordinator"])
        .current_dir(folder.path())
        .stdout(Stdio::null())
        .stderr(log)
        .spawn()
        .expect("the binary starts");
    let coordinator = CoordinatorProcess { process: coordinator, _folder: folder };
    let endpoint = Endpoint::from_shared(format!("https://{address}")).expect("an address").tcp_nodelay(true);
    let tls = Credentials { authority, ..Credentials::default() }.tls().expect("an authority");
    (coordinator, endpoint.tls_config(tls).expect("a certificate"), token)
}

/// Waits for the coordinator. Returns the fingerprint of its plan.
async fn plan(mut client: Client) -> String {
    let begun = Instant::now();
    loop {
        match client.plan(v1::PlanRequest {}).await {
            Ok(reply) => return reply.into_inner().fingerprint,
            Err(error) => assert!(begun.elapsed() < PATIENCE, "the coordinator does not answer: {error}"),
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// The coordinator's process; it ends with the value.
struct CoordinatorProcess {
    process: Child,
    _folder: TempDir,
}

impl CoordinatorProcess {
    fn cpu_seconds(&self) -> f64 {
        cpu_seconds(&self.process.id().to_string())
    }

    fn peak_mib(&self) -> f64 {
        let status = proc(&self.process.id().to_string(), "status");
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a peak");
        line.trim().trim_end_matches(" kB").parse::<f64>().expect("a number") / 1024.0
    }
}

fn proc(process: &str, file: &str) -> String {
    fs::read_to_string(format!("/proc/{process}/{file}")).expect("the process is there")
}

/// The processor time of a process so far, user and system.
fn cpu_seconds(process: &str) -> f64 {
    let stat = proc(process, "stat");
    let (_, fields) = stat.rsplit_once(") ").expect("a name in brackets");
    let ticks = fields.split(' ').skip(11).take(2).filter_map(|field| field.parse::<f64>().ok());
    ticks.sum::<f64>() / TICKS
}

impl Drop for CoordinatorProcess {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}
