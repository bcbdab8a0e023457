//! Access with tokens and certificates. Each refusal has its own message and changes nothing.

use std::fs;

use serde_json::Value;

use crate::credentials::{folder_of, keys, let_certificate_expire, serve, text};
use crate::harness::{Completed, Folder, Running, published};

/// A coordinator of a run that takes long, and folders with its keys and with those of strangers.
struct Guarded {
    folder: Folder,
    address: String,
    coordinator: Running,
}

impl Guarded {
    fn new() -> Self {
        let folder = keys();
        let (coordinator, address) = serve(&folder, "keys/coordinator");
        Self { folder, address, coordinator }
    }

    fn worker(&self, scheme: &str, more: &str) -> Completed {
        let args = format!(
            "worker --coordinator {scheme}://{} --threads 1 --give-up-after 20s {more}",
            self.address
        );
        self.folder.run(&args)
    }

    /// The status, as a bearer of the status token reads it.
    fn status(&self) -> Option<Value> {
        let args = format!("status --coordinator https://{} --keys keys/status --json", self.address);
        let outcome = self.folder.run(&args);
        (outcome.code == Some(0)).then(|| outcome.json())
    }

    /// No worker has joined, no unit is lent, and no record was written.
    fn nothing_changed(&self) {
        let status = self.status().unwrap();
        assert_eq!((&status["leased"], &status["done"]), (&Value::from(0), &Value::from(0)), "{status}");
        assert_eq!(status["workers"].as_array().unwrap().len(), 0, "{status}");
        assert_eq!(self.folder.counts("run"), 0);
    }
}

#[test]
fn unauthorized_clients_are_refused() {
    let guarded = Guarded::new();
    let folder = &guarded.folder;
    folder_of(folder, "no-token", &[("ca.pem", "keys/ca.pem")]);
    folder_of(
        folder,
        "wrong-token",
        &[("ca.pem", "keys/ca.pem"), ("join.token", "others/worker/join.token")],
    );
    folder_of(folder, "disguised", &[("ca.pem", "keys/ca.pem"), ("join.token", "keys/status/status.token")]);
    guarded.worker("http", "").refused(&["speaks TLS", "https://", "--keys"]);
    guarded.worker("https", "").refused(&["needs the authority", "--keys"]);
    guarded.worker("http", "--keys keys/worker").refused(&["not encrypted", "https://"]);
    guarded.worker("https", "--keys no-token").refused(&["requires a token", "--keys"]);
    guarded.worker("https", "--keys wrong-token").refused(&["token is not one of this coordinator's"]);
    guarded.worker("https", "--keys disguised").refused(&["a status token reads only", "join token"]);
    guarded.worker("https", "--keys keys/status").refused(&["a status token reads only", "join token"]);
    guarded.worker("https", "--keys others/worker").refused(&["not of the authority in ca.pem"]);
    guarded.nothing_changed();
    let log = fs::read_to_string(&guarded.coordinator.log).unwrap();
    for file in ["keys/worker/join.token", "keys/status/status.token", "others/worker/join.token"] {
        assert!(!log.contains(&text(folder, file)), "{file} is in the log");
    }
}

#[test]
fn a_status_that_strangers_ask_for_is_refused() {
    let guarded = Guarded::new();
    let status = |scheme: &str, more: &str| {
        guarded.folder.run(&format!("status --coordinator {scheme}://{} {more}", guarded.address))
    };
    folder_of(&guarded.folder, "no-token", &[("ca.pem", "keys/ca.pem")]);
    let wrong = [("ca.pem", "keys/ca.pem"), ("status.token", "others/status/status.token")];
    folder_of(&guarded.folder, "wrong-token", &wrong);
    status("http", "").refused(&["no status from", "speaks TLS"]);
    status("https", "--keys no-token").refused(&["no status from", "requires a token"]);
    status("https", "--keys wrong-token").refused(&["no status from", "token is not one of"]);
    status("https", "--keys others/status").refused(&["not of the authority"]);
    // Any right includes reading the status.
    for keys in ["worker", "follower", "admin", "coordinator"] {
        assert_eq!(status("https", &format!("--keys keys/{keys}")).code, Some(0), "{keys}");
    }
    guarded.nothing_changed();
}

