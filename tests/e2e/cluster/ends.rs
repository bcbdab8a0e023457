//! A run whose processes are killed ends soon after its last count if a connected worker may make the checks.

use std::time::{Duration, Instant};

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use crate::harness::{Folder, Running, published, repetitions, until};

/// From the last record to the answer.
const MAX_SILENCE: Duration = Duration::from_secs(10);

/// The longest time between two records: the leases of a killed worker expire before they are lent again.
const LEASE: Duration = Duration::from_secs(15);

/// The killed processes. A killed coordinator is restarted.
#[derive(Clone, Copy, Debug)]
enum Killed {
    Worker,
    Coordinator,
    Both,
}

/// A run with two workers and a check of each unit.
struct Run {
    folder: Folder,
    serve: String,
    address: String,
    coordinator: Running,
    workers: [Running; 2],
}

impl Run {
    fn begin(n: u8, machines: [&str; 2]) -> Self {
        let folder = Folder::new();
        let plan = format!("--n {n} --method search --double-check all");
        let serve = format!("coordinator {plan} --run run --json");
        let (coordinator, address) = folder.serve(&serve, "coordinator.log");
        // Slow enough that kills come in the middle.
        let kernel = if n < 18 { "--method search --isa portable" } else { "--method search" };
        let workers = [0, 1].map(|k| {
            let name = format!("--threads 1 --name w{k} --machine {}", machines[k]);
            folder.start(
                &format!("worker --coordinator http://{address} {kernel} {name}"),
                &format!("w{k}.log"),
            )
        });
        Self { folder, serve, address, coordinator, workers }
    }

    /// Kills at a random moment. Returns the run, the remaining workers, and the counts at the restart of a
    /// coordinator.
    fn kill(self, killed: Killed, random: &mut StdRng) -> (Folder, Running, Vec<Running>, u64) {
        let Self { folder, serve, address, mut coordinator, workers: [dies, lives] } = self;
        let first = random.random_range(1..3000);
        until("there is progress", || folder.counts_and_checks("run") > first || coordinator.has_ended());
        let (mut left, mut counted) = (vec![lives], 0);
        match killed {
            Killed::Coordinator => left.push(dies),
            Killed::Worker | Killed::Both => dies.kill(),
        }
        if !matches!(killed, Killed::Worker) {
            std::thread::sleep(Duration::from_millis(random.random_range(0..400)));
            coordinator.kill();
            counted = folder.counts("run") as u64;
            std::thread::sleep(Duration::from_millis(random.random_range(0..600)));
            coordinator = folder.serve_at(&address, &serve, "coordinator.log");
        }
        (folder, coordinator, left, counted)
    }
}

/// Waits for the end. Returns the time without a record before the end, and the longest such time.
fn silent_times(folder: &Folder, coordinator: &mut Running) -> (Duration, Duration) {
    let begun = Instant::now();
    let (mut records, mut last, mut longest) = (folder.counts_and_checks("run"), begun, Duration::ZERO);
    while !coordinator.has_ended() {
        assert!(begun.elapsed() < Duration::from_mins(8), "it does not end");
        std::thread::sleep(Duration::from_millis(50));
        longest = longest.max(last.elapsed());
        let now = folder.counts_and_checks("run");
        if now != records {
            (records, last) = (now, Instant::now());
        }
    }
    (last.elapsed(), longest)
}

#[test]
fn run_ends_within_10_s_of_last_record_after_kills() {
    for seed in 0..repetitions("DIADEM_ENDS", 3) {
        let mut random = StdRng::seed_from_u64(seed.into());
        let n = if seed < 3 { 16 } else { random.random_range(16..=18) };
        let killed = [Killed::Both, Killed::Worker, Killed::Coordinator][seed as usize % 3];
        let machines = [["both", "both"], ["one", "other"]][random.random_range(0..2)];
        let (folder, mut coordinator, left, counted) = Run::begin(n, machines).kill(killed, &mut random);
        let (last, longest) = silent_times(&folder, &mut coordinator);
        let told = format!(
            "seed {seed}, n = {n}, {machines:?}, {killed:?} killed: {last:?} at the end, {longest:?} at most"
        );
        println!("{told}");
        let ended = coordinator.end();
        assert!(!ended.stderr.contains("another coordinator"), "{told}: {ended:?}");
        let answer = ended.json();
        // A coordinator that starts with all units counted gives workers twenty seconds to connect, whatever checks
        // are missing.
        let is_counted = counted >= answer["units"].as_u64().unwrap();
        assert!((last < MAX_SILENCE || is_counted) && longest < LEASE + MAX_SILENCE, "{told}");
        assert_eq!(answer["total"], published(n), "{told}");
        let twice = |name: &str| answer["worth"][name].as_u64().unwrap();
        let checked = twice("counted_twice_on_two_machines") + twice("counted_twice_on_one_machine");
        assert_eq!(checked, answer["units"].as_u64().unwrap(), "{told}");
        for worker in left {
            let ended = worker.end();
            let warns_of_leases = |line: &str| line.contains("WARN") && line.contains("leases lost");
            assert!(ended.code == Some(0) && !ended.stderr.lines().any(warns_of_leases), "{told}: {ended:?}");
        }
    }
}

#[test]
fn worker_of_earlier_coordinator_hears_of_the_end() {
    let Run { folder, serve, address, coordinator, workers: [worker, other] } = Run::begin(14, ["a", "b"]);
    other.kill();
    until("it counts", || folder.counts("run") > 20);
    coordinator.kill();
    until("the worker waits", || worker.says("waiting for the coordinator"));
    assert_eq!(folder.run("count 14 --run run").code, Some(0));
    let coordinator = folder.serve_at(&address, &serve, "coordinator.log");
    assert_eq!(coordinator.end().json()["total"], published(14));
    assert_eq!(worker.end().code, Some(0));
}
