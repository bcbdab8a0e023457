//! A worker as a service, with made-up programs of the system; and how it pauses while its machine is used.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::credentials::keys;
use crate::harness::{Completed, Folder, published, stays, until};

const UNIT: &str = "home/.config/systemd/user/diadem-worker.service";
const INVITATION: &str = "home/.local/state/diadem/invitation";

/// Puts a program of the system into the folder that `at_home` searches first.
fn made_up(folder: &Folder, name: &str, script: &str) {
    let file = folder.path().join("bin").join(name);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
}

/// The command for a user whose home is in the folder.
fn at_home(folder: &Folder, args: &str) -> Command {
    let mut command = folder.diadem(args);
    let path = format!("{}:{}", folder.path().join("bin").display(), std::env::var("PATH").unwrap());
    command.env("HOME", folder.path().join("home")).env("PATH", path);
    command.env_remove("XDG_CONFIG_HOME").env_remove("XDG_STATE_HOME");
    command
}

fn run(folder: &Folder, args: &str) -> Completed {
    Completed::of(at_home(folder, args).output().unwrap())
}

fn text(file: &Path) -> String {
    fs::read_to_string(file).unwrap_or_default()
}

fn paths(folder: &Folder) -> [PathBuf; 2] {
    [UNIT, INVITATION].map(|file| folder.path().join(file))
}

#[test]
fn installed_invitation_counts_a_whole_run() {
    let folder = keys();
    let (coordinator, address) =
        folder.serve("coordinator --n 12 --run run --json --keys keys/coordinator", "coordinator.log");
    let made = folder.run(&format!("invite keys ada --coordinator https://{address}"));
    let line = made.stdout.trim();
    let log = folder.path().join("coordinator.log");
    until("the coordinator knows the token", || text(&log).contains("the keys have changed"));
    made_up(&folder, "systemctl", "echo \"$@\" >> \"$HOME/calls\"");
    fs::create_dir(folder.path().join("home")).unwrap();
    let calls = || text(&folder.path().join("home/calls"));
    let [unit, invitation] = paths(&folder);

    run(&folder, &format!("join {} --install-service", &line[..99])).refused(&["the invitation is damaged"]);
    assert!(!unit.exists() && !invitation.exists());
    let installed = run(&folder, &format!("join {line} --install-service --threads 1"));
    assert_eq!(installed.code, Some(0), "{installed:?}");
    assert!(installed.stdout.contains("loginctl enable-linger"), "{installed:?}");
    assert_eq!(calls(), "--user daemon-reload\n--user enable --now diadem-worker.service\n");
    assert_eq!(text(&invitation).trim(), line);
    assert_eq!(fs::metadata(&invitation).unwrap().permissions().mode() & 0o777, 0o600);
    let definition = text(&unit);
    assert!(!definition.contains(line) && definition.contains("\"--threads=1\""), "{definition}");
    run(&folder, "worker --coordinator http://127.0.0.1:7227 --install-service").refused(&[
        "a service is installed already",
        UNIT,
        "diadem worker --remove-service",
    ]);

    let start = definition.lines().find_map(|line| line.strip_prefix("ExecStart=:")).unwrap();
    let words = shlex::split(start).unwrap();
    let worker = folder.start_command(Command::new(&words[0]).args(&words[1..]), "worker.log");
    assert_eq!(worker.end().code, Some(0));
    assert_eq!(coordinator.end().json()["total"], published(12));

    let removed = run(&folder, "worker --remove-service");
    assert_eq!(removed.code, Some(0), "{removed:?}");
    assert!(calls().ends_with("--user disable --now diadem-worker.service\n--user daemon-reload\n"));
    assert!(!unit.exists() && !invitation.exists());
    for command in ["worker", "join"] {
        let again = run(&folder, &format!("{command} --remove-service"));
        assert!(again.code == Some(0) && again.stdout.contains("no service is installed"), "{again:?}");
    }
}

