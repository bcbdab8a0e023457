//! A log or stderr that cannot be written ends no process and blocks no process.

use std::fs::{File, OpenOptions};
use std::io::{PipeReader, PipeWriter, pipe};
use std::process::{Child, Command, Output, Stdio};

use crate::harness::{Completed, Folder, free_address, published, until};

/// An output without a reader.
#[derive(Clone, Copy, Debug)]
enum Nowhere {
    FullDisk,
    ClosedPipe,
    UnreadPipe,
}

const NOWHERE: [Nowhere; 3] = [Nowhere::FullDisk, Nowhere::ClosedPipe, Nowhere::UnreadPipe];

impl Nowhere {
    /// The output, and the pipe to keep open meanwhile.
    fn open(self) -> (Stdio, Option<PipeReader>) {
        match self {
            Self::FullDisk => (full_disk().into(), None),
            Self::ClosedPipe => (closed_pipe().into(), None),
            Self::UnreadPipe => {
                let (reader, writer) = pipe().unwrap();
                (writer.into(), Some(reader))
            }
        }
    }
}

fn full_disk() -> File {
    OpenOptions::new().write(true).open("/dev/full").unwrap()
}

fn closed_pipe() -> PipeWriter {
    let (reader, writer) = pipe().unwrap();
    drop(reader);
    writer
}

/// Starts a command with much output and without a reader.
fn start(mut command: Command, nowhere: Nowhere) -> (Child, Option<PipeReader>) {
    let (stderr, kept) = nowhere.open();
    command.env("DIADEM_LOG", "trace").stdout(Stdio::piped()).stderr(stderr);
    (command.spawn().unwrap(), kept)
}

/// Waits for its end, with a time limit.
fn end(mut child: Child) -> Output {
    until("the process ends", || child.try_wait().unwrap().is_some());
    child.wait_with_output().unwrap()
}

#[test]
fn a_count_survives_a_log_that_goes_nowhere() {
    for nowhere in NOWHERE {
        let folder = Folder::new();
        let (child, _kept) = start(folder.diadem("count 13 --run run --json --threads 2"), nowhere);
        let outcome = Completed::of(end(child));
        assert_eq!(outcome.json()["total"], published(13), "{nowhere:?}");
    }
}

#[test]
fn coordinator_and_worker_survive_a_closed_log() {
    for nowhere in NOWHERE {
        let folder = Folder::new();
        // No log shows the address.
        let address = free_address();
        let serve = folder.diadem(&format!("coordinator --n 13 --run run --listen {address} --json"));
        let (coordinator, _kept) = start(serve, nowhere);
        let work = folder.diadem(&format!("worker --coordinator http://{address} --threads 2"));
        let (worker, _kept_too) = start(work, nowhere);
        assert_eq!(end(worker).status.code(), Some(0), "{nowhere:?}");
        assert_eq!(Completed::of(end(coordinator)).json()["total"], published(13), "{nowhere:?}");
    }
}

#[test]
fn failure_with_closed_log_keeps_its_exit_code() {
    for nowhere in NOWHERE {
        let folder = Folder::new();
        let (child, _kept) = start(folder.diadem("verify nothing-here"), nowhere);
        assert_eq!(end(child).status.code(), Some(1), "{nowhere:?}");
        let (child, _kept) = start(folder.diadem("count 99"), nowhere);
        assert_eq!(end(child).status.code(), Some(2), "{nowhere:?}");
    }
}

#[test]
fn an_answer_that_cannot_be_printed_is_a_failure() {
    let folder = Folder::new();
    let full = Completed::of(folder.diadem("count 8 --json").stdout(full_disk()).output().unwrap());
    full.refused(&["cannot be printed", "No space left"]);
    let closed = Completed::of(folder.diadem("count 8").stdout(closed_pipe()).output().unwrap());
    closed.refused(&["cannot be printed"]);
    // The first lines of a list are enough for those who want no more.
    let head = Completed::of(folder.diadem("atlas solutions 8").stdout(closed_pipe()).output().unwrap());
    assert_eq!((head.code, head.stderr.as_str()), (Some(0), ""));
    let help = Completed::of(folder.diadem("--help").stdout(full_disk()).output().unwrap());
    assert_eq!(help.code, Some(1), "{help:?}");
}

#[test]
fn invalid_log_level_warns_and_keeps_logging() {
    let folder = Folder::new();
    for (asked, is_understood) in
        [("inof", false), ("a b", false), ("debug,,x", false), ("9", false), ("gpu=debug", true)]
    {
        let mut command = folder.diadem("worker --coordinator http://127.0.0.1:1 --give-up-after 10ms");
        let outcome = Completed::of(command.env("DIADEM_LOG", asked).output().unwrap());
        assert!(outcome.stderr.contains("waiting for the coordinator"), "{asked}: {outcome:?}");
        assert_eq!(outcome.stderr.contains("is not understood"), !is_understood, "{asked}: {outcome:?}");
    }
}

#[test]
fn json_log_lines_have_worker_unit_and_attempt() {
    let folder = Folder::new();
    let mut serve = folder.diadem("coordinator --n 12 --run run --listen 127.0.0.1:0 --log-format json");
    let (coordinator, address) = folder.serve_command(serve.env("DIADEM_LOG", "debug"), "c.log");
    let worker = folder.start_command(
        folder
            .diadem(&format!("worker --coordinator http://{address} --threads 1 --log-format json"))
            .env("DIADEM_LOG", "worker=debug"),
        "w.log",
    );
    assert_eq!((worker.end().code, coordinator.end().code), (Some(0), Some(0)));
    let lines = |log: &str| -> Vec<serde_json::Value> {
        let text = std::fs::read_to_string(folder.path().join(log)).unwrap();
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}")))
            .collect()
    };
    let counted = |line: &&serde_json::Value| line["message"] == "counted";
    let at_coordinator = lines("c.log");
    let spans = &at_coordinator.iter().find(counted).expect("counts are logged")["spans"];
    assert!(spans[0]["worker"].is_string() && spans[1]["unit"].is_string(), "{spans}");
    assert_eq!(spans[1]["attempt"], 1, "{spans}");
    let at_worker = lines("w.log");
    assert!(at_worker.iter().find(counted).expect("counts are logged")["unit"].is_string());
    let refused = folder.run("verify nowhere --log-format json");
    let refused: serde_json::Value = serde_json::from_str(&refused.stderr).unwrap();
    assert!(refused["message"].as_str().unwrap().contains("nowhere"), "{refused}");
}

#[test]
fn verdict_to_closed_pipe_is_no_success() {
    let folder = Folder::new();
    folder.run("count 12 --run run --quiet");
    folder.run("count 12 --run part --shard 1/2 --quiet");
    for (command, expected) in [
        ("verify run", 1),
        ("verify run --json", 1),
        ("report run", 1),
        ("merge joint part", 3),
        ("verify joint --json", 3),
        ("merge whole run", 1),
        ("atlas study 5 --runs 2 --csv study.csv", 1),
        // Of these a reader takes what it likes.
        ("export run --csv", 0),
        ("head run", 0),
        ("atlas solutions 8", 0),
        ("atlas study 5 --runs 2", 0),
        ("atlas constellations 8 --list", 0),
        ("verify --help", 0),
        ("--version", 0),
    ] {
        let output = folder.diadem(command).stdout(closed_pipe()).output().unwrap();
        assert_eq!(output.status.code(), Some(expected), "{command}: {output:?}");
        let is_said = String::from_utf8_lossy(&output.stderr).contains("cannot write to stdout");
        assert_eq!(is_said, expected == 1 || command.starts_with("merge"), "{command}: {output:?}");
    }
}
