//! Two owners of whom one is away for long: back for the end, he confirms what the other one has checked alone, and the answer is
//! proven, though the coordinator is killed meanwhile.

use records::run_directory::RunDirectory;
use serde_json::Value;

use crate::harness::{Folder, Running, published, until};

const N: u8 = 16;

/// A token of that owner's own.
fn token(owner: &str) -> String {
    format!("{owner:x<32}")
}

/// A run with the tokens of both, of which all is to be checked.
struct Run {
    folder: Folder,
    address: String,
}

fn serve(folder: &Folder, address: &str) -> (Running, String) {
    let plan = format!("--n {N} --method search --double-check all");
    let mut serve = folder.diadem(&format!("coordinator {plan} --run run --listen {address} --json"));
    let tokens = ["ada", "ben"].map(|owner| format!("{} {owner}", token(owner))).join("\n");
    folder.serve_command(serve.env("DIADEM_JOIN_TOKEN", tokens), "log")
}

impl Run {
    fn begin() -> (Self, Running) {
        let folder = Folder::new();
        let (coordinator, address) = serve(&folder, "127.0.0.1:0");
        (Self { folder, address }, coordinator)
    }

    fn serve_again(&self) -> Running {
        serve(&self.folder, &self.address).0
    }

    fn worker(&self, owner: &str, machine: &str) -> Running {
        let slow = "--threads 1 --method search --isa portable";
        let args = format!("worker --coordinator http://{} {slow} --machine {machine}", self.address);
        let mut worker = self.folder.diadem(&args);
        self.folder.start_command(worker.env("DIADEM_JOIN_TOKEN", token(owner)), &format!("{machine}.log"))
    }

    fn units(&self) -> usize {
        RunDirectory::open(&self.folder.path().join("run")).unwrap().plan().units() as usize
    }

    /// How many units are counted and checked by one owner or by two, as far as is on record.
    fn checked(&self) -> (usize, usize) {
        let ledger = self.folder.ledger("run");
        let records = ledger.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let checks: Vec<Value> = records.filter(|record| record["kind"] == "check").collect();
        let within = checks.iter().filter(|check| check["owner"] == check["of_owner"]).count();
        (within, checks.len() - within)
    }
}

#[test]
fn an_owner_who_is_back_for_the_end_makes_the_answer_proven_though_the_coordinator_is_killed_then() {
    let (run, coordinator) = Run::begin();
    let ben = run.worker("ben", "b");
    until("ben has begun", || run.folder.counts("run") > 20);
    ben.terminate();
    assert_eq!(ben.end().code, Some(0));
    let ada = ["a1", "a2"].map(|machine| run.worker("ada", machine));
    let units = run.units();
    until("much is counted and checked by ada", || run.checked().0 > units / 2);
    let ben = run.worker("ben", "b");
    // All is settled by now, and he confirms what she has checked.
    until("ben confirms", || {
        let (within, between) = run.checked();
        run.folder.counts("run") == units && within + between > units + 20
    });
    coordinator.kill();
    let coordinator = run.serve_again();
    let answer = coordinator.end().json();
    assert_eq!(
        (&answer["total"], &answer["worth"]["proven"]),
        (&published(N).into(), &true.into()),
        "{answer}"
    );
    for worker in ada.into_iter().chain([ben]) {
        assert_eq!(worker.end().code, Some(0));
    }
    assert_eq!(run.folder.run("verify run --recount 5").code, Some(0));
}