#[test]
fn tls_against_a_coordinator_without_it_is_refused() {
    let folder = keys();
    let (_coordinator, address) = folder.serve("coordinator --n 18 --run run", "log");
    for command in ["worker", "status"] {
        let args = format!("{command} --coordinator https://{address} --keys keys/worker");
        folder.run(&args).refused(&["does not speak TLS", "--keys"]);
    }
}

#[test]
fn certificate_for_another_host_is_refused() {
    let folder = keys();
    let mut serve =
        folder.diadem("coordinator --n 18 --run run --keys keys/coordinator --listen 127.0.0.2:0");
    let (_coordinator, address) = folder.serve_command(&mut serve, "coordinator.log");
    folder.run(&format!("worker --coordinator https://{address} --keys keys/worker")).refused(&[
        "for coordinator.example, localhost, 127.0.0.1",
        "not for 127.0.0.2",
        "--host",
    ]);
}

#[test]
fn a_certificate_that_has_expired_is_refused() {
    let folder = keys();
    let_certificate_expire(&folder);
    let (_coordinator, address) = serve(&folder, "keys/coordinator");
    folder
        .run(&format!("worker --coordinator https://{address} --keys keys/worker"))
        .refused(&["certificate has expired", "keys renew"]);
}

#[test]
fn client_certificate_of_other_authority_is_refused() {
    let folder = keys();
    for name in ["keys", "others"] {
        assert_eq!(folder.run(&format!("keys client {name} rack-3")).code, Some(0));
    }
    let stranger = [
        ("ca.pem", "keys/ca.pem"),
        ("client.pem", "others/clients/rack-3/client.pem"),
        ("client.key", "others/clients/rack-3/client.key"),
    ];
    folder_of(&folder, "stranger", &stranger);
    let (coordinator, address) =
        folder.serve("coordinator --n 12 --run run --keys keys/coordinator --json", "log");
    let worker = |keys: &str| {
        folder.run(&format!(
            "worker --coordinator https://{address} --threads 1 --keys {keys} --give-up-after 20s"
        ))
    };
    // The refusal can get lost with the connection. Then the worker logs this and tries again.
    let refused = worker("stranger");
    assert_eq!(refused.code, Some(1), "{refused:?}");
    let last = refused.stderr.lines().last().unwrap();
    assert!(last.contains("client certificate is not of its authority"), "{refused:?}");
    assert_eq!(folder.counts("run"), 0);
    assert_eq!(worker("keys/clients/rack-3").code, Some(0));
    assert_eq!(coordinator.end().json()["total"], published(12));
}

#[test]
fn tokens_from_environment_work_without_tls() {
    let folder = keys();
    let (join, status) = (text(&folder, "keys/worker/join.token"), text(&folder, "keys/status/status.token"));
    let mut serve = folder.diadem("coordinator --n 12 --run run --listen 127.0.0.1:0 --json");
    serve.env("DIADEM_JOIN_TOKEN", &join).env("DIADEM_STATUS_TOKEN", &status);
    let (coordinator, address) = folder.serve_command(&mut serve, "coordinator.log");
    let with = |name: &str, token: &str, args: &str| {
        Completed::of(folder.diadem(args).env(name, token).output().unwrap())
    };
    let ask = format!("status --coordinator http://{address} --json");
    assert_eq!(with("DIADEM_STATUS_TOKEN", &status, &ask).code, Some(0));
    let work = format!("worker --coordinator http://{address} --threads 1");
    folder.run(&work).refused(&["requires a token"]);
    with("DIADEM_JOIN_TOKEN", &status, &work).refused(&["a status token reads only"]);
    let short = with("DIADEM_JOIN_TOKEN", "hunter2", &work);
    short.refused(&["DIADEM_JOIN_TOKEN", "32 to 256"]);
    assert!(!short.stderr.contains("hunter2") && short.code == Some(2), "{short:?}");
    let far = "worker --coordinator http://coordinator.example:7227";
    with("DIADEM_JOIN_TOKEN", &join, far).refused(&["not encrypted", "https://"]);
    assert_eq!(with("DIADEM_JOIN_TOKEN", &join, &work).code, Some(0));
    let outcome = coordinator.end();
    assert_eq!(outcome.json()["total"], published(12));
    assert!(!outcome.stderr.contains(&join) && !outcome.stderr.contains(&status), "{outcome:?}");
}

