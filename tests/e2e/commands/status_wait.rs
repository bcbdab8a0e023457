//! `diadem status --wait`: prints nothing but warnings until the run has ended, then its status.

use serde_json::{Value, json};

use crate::forgery::interrupt_and_damage;
use crate::harness::{Folder, free_address, published, until};
use crate::waiting::{SEES_RUN, start_waiting};

#[test]
fn status_is_printed_once_the_run_is_complete() {
    let folder = Folder::new();
    let (coordinator, address) = folder.serve("coordinator --n 14 --run run --json --stay", "log");
    let at = format!("--coordinator http://{address}");
    let text = folder.start(&format!("status --wait {at}"), "text.log");
    let json = start_waiting(&folder, &format!("{at} --json"), "json.log");
    until("it sees the run", || json.says(SEES_RUN));
    assert!(!json.says("warning"));
    let worker = folder.start(&format!("worker {at} --threads 1"), "worker.log");
    let text = text.end();
    assert!(text.code == Some(0) && text.stdout.starts_with("n = 14, complete: 100 %"), "{text:?}");
    let answer = format!("Q(14) = {}: agrees with the published value\n", published(14));
    assert!(text.stdout.contains(&answer), "{text:?}");
    assert_eq!(text.stderr, "");
    let json = json.end();
    assert_eq!(json.code, Some(0), "{json:?}");
    let status: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!((&status["phase"], &status["solutions"]), (&json!("complete"), &json!(published(14))));
    drop((coordinator, worker));
}

#[test]
fn withheld_answer_ends_the_wait_with_3() {
    let folder = Folder::new();
    interrupt_and_damage(&folder);
    let (_coordinator, address) = folder.serve("coordinator --run run --stay", "log");
    let ended = folder.start(&format!("status --wait --coordinator http://{address}"), "wait.log").end();
    assert!(ended.code == Some(3) && ended.stdout.contains("withheld"), "{ended:?}");
}

#[test]
fn signal_ends_the_wait() {
    let (folder, address) = (Folder::new(), free_address());
    let waiting = folder.start(&format!("status --wait --coordinator http://{address}"), "wait.log");
    until("it tries", || waiting.says("no status, trying again: "));
    waiting.terminate();
    let ended = waiting.end();
    assert_eq!((ended.code, &*ended.stdout), (Some(143), ""), "{ended:?}");
    assert_eq!(ended.stderr.lines().count(), 1, "it warns once: {ended:?}");
}

#[test]
fn give_up_after_needs_wait() {
    Folder::new().run("status --give-up-after 1s").refused(&["--wait"]);
}
