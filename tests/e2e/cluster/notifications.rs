//! Events of a coordinator, sent to commands and webhooks: those that work, fail or hang.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::commands::external::{HANGS, external, process, script, write_lies};
use crate::harness::{Completed, Folder, free_address, in_time, published, until};

const SERVE: &str = "coordinator --n 11 --method search --run run --json --double-check all";

/// Serves a run with these receivers until the last event is there. A machine whose program lies is quarantined.
fn run_with_liar(folder: &Folder, command: &str, url: &str, is_there: impl Fn() -> bool) {
    write_lies(folder);
    let mut serve = folder.diadem(&format!("{SERVE} --relax-checks-after 1h --stay --listen 127.0.0.1:0"));
    serve.args(["--notify", command]).env("DIADEM_NOTIFY_URL", url);
    let (coordinator, address) = folder.serve_command(&mut serve, "log");
    let worker = format!("worker --coordinator http://{address} --threads 1 --machine");
    let mut liar = external(folder, &format!("{worker} a --drain 1s"), "python3 lies.py");
    let _liar = folder.start_command(&mut liar, "liar.log");
    let status = || folder.run(&format!("status --coordinator http://{address} --json")).json();
    until("the liar is connected", || status()["workers_total"] == 1);
    let _a = folder.start(&format!("{worker} a"), "a.log");
    until("it contradicts its host", || folder.ledger("run").contains(r#""kind":"conflict""#));
    let _b = folder.start(&format!("{worker} b"), "b.log");
    until("the last event is there", is_there);
    coordinator.terminate();
    is_exact(&coordinator.end(), 11);
}

fn is_exact(answer: &Completed, n: u8) {
    assert_eq!(answer.code, Some(0), "{answer:?}");
    let printed: Value = serde_json::from_str(&answer.stdout).unwrap();
    assert_eq!(printed["total"], published(n));
}

/// The heads and the bodies that were posted.
type Posts = Arc<Mutex<Vec<(String, String)>>>;

/// A webhook that accepts everything, and what is posted to it.
fn webhook() -> (String, Posts) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/hook?secret=7", listener.local_addr().unwrap());
    let posts = Posts::default();
    let posted = Arc::clone(&posts);
    thread::spawn(move || {
        listener.incoming().for_each(|connection| answer_posts(connection.unwrap(), &posted))
    });
    (url, posts)
}

/// Accepts the posts of one connection until it is closed.
fn answer_posts(mut connection: TcpStream, posts: &Posts) {
    let mut reader = BufReader::new(connection.try_clone().unwrap());
    loop {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if reader.read_line(&mut head).unwrap() == 0 {
                return;
            }
        }
        let head = head.to_lowercase();
        let (_, length) = head.split_once("content-length: ").unwrap();
        let mut body = vec![0; length.lines().next().unwrap().parse().unwrap()];
        reader.read_exact(&mut body).unwrap();
        posts.lock().unwrap().push((head, String::from_utf8(body).unwrap()));
        connection.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").unwrap();
    }
}

/// The events in this text, one a line.
fn events(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn names(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["event"].as_str().unwrap()).collect()
}

/// The text of a file, if there is one.
fn read(folder: &Folder, file: &str) -> String {
    fs::read_to_string(folder.path().join(file)).unwrap_or_default()
}

/// Whether the command has received the last event.
fn is_done(folder: &Folder) -> bool {
    read(folder, "events").contains(r#""event":"done""#)
}

/// The number of warnings about this option.
fn warnings(folder: &Folder, option: &str) -> usize {
    let log = read(folder, "log");
    let words = format!("an event was not delivered by {option}:");
    log.lines().filter(|line| line.contains(&words)).count()
}

#[test]
fn command_and_webhook_receive_all_events() {
    let folder = Folder::new();
    let (url, posts) = webhook();
    let is_posted = || posts.lock().unwrap().iter().any(|(_, body)| body.contains("done"));
    let is_there = || is_done(&folder) && is_posted();
    run_with_liar(&folder, &script(&folder, "cat >> events"), &url, is_there);
    let received = events(&read(&folder, "events"));
    assert_eq!(names(&received)[..2], ["conflict", "quarantine"], "{received:?}");
    let done = received.last().unwrap();
    assert_eq!((&done["event"], &done["n"]), (&"done".into(), &11.into()));
    assert_eq!(done["text"], "the count of n = 11 is complete: 2680 solutions");
    assert_eq!(done["run"].as_str().unwrap().len(), 32);
    assert!(done["time"].as_str().unwrap().ends_with('Z'));
    assert!(received[1]["text"].as_str().unwrap().contains("machine a-external"), "{received:?}");
    let posts = posts.lock().unwrap();
    assert!(posts.iter().all(|(head, _)| head.starts_with("post /hook?secret=7 http/1.1\r\n")));
    assert!(posts.iter().all(|(head, _)| head.contains("content-type: application/json")));
    let bodies: Vec<Value> = posts.iter().flat_map(|(_, body)| events(body)).collect();
    assert_eq!(bodies, received);
    let log = read(&folder, "log");
    assert!(!log.contains("secret"), "{log}");
}

#[test]
fn failing_receivers_are_logged_once() {
    let folder = Folder::new();
    let url = format!("http://{}/hook?secret=7", free_address());
    let warnings = || ["--notify", "--notify-url"].map(|option| warnings(&folder, option));
    let is_there = || is_done(&folder) && warnings() != [0, 0];
    run_with_liar(&folder, &script(&folder, "cat >> events; exit 3"), &url, is_there);
    let received = events(&read(&folder, "events"));
    assert!(received.len() >= 3, "{received:?}");
    assert_eq!(warnings(), [1, 1]);
    let log = read(&folder, "log");
    assert!(log.contains("exit status: 3") && !log.contains("secret"), "{log}");
}

#[test]
fn hanging_receivers_hold_nothing_up() {
    let folder = Folder::new();
    let hangs = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", hangs.local_addr().unwrap());
    let args = "coordinator --n 12 --method search --run run --json --double-check none --listen 127.0.0.1:0";
    let mut serve = folder.diadem(args);
    serve.args(["--notify", &script(&folder, HANGS), "--notify-url", &url]);
    let (coordinator, address) = folder.serve_command(&mut serve, "log");
    let worker = folder.start(&format!("worker --coordinator http://{address} --threads 1"), "worker.log");
    assert_eq!(worker.end().code, Some(0));
    let begun = Instant::now();
    is_exact(&coordinator.end(), 12);
    // Two seconds for the receivers, and a moment for everything else.
    in_time(Duration::from_secs(3), begun);
    let lives = process(&folder.path().join("pid"));
    until("the command is ended", || !lives());
}
