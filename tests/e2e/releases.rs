//! Releases side by side: a run is served and counted by this binary together with one of the release before, named by
//! `DIADEM_OLD` (`tools/old_binary` builds it). Where that is not at hand these tests do not run.

use std::process::{Command, Stdio};

use crate::harness::{Completed, Folder, Running, free_address, published, until};

const N: u8 = 13;

/// A release.
#[derive(Clone, Copy)]
enum Release {
    Old,
    New,
}

impl Release {
    fn start(self, folder: &Folder, args: &str, log: &str) -> Running {
        let mut command = match self {
            Release::New => folder.diadem(args),
            Release::Old => {
                let old = std::env::var_os("DIADEM_OLD").expect("DIADEM_OLD names the old binary");
                let mut command = Command::new(old);
                command.args(args.split_whitespace()).stdin(Stdio::null());
                command
            }
        };
        folder.start_command(&mut command, log)
    }
}

fn coordinator(release: Release, folder: &Folder, address: &str, more: &str) -> Running {
    let args = format!("coordinator --run run --listen {address} --json --method search {more}");
    let coordinator = release.start(folder, &args, "coordinator.log");
    until("the coordinator listens", || std::net::TcpStream::connect(address).is_ok());
    coordinator
}

fn worker(release: Release, folder: &Folder, address: &str, name: &str) -> Running {
    let args = format!(
        "worker --coordinator http://{address} --threads 1 --isa portable --machine {name} --give-up-after 60s"
    );
    release.start(folder, &args, &format!("{name}.log"))
}

/// The total is exact, and this release finds nothing wrong with the ledger.
#[track_caller]
fn is_exact(folder: &Folder, ended: &Completed) {
    assert_eq!(ended.json()["total"], published(N));
    assert_eq!(folder.counts("run") as u64, ended.json()["units"].as_u64().unwrap());
    let verified = folder.run("verify run --recount 5");
    assert_eq!(verified.code, Some(0), "{verified:?}");
}

#[test]
#[ignore = "wants DIADEM_OLD"]
fn old_and_new_workers_count_for_an_old_coordinator_and_for_a_new_one() {
    for release in [Release::Old, Release::New] {
        let (folder, address) = (Folder::new(), free_address());
        let coordinator = coordinator(release, &folder, &address, &format!("--n {N} --double-check all"));
        let workers = [(Release::Old, "old"), (Release::New, "new")];
        let workers = workers.map(|(release, name)| worker(release, &folder, &address, name));
        is_exact(&folder, &coordinator.end());
        for worker in workers {
            assert_eq!(worker.end().code, Some(0));
        }
        let ledger = folder.ledger("run");
        for machine in ["old", "new"] {
            assert!(ledger.contains(&format!("\"machine\":\"{machine}\"")), "{machine} has counted");
        }
    }
}

#[test]
#[ignore = "wants DIADEM_OLD"]
fn a_coordinator_is_replaced_by_one_of_the_next_release_in_the_middle_and_its_workers_go_on() {
    let (folder, address) = (Folder::new(), free_address());
    let old = coordinator(Release::Old, &folder, &address, "--n 16 --double-check 10%");
    let workers = [(Release::Old, "old"), (Release::New, "new")];
    let workers = workers.map(|(release, name)| worker(release, &folder, &address, name));
    until("some units are counted", || folder.counts("run") > 100);
    old.terminate();
    assert_eq!(old.end().code, Some(0));
    let new = coordinator(Release::New, &folder, &address, "");
    let ended = new.end();
    assert_eq!(ended.json()["total"], published(16));
    for worker in workers {
        assert_eq!(worker.end().code, Some(0));
    }
    assert_eq!(folder.run("verify run --recount 5").code, Some(0));
}

#[test]
#[ignore = "wants DIADEM_OLD"]
fn a_follower_of_the_old_release_copies_what_a_new_coordinator_records() {
    let (folder, address) = (Folder::new(), free_address());
    let coordinator = coordinator(Release::New, &folder, &address, &format!("--n {N} --replicas 1"));
    let follow = format!("follow http://{address} --run copy");
    let follower = Release::Old.start(&folder, &follow, "follower.log");
    let worker = worker(Release::New, &folder, &address, "new");
    is_exact(&folder, &coordinator.end());
    assert_eq!(worker.end().code, Some(0));
    assert_eq!(follower.end().code, Some(0));
    assert_eq!(folder.ledger("copy"), folder.ledger("run"));
}
