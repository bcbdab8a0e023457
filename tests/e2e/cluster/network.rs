//! Workers and a coordinator with a bad network between them: no count is lost, no lease that need not be, and nothing
//! is counted twice.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::credentials::{keys, serve};
use crate::harness::{Folder, Running, published, until};
use crate::proxy::{Proxy, Swallow, Weather};

/// A lease is safe for this long without renewal.
const LEASE_TIME: Duration = Duration::from_secs(15);

/// How long the network is cut, longer than a lease is safe; `DIADEM_CUT_SECONDS=60` is the full size.
fn cut_time() -> Duration {
    let seconds = std::env::var("DIADEM_CUT_SECONDS").ok().and_then(|text| text.parse().ok());
    Duration::from_secs(seconds.unwrap_or(18))
}

/// A coordinator and workers that reach it through proxies only.
struct Cluster {
    folder: Folder,
    n: u8,
    coordinator: Running,
    address: String,
    proxies: Vec<Proxy>,
    workers: Vec<Running>,
    /// Whether no lease may end by itself.
    keeps_leases: bool,
}

impl Cluster {
    /// This number of workers with one thread, each behind its own proxy.
    fn new(n: u8, workers: usize, weather: Weather) -> Self {
        let folder = Folder::new();
        let serve =
            format!("coordinator --n {n} --method search --run run --double-check none --stay --json");
        let (coordinator, address) = folder.serve(&serve, "coordinator.log");
        let proxies: Vec<_> = (0..workers).map(|_| Proxy::new(&address, weather)).collect();
        let start = |(k, proxy): (usize, &Proxy)| {
            let url = format!("http://{}", proxy.address);
            let slow = "--threads 1 --method search --isa portable";
            folder.start(&format!("worker --coordinator {url} {slow} --name w{k}"), &format!("w{k}.log"))
        };
        let workers = proxies.iter().enumerate().map(start).collect();
        Self { folder, n, coordinator, address, proxies, workers, keeps_leases: true }
    }

    fn counts(&self) -> usize {
        self.folder.counts("run")
    }

    /// The status of the run, not through the proxies.
    fn status(&self) -> Value {
        self.folder.run(&format!("status --coordinator http://{} --json", self.address)).json()
    }

    fn wait_for_first_records(&self) {
        until("something is on record", || self.counts() > 50);
        let workers = self.workers.len();
        until("all workers are there", || self.status()["workers"].as_array().map(Vec::len) == Some(workers));
    }

    /// Waits for the end of the count: one record for each unit, and no worker has lost a lease or been forgotten. At the
    /// very end units that are long under way may be lent once more, so that some are counted twice.
    fn ends_exact(mut self) {
        let told = self.summaries();
        self.coordinator.terminate();
        let answer = self.coordinator.end().json();
        assert_eq!(answer["total"], published(self.n));
        let units = answer["units"].as_u64().unwrap();
        assert_eq!(self.folder.counts("run") as u64, units, "one record for each unit");
        assert!(told >= units + checks(&self.folder), "{told} of {units}");
    }

    /// Stops the workers in the middle of the count: no count was lost, no lease either, and none was counted twice.
    fn stops_exact(mut self) {
        self.workers.iter().for_each(Running::terminate);
        let told = self.summaries();
        self.coordinator.terminate();
        assert_eq!(self.coordinator.end().code, Some(143));
        let counts = self.folder.counts("run") as u64;
        assert_eq!(told, counts + checks(&self.folder), "each counted once");
    }

    /// Waits for the end of all workers; none may have lost a count. Returns the acknowledged units in their
    /// summaries.
    fn summaries(&mut self) -> u64 {
        let summary = |worker: Running| {
            let outcome = worker.end();
            assert_eq!(outcome.code, Some(0), "{outcome:?}");
            let log = outcome.stderr;
            assert!(!self.keeps_leases || !log.contains("leases lost"), "{log}");
            assert_eq!(log.matches(" registered ").count(), 1, "{log}");
            acknowledged(&log)
        };
        let workers = std::mem::take(&mut self.workers);
        workers.into_iter().map(summary).sum()
    }
}

/// Checks on record. Symmetric counts are always checked.
fn checks(folder: &Folder) -> u64 {
    folder.ledger("run").matches("\"kind\":\"check\"").count() as u64
}

/// The acknowledged units in a worker's summary.
fn acknowledged(log: &str) -> u64 {
    let line = log.lines().find(|line| line.contains(" leaving ")).unwrap_or_else(|| panic!("{log}"));
    let units = line.split_once("units=").unwrap().1;
    units.split_whitespace().next().unwrap().parse().unwrap()
}

