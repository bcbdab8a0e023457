//! Invitations: one line with which a worker joins.

use std::fs;
use std::io::Write;
use std::process::Stdio;

use crate::credentials::{keys, serve, text};
use crate::harness::{Completed, Folder, published, until};

/// The invitation of ada to the coordinator at this address.
fn invitation(folder: &Folder, address: &str) -> String {
    let made = folder.run(&format!("invite keys ada --coordinator https://{address}"));
    assert_eq!(made.code, Some(0), "{made:?}");
    made.stdout.trim().to_owned()
}

/// Waits until the coordinator has read changed keys so many times.
fn keys_were_read(folder: &Folder, times: usize) {
    let log = || fs::read_to_string(folder.path().join("coordinator.log")).unwrap();
    until("the coordinator knows the keys", || log().matches("the keys have changed").count() == times);
}

/// A worker that joins with one thread.
fn join(folder: &Folder, invitation: &str) -> Completed {
    folder.run(&format!("join {invitation} --threads 1 --give-up-after 20s"))
}

#[test]
fn invited_owner_counts_a_whole_run() {
    let folder = keys();
    let (coordinator, address) =
        folder.serve("coordinator --n 14 --run run --json --keys keys/coordinator", "coordinator.log");
    let line = invitation(&folder, &address);
    keys_were_read(&folder, 1);
    // One invitation serves several machines.
    let first = folder.start(&format!("join {line} --threads 1 --machine a"), "a.log");
    let second = folder.start(&format!("join {line} --threads 1 --machine b"), "b.log");
    assert_eq!((first.end().code, second.end().code), (Some(0), Some(0)));
    assert_eq!(coordinator.end().json()["total"], published(14));
    let ledger = folder.ledger("run");
    assert!(ledger.contains("\"owner\":\"ada\"") && !ledger.contains("\"owner\":\"join\""), "{ledger}");
}

#[test]
fn revoked_and_expired_invitations_are_refused() {
    let folder = keys();
    let (_coordinator, address) = serve(&folder, "keys/coordinator");
    let line = invitation(&folder, &address);
    let tokens = folder.path().join("keys/coordinator/join.token");
    let with_expiry = text(&folder, "keys/coordinator/join.token");
    let (before, _) = with_expiry.split_once("until=").unwrap();
    keys_were_read(&folder, 1);
    // The coordinator knows the expiry by itself.
    fs::write(&tokens, format!("{before}until=2026-01-01T00:00:00Z\n")).unwrap();
    keys_were_read(&folder, 2);
    let refused = join(&folder, &line);
    assert!(refused.code == Some(1), "{refused:?}");
    refused.refused(&["the invitation of ada has expired"]);
    fs::write(&tokens, with_expiry + "\n").unwrap();
    keys_were_read(&folder, 3);
    let worker = folder.start(&format!("join {line} --threads 1"), "worker.log");
    until("it counts", || folder.counts("run") > 0);
    assert_eq!(folder.run("keys revoke keys ada").code, Some(0));
    let ended = worker.end();
    assert!(ended.code == Some(1) && ended.stderr.contains("the keys of ada have been revoked"), "{ended:?}");
    join(&folder, &line).refused(&["the keys of ada have been revoked"]);
    folder.run("invite keys ada").refused(&["ada has been revoked; choose another name"]);
}

#[test]
fn invitation_of_another_authority_sends_no_token() {
    let folder = keys();
    let (_coordinator, address) = serve(&folder, "keys/coordinator");
    let made = folder.run(&format!("invite others ada --coordinator https://{address}"));
    let refused = join(&folder, made.stdout.trim());
    assert!(refused.code == Some(1) && refused.stderr.contains("certificate"), "{refused:?}");
}

#[test]
fn invitation_can_come_from_the_input() {
    let folder = Folder::new();
    let mut command = folder.diadem("join - --threads 1");
    let mut joining = command.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // A line suffices: a terminal's input does not end.
    let mut input = joining.stdin.take().unwrap();
    input.write_all(b"https://127.0.0.1:7227\n").unwrap();
    Completed::of(joining.wait_with_output().unwrap()).refused(&["this is no invitation"]);
    drop(input);
}

#[test]
fn invitations_lead_to_the_names_of_the_certificate() {
    let folder = Folder::new();
    assert_eq!(folder.run("keys init keys --host 10.0.0.7 --host fe80::1").code, Some(0));
    let made = folder.run("invite keys ada --days 7");
    let told = &made.stderr;
    assert!(told.contains("https://10.0.0.7:7227 and https://[fe80::1]:7227"), "{made:?}");
    folder.run("invite keys ada --coordinator http://10.0.0.7:7227").refused(&["http://10.0.0.7:7227"]);
    assert_eq!(text(&folder, "keys/coordinator/join.token").matches(" ada until=").count(), 1);
}
