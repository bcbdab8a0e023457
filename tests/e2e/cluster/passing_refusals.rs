//! Temporary refusals end no worker and no follower: they wait, as they do for an absent coordinator.

use std::fs;
use std::time::{Duration, Instant};

use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio_stream::wrappers::TcpListenerStream;
use tonic::service::Routes;

use crate::credentials::{folder_of, keys, let_certificate_expire, serve, serve_again, text, work};
use crate::harness::{Folder, Running, published, until};
use crate::held_file::HeldFile;
use crate::waiting::{SEES_RUN, start_waiting};

/// Waits until the process with this log was accepted, was then refused for this reason, and has logged that
/// once.
fn until_refused(folder: &Folder, log: &str, why: &str) {
    let told = || text(folder, log).matches(&format!("refused after it was accepted before: {why}")).count();
    until("it is refused", || told() > 0);
    assert_eq!(told(), 1, "{}", text(folder, log));
}

fn until_it_goes_on(folder: &Folder, log: &str, mut running: Running) {
    until("it goes on", || text(folder, log).contains("the coordinator answers again"));
    assert!(!running.has_ended());
}

#[test]
fn worker_waits_out_a_server_without_the_calls() {
    let folder = Folder::new();
    let serve = "coordinator --n 18 --run run";
    let (coordinator, address) = folder.serve(serve, "log");
    let slow = "--threads 1 --isa portable";
    let worker = folder.start(&format!("worker --coordinator http://{address} {slow}"), "worker.log");
    let follower = folder.start(&format!("follow http://{address} --run copy"), "follower.log");
    until("something is on record", || folder.counts("run") > 0);
    until("it is followed", || text(&folder, "follower.log").contains(" following "));
    coordinator.kill();
    let runtime = Runtime::new().unwrap();
    let listener = runtime.block_on(TcpListener::bind(&address)).unwrap();
    let stand_in = tonic::transport::Server::builder().add_routes(Routes::default());
    runtime.spawn(stand_in.serve_with_incoming(TcpListenerStream::new(listener)));
    let logs = ["worker.log", "follower.log"];
    for log in logs {
        until_refused(&folder, log, "there is a server at that address, but no coordinator");
    }
    drop(runtime);
    let _coordinator = folder.serve_at(&address, serve, "log");
    for (log, running) in logs.into_iter().zip([worker, follower]) {
        until_it_goes_on(&folder, log, running);
    }
}

#[test]
fn a_token_that_is_gone_for_a_while_is_waited_for() {
    let folder = keys();
    let (_coordinator, address) = serve(&folder, "keys/coordinator");
    let worker = work(&folder, &address, "keys/worker", "a");
    until("something is on record", || folder.counts("run") > 0);
    let [known, aside] =
        ["join.token", "aside"].map(|file| folder.path().join("keys/coordinator").join(file));
    fs::rename(&known, &aside).unwrap();
    until_refused(&folder, "a.log", "the token is not one of this coordinator's");
    fs::rename(&aside, &known).unwrap();
    until_it_goes_on(&folder, "a.log", worker);
}

#[test]
fn worker_waits_while_certificate_is_invalid() {
    let folder = keys();
    let (coordinator, address) = serve(&folder, "keys/coordinator");
    let worker = work(&folder, &address, "keys/worker", "a");
    until("something is on record", || folder.counts("run") > 0);
    coordinator.kill();
    let files = ["server.pem", "server.key"].map(|file| folder.path().join("keys/coordinator").join(file));
    let valid = files.each_ref().map(|file| fs::read(file).unwrap());
    let_certificate_expire(&folder);
    let _coordinator = serve_again(&folder, &address, "keys/coordinator");
    until_refused(&folder, "a.log", "the coordinator's certificate has expired");
    files.iter().zip(valid).for_each(|(file, text)| fs::write(file, text).unwrap());
    until_it_goes_on(&folder, "a.log", worker);
}

