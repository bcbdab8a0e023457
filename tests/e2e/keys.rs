//! The keys that `diadem keys` makes, and what is said of those that are of no use.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::harness::{Folder, free_address};
use crate::security::{folder_of, keys, serve, text};

#[test]
fn renewed_keys_take_effect_while_workers_still_have_the_old_token() {
    let folder = keys();
    folder_of(&folder, "old", &[("ca.pem", "keys/ca.pem"), ("join.token", "keys/worker/join.token")]);
    assert_eq!(folder.run("keys renew keys").code, Some(0));
    assert_ne!(text(&folder, "old/join.token"), text(&folder, "keys/worker/join.token"));
    let address = free_address();
    let status = |keys: &str| folder.run(&format!("status --coordinator https://{address} --keys {keys}"));
    let coordinator = serve(&folder, &address, "keys/coordinator");
    assert_eq!((status("old").code, status("keys/worker").code), (Some(0), Some(0)));
    coordinator.kill();
    assert_eq!(folder.run("keys renew keys").code, Some(0));
    let _coordinator = serve(&folder, &address, "keys/coordinator");
    status("old").refused(&["it may have been replaced"]);
    assert_eq!(status("keys/worker").code, Some(0));
}

#[test]
fn keys_are_private_and_never_overwritten() {
    let folder = Folder::new();
    let made = folder.run("keys init keys --host 10.0.0.7");
    assert_eq!(made.code, Some(0), "{made:?}");
    let mut to_visit = vec![folder.path().join("keys")];
    let mut files = 0;
    while let Some(path) = to_visit.pop() {
        let metadata = fs::metadata(&path).unwrap();
        let mode = metadata.permissions().mode() & 0o777;
        assert_eq!(mode, if metadata.is_dir() { 0o700 } else { 0o600 }, "{}", path.display());
        if metadata.is_dir() {
            to_visit.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else {
            files += 1;
        }
    }
    assert_eq!(files, 18);
    for token in ["keys/worker/join.token", "keys/status/status.token"] {
        assert!(!made.stdout.contains(&text(&folder, token)));
    }
    let before = text(&folder, "keys/ca.key");
    folder.run("keys init keys").refused(&["keys is not empty", "keys renew"]);
    assert_eq!(text(&folder, "keys/ca.key"), before);
    assert_eq!(folder.run("keys client keys a").code, Some(0));
    folder.run("keys client keys a").refused(&["there already"]);
    folder.run("keys client keys ../a").refused(&["letters, digits"]);
    folder.run("keys init other --host 10.0.0.7/24").refused(&["10.0.0.7/24", "host name"]);
    folder.run("keys renew nowhere").refused(&["nowhere/ca.key"]);
}

#[test]
fn a_token_file_that_others_can_read_gets_a_warning_and_broken_keys_a_sentence() {
    let folder = keys();
    let token = folder.path().join("keys/status/status.token");
    fs::set_permissions(&token, fs::Permissions::from_mode(0o644)).unwrap();
    let outcome = folder.run(&format!("status --coordinator https://{} --keys keys/status", free_address()));
    assert!(
        outcome.stderr.contains("warning: others may read keys/status/status.token (mode 644)"),
        "{outcome:?}"
    );
    assert!(!outcome.stderr.contains(&text(&folder, "keys/status/status.token")));
    let serve =
        |keys: &str| folder.run(&format!("coordinator --n 8 --run run --listen 127.0.0.1:0 --keys {keys}"));
    serve("nowhere").refused(&["nowhere/server.pem is missing", "keys init"]);
    serve("keys/worker").refused(&["keys/worker/server.pem is missing"]);
    let bare = [("server.pem", "keys/coordinator/server.pem"), ("server.key", "keys/coordinator/server.key")];
    folder_of(&folder, "bare", &bare);
    serve("bare").refused(&["nobody could take part", "join.token"]);
    fs::write(folder.path().join("bare/join.token"), "too short").unwrap();
    fs::set_permissions(folder.path().join("bare/join.token"), fs::Permissions::from_mode(0o600)).unwrap();
    serve("bare").refused(&["bare/join.token", "32 to 256"]);
    fs::copy(folder.path().join("keys/worker/join.token"), folder.path().join("bare/join.token")).unwrap();
    fs::copy(folder.path().join("others/ca.key"), folder.path().join("bare/server.key")).unwrap();
    serve("bare").refused(&["certificate or key cannot be used"]);
    assert!(!folder.path().join("run").exists(), "nothing was begun");
}