#[test]
fn typed_keys_beat_the_token_variable() {
    let folder = keys();
    let stale = "0123456789abcdef0123456789abcdef";
    let mut serve =
        folder.diadem("coordinator --n 12 --run run --listen 127.0.0.1:0 --keys keys/coordinator --json");
    let (coordinator, address) =
        folder.serve_command(serve.env("DIADEM_JOIN_TOKEN", stale), "coordinator.log");
    let with = |variables: &[(&str, &str)], args: &str| {
        Completed::of(folder.diadem(args).envs(variables.iter().copied()).output().unwrap())
    };
    let ask = |keys: &str| format!("status --coordinator https://{address} --json {keys}");
    let (outdated, status) = (("DIADEM_STATUS_TOKEN", stale), text(&folder, "keys/status/status.token"));
    assert_eq!(with(&[outdated], &ask("--keys keys/status")).json()["n"], 12);
    let not_typed = with(&[outdated, ("DIADEM_KEYS", "keys/status")], &ask(""));
    not_typed.refused(&["the token is not one of this coordinator's"]);
    with(&[outdated], &ask("--keys keys/worker")).refused(&["the token is not one of this coordinator's"]);
    let beside = with(&[("DIADEM_STATUS_TOKEN", status.trim())], &ask("--keys keys/worker"));
    assert_eq!(beside.json()["n"], 12, "a folder that has no such token");
    let work = format!("worker --coordinator https://{address} --keys keys/worker --threads 1");
    assert_eq!(with(&[("DIADEM_JOIN_TOKEN", stale)], &work).code, Some(0));
    assert_eq!(coordinator.end().json()["total"], published(12));
}

#[test]
fn addresses_open_to_all_need_keys_or_insecure() {
    let folder = keys();
    let refused = folder.run("coordinator --n 8 --run run --listen 0.0.0.0:0");
    refused.refused(&["0.0.0.0:0", "--keys", "--insecure"]);
    folder
        .run("coordinator --n 8 --run run --listen 0.0.0.0:0 --keys keys/coordinator --insecure")
        .refused(&["--insecure", "--keys"]);
    assert!(!folder.path().join("run").exists());
    let mut serve = folder.diadem("coordinator --n 18 --run run --listen 0.0.0.0:0 --keys keys/coordinator");
    let (_coordinator, address) = folder.serve_command(&mut serve, "coordinator.log");
    let port = address.rsplit(':').next().unwrap();
    let status = folder.run(&format!("status --coordinator localhost:{port} --keys keys/status --json"));
    assert_eq!(status.json()["n"], 18);
}

#[test]
fn a_guarded_run_is_counted_over_tls() {
    let folder = keys();
    // No log line has a token.
    let start =
        |args: &str, log: &str| folder.start_command(folder.diadem(args).env("DIADEM_LOG", "trace"), log);
    let mut coordinator =
        start("coordinator --n 12 --run run --listen 127.0.0.1:0 --keys keys/coordinator --json", "log");
    let address = coordinator.address();
    let worker = format!("worker --coordinator https://{address} --keys keys/worker --threads 1");
    let workers = [start(&worker, "a"), start(&worker, "b")];
    let answer = coordinator.end();
    assert!(answer.stdout.contains(&published(12)), "{}", answer.stdout);
    for worker in workers {
        assert_eq!(worker.end().code, Some(0));
    }
    let token = text(&folder, "keys/worker/join.token");
    for log in ["log", "a", "b"] {
        assert!(!text(&folder, log).contains(&token));
    }
}
