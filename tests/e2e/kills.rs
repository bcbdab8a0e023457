//! Hundreds of SIGKILLs of coordinator and workers at random moments: every total is exact.

use std::time::{Duration, Instant};

use rand::rngs::StdRng;
use rand::{Rng, RngExt, SeedableRng};

use crate::harness::{Folder, Running, free_address, published, until};

const WORKERS: usize = 3;

/// Kills in all; `DIADEM_KILLS=200` is the full number.
fn kills() -> u32 {
    std::env::var("DIADEM_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(20)
}

/// A run whose processes are killed and started again.
struct Run {
    folder: Folder,
    n: u8,
    address: String,
    coordinator: Option<Running>,
    workers: Vec<Option<Running>>,
}

impl Run {
    fn begin(n: u8) -> Self {
        let (folder, address) = (Folder::new(), free_address());
        let coordinator = Some(coordinator(&folder, n, &address));
        let workers = (0..WORKERS).map(|k| Some(worker(&folder, &address, k))).collect();
        Self { folder, n, address, coordinator, workers }
    }

    fn kill_one(&mut self, random: &mut impl Rng) {
        if random.random_ratio(1, 2) {
            self.coordinator.take().unwrap().kill();
            self.coordinator = Some(coordinator(&self.folder, self.n, &self.address));
        } else {
            let k = random.random_range(0..WORKERS);
            self.workers[k].take().unwrap().kill();
            self.workers[k] = Some(worker(&self.folder, &self.address, k));
        }
    }

    /// Waits until a random number of records more, and a random moment, or the end.
    fn goes_on(&mut self, random: &mut impl Rng) -> bool {
        let next = self.folder.counts("run") + random.random_range(0..60);
        let coordinator = self.coordinator.as_mut().unwrap();
        until("there is progress", || self.folder.counts("run") > next || coordinator.has_ended());
        std::thread::sleep(Duration::from_micros(random.random_range(0..20_000)));
        !coordinator.has_ended()
    }

    fn ends_exact(self) {
        let answer = self.coordinator.unwrap().end().json();
        assert_eq!(answer["total"], published(self.n));
        let units = answer["units"].as_u64().unwrap();
        assert_eq!(self.folder.counts("run") as u64, units, "one record for each unit");
        assert_eq!(self.folder.run("verify run").code, Some(0));
    }
}

fn coordinator(folder: &Folder, n: u8, address: &str) -> Running {
    folder.start(&format!("coordinator --n {n} --run run --listen {address} --json"), "coordinator.log")
}

fn worker(folder: &Folder, address: &str, k: usize) -> Running {
    let slow = "--threads 1 --method search --isa portable";
    folder.start(&format!("worker --coordinator http://{address} {slow} --name w{k}"), "workers.log")
}

#[test]
fn kills_at_random_moments_leave_every_total_exact() {
    let mut random = StdRng::seed_from_u64(200);
    let (mut killed, mut counted) = (0, 0);
    while killed < kills() {
        let mut run = Run::begin([14, 15][counted % 2]);
        while killed < kills() && run.goes_on(&mut random) {
            run.kill_one(&mut random);
            killed += 1;
        }
        run.ends_exact();
        counted += 1;
    }
    println!("{killed} kills, {counted} counts, all exact");
}

/// Runs of which a process is killed for good or started again; `DIADEM_ENDS=50` is the full number.
fn ends() -> u32 {
    std::env::var("DIADEM_ENDS").ok().and_then(|text| text.parse().ok()).unwrap_or(3)
}

/// Two workers of one machine, of which one is killed for good, and every other time the coordinator as well, which comes
/// back: the other worker may count all that is left, the checks of its own counts included.
#[test]
fn a_run_ends_within_ten_seconds_of_its_last_count_whoever_was_killed() {
    let mut random = StdRng::seed_from_u64(10);
    for round in 0..ends() {
        let (folder, address) = (Folder::new(), free_address());
        let n = if round < 3 { 16 } else { random.random_range(16..=18) };
        let serve = format!(
            "coordinator --n {n} --method search --run run --listen {address} --double-check 10% --json"
        );
        let mut coordinator = folder.start(&serve, "coordinator.log");
        let [dies, lives] = ["dies", "lives"].map(|name| {
            let slow = "--threads 1 --method search --isa portable --machine both";
            let args = format!("worker --coordinator http://{address} {slow} --name {name}");
            folder.start(&args, &format!("{name}.log"))
        });
        let first = random.random_range(1..600);
        until("there is progress", || folder.counts("run") > first || coordinator.has_ended());
        dies.kill();
        if round % 2 == 0 {
            std::thread::sleep(Duration::from_millis(random.random_range(0..400)));
            coordinator.kill();
            std::thread::sleep(Duration::from_millis(random.random_range(0..600)));
            coordinator = folder.start(&serve, "coordinator.log");
        }
        let (mut counts, mut last) = (folder.counts("run"), Instant::now());
        let begun = Instant::now();
        while !coordinator.has_ended() {
            assert!(begun.elapsed() < Duration::from_mins(5), "round {round}, n = {n}: it does not end");
            std::thread::sleep(Duration::from_millis(50));
            let now = folder.counts("run");
            if now != counts {
                (counts, last) = (now, Instant::now());
            }
        }
        let waited = last.elapsed();
        assert!(waited < Duration::from_secs(10), "round {round}, n = {n}: {waited:?} after the last count");
        let answer = coordinator.end().json();
        assert_eq!(answer["total"], published(n));
        assert_eq!(lives.end().code, Some(0));
        println!("round {round}: n = {n}, {waited:?} from the last count to the end");
    }
}