#[test]
fn replaced_keys_are_reread_without_restart() {
    let folder = keys();
    let files = [
        ("early", "worker", "join.token"),
        ("copier", "follower", "follow.token"),
        ("onlooker", "status", "status.token"),
    ];
    let source = |of: &str, place: &str, file: &str| format!("{of}/{place}/{file}");
    for (name, place, token) in files {
        let [authority, token_source] = ["ca.pem", token].map(|file| source("keys", place, file));
        folder_of(&folder, name, &[("ca.pem", &*authority), (token, &*token_source)]);
    }
    let serve = "coordinator --n 17 --run run --method search --double-check none --json --keys";
    let (coordinator, address) = folder.serve(&format!("{serve} keys/coordinator"), "log");
    let follower = format!("follow https://{address} --keys copier --run copy");
    let follower = folder.start(&follower, "copier.log");
    let wait = format!("--coordinator https://{address} --keys onlooker");
    let waiting = start_waiting(&folder, &wait, "onlooker.log");
    until("it is followed", || text(&folder, "copier.log").contains(" following "));
    until("it is waited for", || waiting.says(SEES_RUN));
    let worker = work(&folder, &address, "early", "early");
    until("something is on record", || folder.counts("run") > 0);
    coordinator.kill();
    let coordinator = folder.serve_at(&address, &format!("{serve} others/coordinator"), "log");
    let why = "the coordinator's certificate is not of the authority in ca.pem";
    ["early.log", "copier.log"].into_iter().for_each(|log| until_refused(&folder, log, why));
    until("it warns", || waiting.says("no status, trying again: the coordinator's cert"));
    // Half written.
    fs::write(folder.path().join("early/ca.pem"), "").unwrap();
    until("it is told", || text(&folder, "early.log").contains("the old ones stay in use: early/ca.pem"));
    for (name, place, token) in files {
        for file in ["ca.pem", token] {
            let [from, whole, to] = [source("others", place, file), "whole".into(), format!("{name}/{file}")]
                .map(|path| folder.path().join(path));
            fs::copy(from, &whole).unwrap();
            fs::rename(whole, to).unwrap();
        }
    }
    assert_eq!(coordinator.end().json()["total"], published(17));
    for running in [worker, follower, waiting] {
        let ended = running.end();
        assert_eq!(ended.code, Some(0), "{ended:?}");
    }
    for log in ["early.log", "copier.log"] {
        let log = text(&folder, log);
        // Once for each of the two files, where much time passes between them.
        let told = log.matches("the keys have changed; the new ones are in use").count();
        assert!((1..=2).contains(&told), "{log}");
    }
    assert_eq!(text(&folder, "early.log").matches("the old ones stay in use").count(), 1);
}

#[test]
fn hanging_keys_folder_does_not_stop_workers() {
    let folder = keys();
    let (_coordinator, address) = serve(&folder, "keys/coordinator");
    let mut worker = work(&folder, &address, "keys/worker", "a");
    until("something is on record", || folder.counts("run") > 0);
    let Some(held) = HeldFile::against_all(&folder, "keys/worker/ca.pem") else { return };
    let [known, aside] =
        ["join.token", "aside"].map(|file| folder.path().join("keys/coordinator").join(file));
    fs::rename(&known, &aside).unwrap();
    until_refused(&folder, "a.log", "the token is not one of this coordinator's");
    held.is_waited_for();
    let says = |words| text(&folder, "a.log").contains(words) || !held.is_still_waited_for();
    until("it is told", || says("cannot read the whole folder of keys"));
    let freed = Instant::now();
    fs::rename(&aside, &known).unwrap();
    until("it goes on", || says("the coordinator answers again"));
    if !held.is_still_waited_for() {
        assert!(freed.elapsed() < Duration::from_secs(20), "it did not go on before it could read them");
        eprintln!("skipped: the kernel breaks leases too soon");
        return;
    }
    worker.terminate();
    until("it leaves", || worker.has_ended());
}

#[test]
fn wait_outlasts_a_refusal_that_may_pass() {
    let folder = keys();
    let (_coordinator, address) = serve(&folder, "keys/coordinator");
    let wait = format!("--coordinator https://{address} --keys keys/status");
    let mut waiting = start_waiting(&folder, &wait, "wait.log");
    until("it sees the run", || waiting.says(SEES_RUN));
    let [known, aside] =
        ["status.token", "aside"].map(|file| folder.path().join("keys/coordinator").join(file));
    fs::rename(&known, &aside).unwrap();
    let refusal = "the token is not one of this coordinator's";
    until("it warns", || waiting.says(&format!("no status, trying again: {refusal}")));
    // At the first call the same refusal ends it.
    folder.run(&format!("status --wait {wait}")).refused(&[refusal]);
    fs::rename(&aside, &known).unwrap();
    until("it continues", || waiting.says("the coordinator answers again"));
    assert!(!waiting.has_ended());
}
