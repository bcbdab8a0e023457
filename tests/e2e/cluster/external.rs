//! A worker that checks by another program.

use std::fs;
use std::time::Duration;

use serde_json::Value;

use crate::check::check;
use crate::commands::external::{HANGS, TOOLS, external, process, script, write_lies};
use crate::harness::{Folder, Running, published, until, until_within};

const SERVE: &str = "coordinator --n 12 --method search --run run --json --relax-checks-after 1h";

fn join(folder: &Folder, address: &str, machine: &str) -> Running {
    let args = format!("worker --coordinator http://{address} --threads 1 --machine {machine}");
    folder.start(&args, &format!("{machine}.log"))
}

fn join_by(folder: &Folder, address: &str, program: &str) -> Running {
    let args = format!("worker --coordinator http://{address} --threads 2 --machine a --drain 1s");
    folder.start_command(&mut external(folder, &args, program), "external.log")
}

/// The records of the kind that the program made.
fn records(folder: &Folder, kind: &str) -> usize {
    let records = folder.records("run").into_iter();
    records.filter(|record| record["kind"] == *kind && record["kernel"] == "external").count()
}

fn status(folder: &Folder, address: &str) -> Value {
    folder.run(&format!("status --coordinator http://{address} --json")).json()
}

#[test]
fn external_checks_are_named_in_the_answer() {
    let folder = Folder::new();
    let (coordinator, address) = folder.serve(&format!("{SERVE} --double-check all"), "log");
    let external = join_by(&folder, &address, &format!("python3 '{TOOLS}/count.py'"));
    until("the program's worker is connected", || status(&folder, &address)["workers_total"] == 1);
    let host = join(&folder, &address, "a");
    let answer = coordinator.end();
    assert_eq!(answer.code, Some(0), "{answer:?}");
    assert_eq!((external.end().code, host.end().code), (Some(0), Some(0)));
    let (counts, checks) = (records(&folder, "count"), records(&folder, "check"));
    assert_eq!(counts, 0, "it makes no first count");
    // All units but the symmetric counts.
    assert_eq!(checks, 730);
    let answer: Value = serde_json::from_str(&answer.stdout).unwrap();
    assert_eq!(answer["total"], published(12), "{answer}");
    let found = answer.to_string();
    assert!(found.contains(r#""counted_twice_by_another_program":730"#), "{found}");
    let report = folder.run("report run");
    assert!(report.stdout.contains("also by another program"), "{report:?}");
    folder.run("certify run -o certificate");
    let certificate = fs::read_to_string(folder.path().join("certificate")).unwrap();
    let certificate: Value = serde_json::from_str(&certificate).unwrap();
    assert_eq!(certificate["checked"]["by_external"], 730);
    assert_eq!(folder.run("verify run --certificate certificate").code, Some(0));
    assert_eq!(check(&folder, "run").code, Some(0));
}

#[test]
fn wrong_external_count_is_a_dispute() {
    let folder = Folder::new();
    write_lies(&folder);
    let serve = SERVE.replace("--n 12", "--n 11");
    let (coordinator, address) = folder.serve(&format!("{serve} --double-check all"), "log");
    let external = join_by(&folder, &address, "python3 lies.py");
    until("the program's worker is connected", || status(&folder, &address)["workers_total"] == 1);
    let a = join(&folder, &address, "a");
    until("it contradicts the host", || records(&folder, "conflict") > 0);
    let hosts = [a, join(&folder, &address, "b")];
    let answer = coordinator.end();
    assert_eq!(answer.code, Some(0), "{answer:?}");
    let answer: Value = serde_json::from_str(&answer.stdout).unwrap();
    assert_eq!(answer["total"], published(11), "{answer}");
    let conflicts = records(&folder, "conflict");
    assert!(conflicts > 0 && records(&folder, "check") == 0, "{conflicts}");
    assert!(answer.to_string().contains(r#""quarantined":["a-external"]"#), "{answer}");
    hosts.into_iter().for_each(|host| assert_eq!(host.end().code, Some(0)));
    drop(external);
}

#[test]
fn failing_program_ends_its_worker() {
    let folder = Folder::new();
    let serve = SERVE.replace("1h", "2s");
    let (coordinator, address) = folder.serve(&format!("{serve} --double-check all"), "log");
    for (text, words) in [
        ("echo broken >&2; exit 7", "(exit status: 7); its last line on stderr: \"broken\""),
        (
            "while read line; do echo '{\"id\":0,\"count\":0}'; done",
            "the external program answered for unit 0",
        ),
        ("while read line; do echo '{\"id\":'${line#*:}; done", "an answer is a line such as"),
    ] {
        let ended = join_by(&folder, &address, &script(&folder, text)).end();
        assert!(ended.code == Some(1) && ended.stderr.contains(words), "{ended:?}");
    }
    // It passes the self-test, and fails at the run.
    let text = format!("sed -u 730q | python3 -u '{TOOLS}/count.py'; echo 'out of ideas' >&2; exit 7");
    let external = join_by(&folder, &address, &script(&folder, &text));
    until("the program's worker is connected", || status(&folder, &address)["workers_total"] == 1);
    let host = join(&folder, &address, "a");
    let ended = external.end();
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(ended.stderr.contains("its last line on stderr: \"out of ideas\""), "{ended:?}");
    // Its units go back, and the host makes the checks itself.
    let answer = coordinator.end();
    assert_eq!((answer.code, host.end().code), (Some(0), Some(0)), "{answer:?}");
    assert_eq!(records(&folder, "check") + records(&folder, "conflict"), 0);
}

#[test]
fn hanging_program_ends_with_its_worker() {
    let folder = Folder::new();
    let (coordinator, address) = folder.serve(SERVE, "log");
    let worker = join_by(&folder, &address, &script(&folder, HANGS));
    let pid = folder.path().join("pid");
    until("the program runs", || pid.exists());
    let lives = process(&pid);
    worker.terminate();
    assert_eq!(worker.end().code, Some(0));
    until_within(Duration::from_secs(10), "what the program started has ended", || !lives());
    drop(coordinator);
}