#[test]
fn service_keeps_settings_of_its_installation() {
    let folder = Folder::new();
    made_up(&folder, "systemctl", ":");
    let mut command = at_home(&folder, "worker --install-service --drain 2m");
    command.env("DIADEM_COORDINATOR", "http://127.0.0.1:7227").env("DIADEM_THREADS", "3");
    let installed = Completed::of(command.output().unwrap());
    assert_eq!(installed.code, Some(0), "{installed:?}");
    let definition = text(&folder.path().join(UNIT));
    for wanted in ["--coordinator=http://127.0.0.1:7227", "--threads=3", "--drain=2m", "TimeoutStopSec=130"] {
        assert!(definition.contains(wanted), "{definition}");
    }
}

#[test]
fn service_that_cannot_start_leaves_nothing_behind() {
    let folder = Folder::new();
    made_up(&folder, "systemctl", "echo 'Failed to connect to bus' >&2; exit 1");
    let install = "worker --coordinator http://127.0.0.1:7227 --install-service";
    run(&folder, install).refused(&["does not start the service", "Failed to connect to bus"]);
    assert!(paths(&folder).iter().all(|file| !file.exists()));
    let mut command = at_home(&folder, install);
    let refused = Completed::of(command.env("DIADEM_JOIN_TOKEN", "a".repeat(64)).output().unwrap());
    refused.refused(&["DIADEM_JOIN_TOKEN", "join.token"]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    for wrong in ["worker --install-service", &format!("{install} --remove-service")] {
        assert_eq!(run(&folder, wrong).code, Some(2), "{wrong}");
    }
}

#[test]
fn worker_counts_only_while_its_machine_is_idle() {
    let folder = Folder::new();
    made_up(&folder, "loginctl", &format!("cat {}", folder.path().join("hint").display()));
    let set = |hint: &str| fs::write(folder.path().join("hint"), format!("IdleHint={hint}\n")).unwrap();
    let (coordinator, address) =
        folder.serve("coordinator --n 17 --method search --run run --json", "coordinator.log");
    let access = format!("--coordinator http://{address}");
    set("no");
    let worker = format!("worker {access} --threads 1 --isa portable --when-idle");
    let worker = folder.start_command(&mut at_home(&folder, &worker), "worker.log");
    let log = || text(&folder.path().join("worker.log"));
    until("it waits", || log().contains("waiting until the machine is idle: its user is active"));
    assert_eq!(folder.counts("run"), 0);
    set("yes");
    until("it counts", || folder.counts("run") > 0);
    set("no");
    until("it pauses", || log().contains("pausing: its user is active"));
    let holds_nothing = || {
        let status = folder.run(&format!("status {access} --json")).json();
        (status["leased"] == 0).then(|| status["done"].as_u64().unwrap())
    };
    until("it holds nothing", || holds_nothing().is_some());
    let done = holds_nothing().unwrap();
    stays(Duration::from_secs(1), "nothing is counted", || holds_nothing() == Some(done));
    set("yes");
    let ended = worker.end();
    assert!(ended.code == Some(0) && ended.stderr.contains("broken_off=0"), "{ended:?}");
    assert_eq!(coordinator.end().json()["total"], published(17));
}

#[test]
fn worker_counts_if_nobody_knows_who_uses_its_machine() {
    let folder = Folder::new();
    made_up(&folder, "loginctl", "exit 1");
    let (coordinator, address) = folder.serve("coordinator --n 12 --run run --json", "coordinator.log");
    let worker = format!("worker --coordinator http://{address} --threads 1 --when-idle");
    let worker = folder.start_command(&mut at_home(&folder, &worker), "worker.log").end();
    assert_eq!(worker.stderr.matches("does not tell whether somebody uses it").count(), 1, "{worker:?}");
    assert_eq!(coordinator.end().json()["total"], published(12));
}

#[test]
fn signals_end_a_pausing_worker_at_once() {
    let folder = Folder::new();
    made_up(&folder, "loginctl", "echo IdleHint=no");
    let (_coordinator, address) = folder.serve("coordinator --n 12 --run run", "coordinator.log");
    let worker = format!("worker --coordinator http://{address} --threads 1 --when-idle");
    let worker = folder.start_command(&mut at_home(&folder, &worker), "worker.log");
    until("it waits", || text(&worker.log).contains("waiting until the machine is idle"));
    worker.terminate();
    assert_eq!(worker.end().code, Some(0));
    assert_eq!(folder.counts("run"), 0);
}
