//! Attacks that delay a run: clients that take units and never report them, workers that die, and a disk that fills. With
//! one honest worker, the run still ends with the exact total.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use proto::v1;
use proto::v1::coordinator_client::CoordinatorClient;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use tokio::runtime::Runtime;
use tonic::Status;
use tonic::transport::Channel;

use crate::client::registration;
use crate::harness::{Folder, published, repetitions};
use crate::small_disk::SmallDisk;

/// How long a client that hoards units waits between two renewals.
const RENEWAL: Duration = Duration::from_secs(2);

/// Registers a client of this name, and leases all units that it can get.
async fn take_units(
    address: &str,
    name: &str,
) -> Result<(CoordinatorClient<Channel>, u64, Vec<v1::Lease>), Status> {
    let connected = CoordinatorClient::connect(format!("http://{address}")).await;
    let mut client = connected.map_err(|error| Status::unavailable(error.to_string()))?;
    let plan = client.plan(v1::PlanRequest {}).await?.into_inner();
    let machine = name.to_owned();
    let registration = v1::RegisterRequest { machine, threads: 16, ..registration(plan.fingerprint, name) };
    let worker = client.register(registration).await?.into_inner().worker;
    let request = v1::LeaseRequest { worker, want: 4096, wait_ms: 1000 };
    let leases = client.lease(request).await?.into_inner().leases;
    Ok((client, worker, leases))
}

/// Takes units and disappears, again and again. A new name each time makes it a new machine.
async fn lease_and_forget(address: String, mut random: StdRng) {
    for time in 0.. {
        take_units(&address, &format!("forgetful-{time}")).await.ok();
        tokio::time::sleep(Duration::from_millis(random.random_range(100..1000))).await;
    }
}

/// Takes all units that it can get, and renews them without ever reporting a count.
async fn renew_and_never_report(address: String) {
    loop {
        let Ok((mut client, worker, mut held)) = take_units(&address, "hoarder").await else {
            tokio::time::sleep(RENEWAL).await;
            continue;
        };
        while client.renew(v1::RenewRequest { worker, leases: held.clone() }).await.is_ok() {
            tokio::time::sleep(RENEWAL).await;
            let more = client.lease(v1::LeaseRequest { worker, want: 4096, wait_ms: 0 }).await;
            held.extend(more.map(|more| more.into_inner().leases).unwrap_or_default());
        }
    }
}

/// Starts workers and kills each at a random moment: while it registers, counts or reports.
fn start_and_kill_workers(folder: &Folder, address: &str, mut random: StdRng, has_ended: &AtomicBool) {
    while !has_ended.load(Ordering::Relaxed) {
        let worker = folder.start(
            &format!("worker --coordinator http://{address} --threads 1 --method search --machine mortal"),
            "mortal.log",
        );
        thread::sleep(Duration::from_millis(random.random_range(0..3000)));
        worker.kill();
    }
}

/// Fills the disk for a while, again and again.
fn fill_and_empty(disk: &SmallDisk, mut random: StdRng, has_ended: &AtomicBool) {
    while !has_ended.load(Ordering::Relaxed) {
        thread::sleep(Duration::from_millis(random.random_range(500..5000)));
        disk.fill();
        thread::sleep(Duration::from_millis(random.random_range(100..2000)));
        disk.make_room();
    }
}

/// `DIADEM_LIVENESS=60` attacks for half an hour.
#[test]
fn run_under_attack_ends_exact() {
    let seeds = repetitions("DIADEM_LIVENESS", 1);
    let n = if seeds > 1 { 17 } else { 15 };
    for seed in 0..seeds {
        let random = |attack: u64| StdRng::seed_from_u64(u64::from(seed) << 8 | attack);
        let folder = Folder::new();
        let disk = SmallDisk::mount(folder.path().join("disk"), 64);
        let run = if disk.is_some() { "disk/run" } else { "run" };
        let checks = ["none", "5%", "all"][seed as usize % 3];
        let serve = format!("coordinator --n {n} --method search --run {run} --double-check {checks} --json");
        let (mut coordinator, address) = folder.serve(&serve, "log");
        let honest = folder.start(
            &format!("worker --coordinator http://{address} --threads 1 --method search --machine honest"),
            "honest.log",
        );
        let (runtime, begun, has_ended) = (Runtime::new().unwrap(), Instant::now(), AtomicBool::new(false));
        for attack in 0..3 {
            runtime.spawn(lease_and_forget(address.clone(), random(attack)));
        }
        runtime.spawn(renew_and_never_report(address.clone()));
        thread::scope(|scope| {
            scope.spawn(|| start_and_kill_workers(&folder, &address, random(3), &has_ended));
            if let Some(disk) = &disk {
                scope.spawn(|| fill_and_empty(disk, random(4), &has_ended));
            }
            let patience = Duration::from_mins(10);
            while !coordinator.has_ended() && begun.elapsed() < patience {
                thread::sleep(Duration::from_millis(50));
            }
            has_ended.store(true, Ordering::Relaxed);
        });
        let taken = begun.elapsed();
        runtime.shutdown_background();
        assert!(
            coordinator.has_ended(),
            "seed {seed}: {}",
            std::fs::read_to_string(&coordinator.log).unwrap()
        );
        println!("seed {seed}, n = {n}, --double-check {checks}: ended after {taken:?}");
        assert_eq!(coordinator.end().json()["total"], published(n), "seed {seed}");
        assert_eq!(honest.end().code, Some(0), "seed {seed}");
    }
}
