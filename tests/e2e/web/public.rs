//! The public page of a real coordinator: its viewers while workers count, what it hides, and the history that it shares
//! with the operator's page.

use std::io::{Read, Write};
use std::net::TcpStream;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::Value;
use test_support::look::browser;

use crate::credentials::{keys, text};
use crate::harness::{Folder, PATIENCE, Running, until};
use crate::http::get;
use crate::web::tls::get_over_tls;

/// Viewers at a time.
const VIEWERS: usize = 1000;

/// Every path that answers without a token.
const PATHS: [&str; 12] = [
    "/",
    "/?token",
    "/public.json",
    "/public.js",
    "/run.js",
    "/elements.js",
    "/families.js",
    "/speed.js",
    "/dashboard.css",
    "/healthz",
    "/readyz",
    "/nowhere",
];

/// A coordinator with a public page, its address, and that of the page.
fn serve(folder: &Folder, more: &str) -> (Running, String, String) {
    let (mut coordinator, address) = folder.serve(
        &format!("coordinator --n 20 --method search --run secret-path --http 127.0.0.1:0 --public {more}"),
        "coordinator.log",
    );
    let http = coordinator.dashboard();
    (coordinator, address, http)
}

fn state(reply: &str) -> Value {
    let (_, body) = reply.split_once("\r\n\r\n").unwrap_or_default();
    serde_json::from_str(body).unwrap_or_else(|_| panic!("{reply}"))
}

#[test]
fn thousand_viewers_get_the_page_while_workers_count() {
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit }).unwrap();
    let folder = Folder::new();
    let (coordinator, address, http) = serve(&folder, "");
    let _worker = folder.start(&format!("worker --coordinator http://{address} --threads 1"), "worker.log");
    until("units are counted", || folder.counts("secret-path") > 20);
    for _ in 0..3 {
        let before = folder.counts("secret-path");
        // All viewers are connected before the first of them asks.
        let mut viewers: Vec<_> = (0..VIEWERS).map(|_| TcpStream::connect(&http).unwrap()).collect();
        for viewer in &mut viewers {
            viewer.set_read_timeout(Some(PATIENCE)).unwrap();
            let request =
                "GET /public.json HTTP/1.1\r\nhost: queens.example.org\r\nconnection: close\r\n\r\n";
            viewer.write_all(request.as_bytes()).unwrap();
        }
        for mut viewer in viewers {
            let mut reply = String::new();
            viewer.read_to_string(&mut reply).unwrap();
            assert!(reply.starts_with("HTTP/1.1 200"), "{reply}");
            assert_eq!(state(&reply)["run"]["n"], 20);
        }
        until("the worker counts on", || folder.counts("secret-path") > before);
    }
    coordinator.terminate();
    assert_eq!(coordinator.end().code, Some(143));
}

#[test]
fn public_page_hides_machines_reasons_and_paths() {
    let folder = keys();
    folder.run("keys client keys ada --token");
    let serving = "--keys keys/coordinator";
    let (coordinator, address, http) = serve(&folder, serving);
    let worker = folder.start(
        &format!(
            "worker --coordinator https://{address} --threads 1 --keys keys/clients/ada --name secret-worker --machine \
             secret-machine"
        ),
        "worker.log",
    );
    until("units are counted", || folder.counts("secret-path") > 20);
    let admin = format!("--coordinator https://{address} --keys keys/admin");
    let retract = format!("retract {admin} --machine ada/secret-machine --yes --reason");
    let mut retract = folder.diadem(&retract);
    assert!(retract.arg("secret-machine is broken").output().unwrap().status.success());
    assert_eq!(folder.run(&format!("pause {admin} --reason secret-reason")).code, Some(0));
    // The history is in the ledger, so the next process has it from the checkpoint.
    drop(worker);
    coordinator.terminate();
    assert_eq!(coordinator.end().code, Some(143));
    let (_coordinator, address, http_again) = serve(&folder, serving);
    let admin = format!("--coordinator https://{address} --keys keys/admin");
    let status = folder.run(&format!("status {admin} --json")).json();
    let incidents = status["incidents"].as_array().unwrap();
    let reasons: Vec<_> = incidents.iter().filter_map(|incident| incident["reason"].as_str()).collect();
    assert_eq!(reasons, ["secret-machine is broken", "secret-reason"], "{status}");
    assert_ne!(http, http_again);

    let secrets = ["join", "status", "admin", "follow"]
        .map(|token| text(&folder, &format!("keys/coordinator/{token}.token")))
        .into_iter()
        .flat_map(|tokens| tokens.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
        .filter(|word| word.len() >= 32);
    let mut words: Vec<String> = secrets.collect();
    assert!(words.len() >= 5, "{words:?}");
    words.extend(["secret-", folder.path().to_str().unwrap(), &address].map(str::to_owned));
    let mut state = Value::Null;
    until("the page has the history", || {
        state = self::state(&get_over_tls(&folder, &http_again, "/public.json", ""));
        let rows = state["incidents"]["rows"].to_string();
        ["trust withdrawn", "pause", "start of the coordinator"].iter().all(|kind| rows.contains(kind))
    });
    assert_eq!(state["owners"]["rows"][0][0], "ada");
    assert_eq!(state["run"]["paused"], "");
    let head = state["head"].as_str().unwrap();
    assert!(head.starts_with("diadem-head run=") && head.contains(" n=20 "), "{head}");
    for path in PATHS {
        let reply = get_over_tls(&folder, &http_again, path, "");
        assert!(reply.starts_with("HTTP/1.1 "), "{path}: {reply}");
        assert!(!reply.contains("set-cookie"), "{path}: {reply}");
        for word in &words {
            assert!(!reply.contains(word), "{path}: {word} in {reply}");
        }
    }
    for path in ["/metrics", "/events"] {
        assert!(get_over_tls(&folder, &http_again, path, "").starts_with("HTTP/1.1 401"), "{path}");
    }
    let bearer = format!("authorization: Bearer {}\r\n", text(&folder, "keys/status/status.token"));
    let metrics = get_over_tls(&folder, &http_again, "/metrics", &bearer);
    assert!(metrics.contains("secret-machine"), "the secret is in the run: {metrics}");
}

#[test]
fn keyless_public_page_shows_progress_alone() {
    let folder = Folder::new();
    let (_coordinator, address, http) = serve(&folder, "");
    let _worker = folder.start(
        &format!("worker --coordinator http://{address} --threads 1 --machine secret-machine"),
        "worker.log",
    );
    until("units are counted", || folder.counts("secret-path") > 20);
    for path in ["/events", "/metrics"] {
        assert!(get(&http, path).starts_with("HTTP/1.1 403"), "{path}");
    }
    let Some(browser) = browser() else { return };
    browser.go(&format!("http://{http}/"));
    browser.until("document.getElementById('link').textContent === 'live'");
    browser.until("document.querySelector('[data-run=done]').textContent.replaceAll(',', '') > 20");
    let page = browser.text("body");
    for words in ["n = 20", "start of the coordinator", "diadem-head run=", "HISTORY"] {
        assert!(page.to_lowercase().contains(&words.to_lowercase()), "no {words} in {page}");
    }
    assert!(!page.contains("secret-") && !page.contains("for the operator"), "{page}");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}