#[test]
fn coordinator_listens_on_a_name() {
    let folder = Folder::new();
    let serving = "coordinator --n 8 --run run --stay --listen localhost:0 --http localhost:0";
    let mut coordinator = folder.start(serving, "log");
    let address = coordinator.address();
    assert!(address.starts_with("127.0.0.1:") || address.starts_with("[::1]:"), "{address}");
    let start = format!("start workers with: diadem worker --coordinator http://{address}");
    until("the log says how to start workers", || coordinator.says(&start));
    let port = address.rsplit_once(':').unwrap().1;
    let status = folder.run(&format!("status --coordinator http://localhost:{port} --json"));
    assert_eq!(status.json()["n"], 8);
    let unknown = folder.run("coordinator --n 8 --run other --listen nowhere.invalid:7227");
    unknown.refused(&["cannot listen on nowhere.invalid:7227", "--listen takes an address of this machine"]);
    assert_eq!(unknown.code, Some(1), "a name server that fails may answer later: {unknown:?}");
}

#[test]
fn delay_of_200_ms_keeps_the_total_exact() {
    let weather = Weather { delay: Duration::from_millis(200), ..Weather::default() };
    Cluster::new(14, 2, weather).ends_exact();
}

#[test]
fn breaking_connections_keep_the_total_exact() {
    let weather = Weather { delay: Duration::from_millis(1), breaks_within: Some(30_000) };
    let cluster = Cluster::new(17, 2, weather);
    until("some have broken", || cluster.proxies.iter().all(|proxy| proxy.connections() > 3));
    cluster.ends_exact();
}

#[test]
fn a_cut_longer_than_a_lease_is_counted_through() {
    let mut cluster = Cluster::new(17, 1, Weather::default());
    cluster.wait_for_first_records();
    cluster.proxies[0].cut();
    let begun = Instant::now();
    // Records that were being written are on disk.
    std::thread::sleep(LEASE_TIME / 3);
    let (before, leased) = (cluster.counts(), cluster.status()["leased"].as_u64().unwrap() as usize);
    assert!(cut_time() > LEASE_TIME && leased > 10, "{leased}");
    std::thread::sleep(cut_time().saturating_sub(begun.elapsed()));
    assert_eq!(cluster.counts(), before, "nothing gets through");
    cluster.proxies[0].mend();
    assert!(!cluster.workers[0].has_ended());
    // Bytes in flight at the time of the cut arrive first.
    until("the counts that were made meanwhile come at once", || {
        let ledger = cluster.folder.ledger("run");
        let groups =
            ledger.split("\"kind\":\"mark\"").map(|group| group.matches("\"kind\":\"count\"").count());
        2 * groups.max().unwrap_or(0) > leased
    });
    // Counts made after the leases had ended are accepted, too.
    cluster.keeps_leases = false;
    cluster.ends_exact();
}

#[test]
fn half_open_connection_is_detected_by_both_ends() {
    let cluster = Cluster::new(19, 3, Weather::default());
    cluster.wait_for_first_records();
    let directions = [(true, false), (false, true), (true, true)];
    let begun = Instant::now();
    for (proxy, (up, down)) in cluster.proxies.iter().zip(directions) {
        assert_eq!(proxy.connections(), 1);
        proxy.half_open(Swallow { up, down });
    }
    until("all workers have connected again", || cluster.proxies.iter().all(|proxy| proxy.connections() > 1));
    let noticed = begun.elapsed();
    assert!(noticed < LEASE_TIME, "workers noticed after {noticed:?}");
    until("both ends have given up", || {
        cluster.proxies.iter().all(|proxy| proxy.is_given_up(0) == [true; 2])
    });
    let noticed = begun.elapsed();
    assert!(noticed < Duration::from_secs(50), "the coordinator noticed after {noticed:?}");
    cluster.stops_exact();
}

#[test]
fn unanswered_handshake_is_retried() {
    let folder = keys();
    let (_coordinator, address) = serve(&folder, "keys/coordinator");
    let proxy = Proxy::new(&address, Weather::default());
    proxy.cut();
    let slow = "--threads 1 --isa portable";
    let worker = format!("worker --coordinator https://{} --keys keys/worker {slow}", proxy.address);
    let _worker = folder.start(&worker, "worker.log");
    until("the worker connects", || proxy.connections() == 1);
    // The process that took the first connection has ended; its successor listens.
    proxy.half_open(Swallow { up: true, down: true });
    proxy.mend();
    until("it counts", || folder.counts("run") > 0);
    assert!(proxy.is_given_up(0)[0] && proxy.connections() > 1);
}
