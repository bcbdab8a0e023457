//! Hundreds of SIGKILLs of coordinator, follower and workers at random moments. Every total is exact. Nothing
//! acknowledged is lost; a relay outside these processes keeps the list of acknowledged counts.

use std::time::Duration;

use rand::rngs::StdRng;
use rand::{Rng, RngExt, SeedableRng};

use crate::harness::{Folder, Running, published, repetitions, until};
use crate::relay::Relay;

const WORKERS: usize = 3;

/// A run whose processes are killed and started again.
struct Run {
    folder: Folder,
    n: u8,
    address: String,
    relay: Relay,
    coordinator: Option<Running>,
    follower: Option<Running>,
    workers: Vec<Option<Running>>,
}

impl Run {
    fn begin(n: u8) -> Self {
        let folder = Folder::new();
        let (coordinator, address) = folder.serve(&serve(n), LOG);
        let (coordinator, relay) = (Some(coordinator), Relay::to(&address));
        let follower = Some(follower(&folder, &address));
        let workers = (0..WORKERS).map(|k| Some(worker(&folder, &relay, k))).collect();
        Self { folder, n, address, relay, coordinator, follower, workers }
    }

    fn kill_one(&mut self, random: &mut impl Rng) {
        match random.random_range(0..4) {
            0 | 1 => {
                self.coordinator.take().unwrap().kill();
                for run in ["run", "copy"] {
                    self.relay.nothing_is_lost(&self.folder, run);
                }
                self.coordinator = Some(self.folder.serve_at(&self.address, &serve(self.n), LOG));
                // A complete follower has left, and the answer waits for a follower.
                std::thread::sleep(Duration::from_millis(100));
                if self.follower.as_mut().unwrap().has_ended() {
                    self.follower = Some(follower(&self.folder, &self.address));
                }
            }
            2 => {
                self.follower.take().unwrap().kill();
                self.relay.nothing_is_lost(&self.folder, "copy");
                self.follower = Some(follower(&self.folder, &self.address));
            }
            _ => {
                let k = random.random_range(0..WORKERS);
                self.workers[k].take().unwrap().kill();
                self.workers[k] = Some(worker(&self.folder, &self.relay, k));
            }
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

    /// Says how many counts were acknowledged.
    fn ends_exact(self) -> usize {
        let answer = self.coordinator.unwrap().end().json();
        assert_eq!(answer["total"], published(self.n));
        assert_eq!(self.follower.unwrap().end().code, Some(0));
        let units = answer["units"].as_u64().unwrap();
        for run in ["run", "copy"] {
            assert_eq!(self.folder.counts(run) as u64, units, "one record for each unit");
            assert_eq!(self.folder.run(&format!("verify {run}")).code, Some(0));
        }
        assert_eq!(self.folder.ledger("run"), self.folder.ledger("copy"));
        self.relay.nothing_is_lost(&self.folder, "run")
    }
}

const LOG: &str = "coordinator.log";

fn serve(n: u8) -> String {
    format!("coordinator --n {n} --run run --replicas 1 --json")
}

fn follower(folder: &Folder, address: &str) -> Running {
    folder.start(&format!("follow http://{address} --run copy"), "follower.log")
}

fn worker(folder: &Folder, relay: &Relay, k: usize) -> Running {
    let slow = "--threads 1 --method search --isa portable";
    folder.start(&format!("worker --coordinator http://{} {slow} --name w{k}", relay.address), "workers.log")
}

#[test]
fn random_kills_lose_nothing_and_keep_totals_exact() {
    let mut random = StdRng::seed_from_u64(200);
    let (kills, mut killed, mut counted, mut acknowledged) = (repetitions("DIADEM_KILLS", 20), 0, 0, 0);
    while killed < kills {
        let mut run = Run::begin([14, 15][counted % 2]);
        while killed < kills && run.goes_on(&mut random) {
            run.kill_one(&mut random);
            killed += 1;
        }
        acknowledged += run.ends_exact();
        counted += 1;
    }
    println!("{killed} kills, {counted} counts, {acknowledged} acknowledgements, all on record");
}
