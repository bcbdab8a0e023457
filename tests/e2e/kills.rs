//! Hundreds of SIGKILLs of coordinator and workers at random moments: every total is exact.

use std::time::Duration;

use rand::rngs::StdRng;
use rand::{Rng, RngExt, SeedableRng};

use crate::harness::{Folder, Running, free_address, published, repetitions, until};

const WORKERS: usize = 3;

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
    let kills = repetitions("DIADEM_KILLS", 20);
    while killed < kills {
        let mut run = Run::begin([14, 15][counted % 2]);
        while killed < kills && run.goes_on(&mut random) {
            run.kill_one(&mut random);
            killed += 1;
        }
        run.ends_exact();
        counted += 1;
    }
    println!("{killed} kills, {counted} counts, all exact");
}
