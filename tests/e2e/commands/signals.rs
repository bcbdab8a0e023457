//! Signals that ask a command to end: warnings of batch engines, ignored ones, and process 1 of a container.

use std::process::Command;

use rustix::process::Signal;

use crate::harness::{Folder, until};
use crate::tools;

#[test]
fn warning_of_batch_engine_ends_count_like_sigterm() {
    let folder = Folder::new();
    for (k, warning) in [Signal::USR1, Signal::USR2, Signal::XCPU].into_iter().enumerate() {
        let count = folder.start(&format!("count 19 --method search --run run-{k} --quiet"), "count.log");
        until("it listens", || count.heeds(warning));
        until("the run is begun", || folder.path().join(format!("run-{k}/checkpoint")).exists());
        count.signal(warning);
        let ended = count.end();
        assert!(ended.code == Some(143) && ended.stderr.contains("resume with"), "{ended:?}");
    }
}

#[test]
fn warned_worker_gives_its_leases_back() {
    let folder = Folder::new();
    let (coordinator, address) = folder.serve("coordinator --n 18 --method search --run run", "log");
    let join = format!("worker --coordinator http://{address} --threads 1 --drain 1s");
    let worker = folder.start(&join, "worker.log");
    until("it counts", || folder.counts("run") > 0);
    worker.signal(Signal::USR1);
    assert_eq!(worker.end().code, Some(0));
    let status = folder.run(&format!("status --coordinator http://{address} --json")).json();
    assert_eq!((&status["leased"], &status["workers_total"]), (&0.into(), &0.into()), "{status}");
    coordinator.terminate();
    coordinator.end();
}

#[test]
fn signal_that_was_ignored_at_the_start_stays_ignored() {
    let folder = Folder::new();
    let script = format!(
        "trap '' INT; exec {} count 19 --method search --run run --quiet",
        env!("CARGO_BIN_EXE_diadem")
    );
    let count = folder.start_command(Command::new("bash").args(["-c", &script]), "count.log");
    until("it listens", || count.heeds(Signal::TERM));
    assert!(!count.heeds(Signal::INT));
    count.interrupt();
    count.terminate();
    assert_eq!(count.end().code, Some(143));
}

#[test]
fn process_one_of_a_container_ends_at_sigterm() {
    let alone = ["--user", "--map-root-user", "--pid", "--fork", "--kill-child"];
    let folder = Folder::new();
    let can = Command::new("unshare").args(alone).arg("true").status().is_ok_and(|status| status.success());
    if !can && !tools::is_there("unshare") {
        return;
    }
    assert!(can, "unshare makes no process 1 here");
    let diadem = env!("CARGO_BIN_EXE_diadem");
    let mut command = Command::new("unshare");
    let process = folder.start_command(command.args(alone).args([diadem, "atlas", "solutions", "26"]), "log");
    let children = || {
        let path = format!("/proc/{0}/task/{0}/children", process.pid());
        std::fs::read_to_string(path).unwrap_or_default()
    };
    until("it has begun", || !children().trim().is_empty());
    let pid = children().trim().parse().unwrap();
    let pid = rustix::process::Pid::from_raw(pid).unwrap();
    // The command handles signals nearly from its start.
    until("it has ended", || {
        rustix::process::kill_process(pid, Signal::TERM).is_err() || children().trim().is_empty()
    });
}
