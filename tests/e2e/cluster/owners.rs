//! Two owners check each other's counts while one of them is away for a long time.

use records::run_directory::RunDirectory;
use serde_json::Value;

use crate::credentials::keys;
use crate::harness::{Completed, Folder, Running, published, until};

const N: u8 = 16;

/// A token of that owner's own.
fn token(owner: &str) -> String {
    format!("{owner:x<32}")
}

/// A run with the tokens of both owners and a check of each unit.
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

    /// How many counts of one owner the other one has checked, as far as is on record.
    fn checks_between_owners(&self) -> usize {
        let checks = self.folder.records("run").into_iter().filter(|record| record["kind"] == "check");
        checks.filter(|check| check["owner"] != check["of_owner"]).count()
    }
}

#[test]
fn owner_returning_before_the_end_proves_the_answer() {
    let (run, coordinator) = Run::begin();
    let ben = run.worker("ben", "b");
    until("ben has begun", || run.folder.counts("run") > 20);
    ben.terminate();
    assert_eq!(ben.end().code, Some(0));
    let ada = ["a1", "a2"].map(|machine| run.worker("ada", machine));
    let units = run.units();
    until("ada has counted the rest", || run.folder.counts("run") == units);
    let ben = run.worker("ben", "b");
    until("ben checks what she has counted", || run.checks_between_owners() > units / 2);
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

#[test]
fn run_requiring_two_owners_waits_for_policy_change() {
    let folder = keys();
    assert_eq!(folder.run("keys client keys ada").code, Some(0));
    let checks = "--double-check all --require-owners 2 --relax-checks-after 0s";
    let serve =
        format!("coordinator --n 11 --method search --run run --keys keys/coordinator {checks} --json");
    let (coordinator, address) = folder.serve(&serve, "log");
    let url = format!("https://{address}");
    let worker = folder.start(
        &format!("worker --coordinator {url} --keys keys/clients/ada --threads 1 --isa portable --machine a"),
        "worker.log",
    );
    let status = || folder.run(&format!("status --coordinator {url} --keys keys/status --json")).json();
    until("it waits for another owner", || {
        status()["trouble"].as_str().unwrap().contains("policy --require-owners 1")
    });
    assert_eq!(status()["require_owners"], 2);
    let lift = format!("policy {url} --keys keys/admin --require-owners 1 --reason alone");
    let lifted = folder.run(&lift);
    assert!(lifted.code == Some(0) && lifted.stdout.contains("--require-owners 1"), "{lifted:?}");
    assert_eq!(coordinator.end().json()["total"], published(11));
    assert_eq!(worker.end().code, Some(0));
}

#[test]
fn two_owners_see_what_they_gave() {
    let (run, coordinator) = Run::begin();
    let workers = [("ada", "a-pc"), ("ben", "b-pc")].map(|(owner, machine)| run.worker(owner, machine));
    until("both check each other", || run.checks_between_owners() > 50);
    coordinator.kill();
    let coordinator = run.serve_again();
    let status = |more: &str| {
        let mut status = run.folder.diadem(&format!("status --coordinator http://{} {more}", run.address));
        Completed::of(status.env("DIADEM_JOIN_TOKEN", token("ada")).output().unwrap())
    };
    let text = status("").stdout;
    let table =
        &text[text.find("\nwhat owners ").expect("there are credits")..text.find("\nlately:").unwrap()];
    assert!(table.contains("\nada ") && table.contains("\nben ") && !table.contains("-pc"), "{text}");
    let live = status("--json").json()["credits"].clone();
    assert_eq!((&live["owners_total"], &live["all"]["days"].as_array().unwrap().len()), (&2.into(), &7));
    assert_eq!(coordinator.end().code, Some(0));
    for worker in workers {
        assert_eq!(worker.end().code, Some(0));
    }

    let ended = run.folder.run("status run --json").json()["credits"].clone();
    let records = run.folder.records("run");
    for owner in ["ada", "ben"] {
        let of_owner = |credits: &Value| {
            let owners = credits["owners"].as_array().unwrap().clone();
            owners.into_iter().find(|other| other["owner"] == owner).unwrap()["total"]["units"]
                .as_i64()
                .unwrap()
        };
        let of_kind =
            |kind: &str| records.iter().filter(|r| r["kind"] == kind && r["owner"] == owner).count();
        assert!(of_owner(&live) <= of_owner(&ended), "{live} {ended}");
        assert_eq!(of_owner(&ended) as usize, of_kind("count") + of_kind("check"), "{ended}");
    }
    let solutions: u128 = ended["all"]["total"]["solutions"].as_str().unwrap().parse().unwrap();
    let published: u128 = published(N).parse().unwrap();
    assert!(solutions >= 2 * published, "{solutions}");
    assert!(run.folder.run("status run").stdout.contains("\nada "));
}
