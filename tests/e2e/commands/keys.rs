//! The keys that `diadem keys` makes, and the messages about unusable keys.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::credentials::{folder_of, keys, serve, serve_again, text, work};
use crate::harness::{Folder, Running, free_address, in_time, published, until};

#[test]
fn renewed_keys_work_while_workers_have_old_token() {
    let folder = keys();
    folder_of(&folder, "old", &[("ca.pem", "keys/ca.pem"), ("join.token", "keys/worker/join.token")]);
    assert_eq!(folder.run("keys renew keys").code, Some(0));
    assert_ne!(text(&folder, "old/join.token"), text(&folder, "keys/worker/join.token"));
    let (coordinator, address) = serve(&folder, "keys/coordinator");
    let status = |keys: &str| folder.run(&format!("status --coordinator https://{address} --keys {keys}"));
    assert_eq!((status("old").code, status("keys/worker").code), (Some(0), Some(0)));
    coordinator.kill();
    assert_eq!(folder.run("keys renew keys").code, Some(0));
    let _coordinator = serve_again(&folder, &address, "keys/coordinator");
    status("old").refused(&["it may have been replaced"]);
    assert_eq!(status("keys/worker").code, Some(0));
}

#[test]
fn new_certificate_keeps_all_tokens() {
    let folder = keys();
    let tokens = || {
        let names =
            ["join", "status", "follow", "admin"].map(|name| format!("keys/coordinator/{name}.token"));
        let copies = ["worker/join", "status/status", "follower/follow", "admin/admin"];
        let copies = copies.map(|name| format!("keys/{name}.token"));
        names.iter().chain(&copies).map(|file| text(&folder, file)).collect::<Vec<_>>()
    };
    let (before, mut certificate) = (tokens(), text(&folder, "keys/coordinator/server.pem"));
    for hosts in ["--host=127.0.0.1 --host=10.0.0.7", "--host=127.0.0.1 --host=10.0.0.7 --host=10.0.0.8", ""]
    {
        let renewed = folder.run(&format!("keys renew keys --certificate-only {hosts}"));
        assert!(renewed.code == Some(0) && renewed.stdout.contains("the tokens stay"), "{renewed:?}");
        let now = text(&folder, "keys/coordinator/server.pem");
        assert_ne!(std::mem::replace(&mut certificate, now.clone()), now);
        assert_eq!(tokens(), before);
    }
    assert_eq!(text(&folder, "keys/hosts"), "127.0.0.1\n10.0.0.7\n10.0.0.8");
    let (_coordinator, address) = serve(&folder, "keys/coordinator");
    assert_eq!(
        folder.run(&format!("status --coordinator https://{address} --keys keys/status")).code,
        Some(0)
    );
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
    for token in [
        "keys/worker/join.token",
        "keys/status/status.token",
        "keys/follower/follow.token",
        "keys/admin/admin.token",
    ] {
        assert!(!made.stdout.contains(&text(&folder, token)));
    }
    let before = text(&folder, "keys/ca.key");
    folder.run("keys init keys").refused(&["keys is not empty", "keys renew"]);
    assert_eq!(text(&folder, "keys/ca.key"), before);
    assert_eq!(folder.run("keys client keys a").code, Some(0));
    folder.run("keys client keys a").refused(&["exists already"]);
    folder.run("keys client keys ../a").refused(&["letters, digits"]);
    folder.run("keys client keys join").refused(&["\"join\"", "is not free for an owner"]);
    folder.run("keys client keys 0123456789abcdef0123456789abcdef").refused(&["1 to 31"]);
    for host in ["10.0.0.7/24", "256.1.1.1", "0x7f.1", "node.7"] {
        folder.run(&format!("keys init other --host {host}")).refused(&[host, "host name"]);
    }
    let strange = folder.run("status --coordinator https://127.1:7227 --keys keys/status");
    strange.refused(&["127.1", "is not an address of a coordinator"]);
    folder.run("keys renew nowhere").refused(&["nowhere/ca.key"]);
}

#[test]
fn concurrent_keys_init_in_a_folder_is_refused() {
    let folder = Folder::new();
    for round in 0..20 {
        let keys = format!("keys-{round}");
        let makers = [1, 2].map(|k| folder.start(&format!("keys init {keys}"), &format!("{keys}-{k}.log")));
        let ended = makers.map(Running::end);
        let (made, refused): (Vec<_>, Vec<_>) = ended.iter().partition(|maker| maker.code == Some(0));
        assert_eq!((made.len(), refused.len()), (1, 1), "{ended:?}");
        assert!(refused[0].stderr.contains("at work in") || refused[0].stderr.contains("is not empty"));
        let same = |one: &str, other: &str| {
            assert!(
                text(&folder, &format!("{keys}/{one}")).contains(&text(&folder, &format!("{keys}/{other}")))
            );
        };
        for place in ["coordinator", "worker", "status", "follower", "admin"] {
            same("ca.pem", &format!("{place}/ca.pem"));
        }
        same("coordinator/join.token", "worker/join.token");
        same("coordinator/admin.token", "admin/admin.token");
        assert_eq!(folder.run(&format!("keys client {keys} a")).code, Some(0));
    }
}

#[test]
fn readable_token_warns_and_broken_keys_are_refused() {
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

/// A worker at full speed, to finish the run.
fn fast_worker(folder: &Folder, address: &str, keys: &str, name: &str) -> Running {
    let args = format!("worker --coordinator https://{address} --threads 1 --keys {keys} --name {name}");
    folder.start(&args, &format!("{name}.log"))
}

/// The owners of the connected workers.
fn owners(folder: &Folder, address: &str) -> Vec<String> {
    let outcome = folder.run(&format!("status --coordinator https://{address} --keys keys/status --json"));
    let status = if outcome.code == Some(0) { outcome.json() } else { Value::Null };
    let workers = status["workers"].as_array().cloned().unwrap_or_default();
    workers.iter().map(|worker| worker["owner"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn first_owner_has_the_name_given_to_init() {
    let folder = Folder::new();
    let made = folder.run("keys init keys --host 127.0.0.1 --owner ada");
    assert!(made.stdout.contains("keys/clients/ada   to each worker of ada: "), "{made:?}");
    let (_coordinator, address) = serve(&folder, "keys/coordinator");
    let _worker = work(&folder, &address, "keys/clients/ada", "a");
    until("it takes part", || owners(&folder, &address) == ["ada"]);
    folder.run("keys init others --owner join").refused(&["\"join\" is not free for an owner"]);
    assert!(!folder.path().join("others").exists());
}

#[test]
fn owner_is_added_and_revoked_during_a_run() {
    let folder = keys();
    assert_eq!(folder.run("keys client keys ada").code, Some(0));
    let (mut coordinator, address) = serve(&folder, "keys/coordinator");
    let _ada = work(&folder, &address, "keys/clients/ada", "a");
    let _shared = work(&folder, &address, "keys/worker", "s");
    assert_eq!(folder.run("keys client keys bob --token").code, Some(0));
    until("bob is known", || {
        folder.run(&format!("status --coordinator https://{address} --keys keys/clients/bob")).code == Some(0)
    });
    let bob = work(&folder, &address, "keys/clients/bob", "b");
    until("all are there", || owners(&folder, &address) == ["ada", "bob", "join"]);
    let revoked = folder.run("keys revoke keys bob");
    assert!(revoked.code == Some(0) && revoked.stdout.contains("keys/coordinator/revoked"), "{revoked:?}");
    let begun = Instant::now();
    let bob = bob.end();
    in_time(Duration::from_secs(5), begun);
    assert_eq!(bob.code, Some(1));
    assert!(bob.stderr.lines().last().unwrap().contains("the keys of bob have been revoked"), "{bob:?}");
    until("its worker is struck off", || owners(&folder, &address) == ["ada", "join"]);
    folder
        .run(&format!("worker --coordinator https://{address} --keys keys/clients/bob --give-up-after 20s"))
        .refused(&["the keys of bob have been revoked"]);
    assert_eq!(folder.run("keys revoke keys ada").code, Some(0));
    until("a certificate is revoked as well", || owners(&folder, &address) == ["join"]);
    // The list is on another disk that has disappeared: the former list stays valid.
    let list = folder.path().join("keys/coordinator/revoked");
    fs::rename(&list, list.with_extension("kept")).unwrap();
    symlink("gone", &list).unwrap();
    let said = "the old ones stay in use: cannot read keys/coordinator/revoked";
    until("it is said to be gone", || text(&folder, "coordinator.log").contains(said));
    folder
        .run(&format!("status --coordinator https://{address} --keys keys/clients/bob"))
        .refused(&["the keys of bob have been revoked"]);
    folder.run("keys revoke keys join").refused(&["cannot read keys/coordinator/revoked"]);
    fs::rename(list.with_extension("kept"), &list).unwrap();
    folder.run("keys client keys bob2 --token --days 3").refused(&["--token", "--days"]);
    folder.run("keys client keys bob --token").refused(&["bob has been revoked"]);
    fs::remove_dir_all(folder.path().join("keys/clients/bob")).unwrap();
    folder.run("keys client keys bob --token").refused(&["bob has been revoked"]);
    assert!(!coordinator.has_ended());
}

#[test]
fn renewing_keys_during_a_run_loses_no_lease() {
    let folder = keys();
    folder_of(&folder, "old", &[("ca.pem", "keys/ca.pem"), ("join.token", "keys/worker/join.token")]);
    assert_eq!(folder.run("keys client keys ada --token").code, Some(0));
    let (coordinator, address) = folder.serve(
        "coordinator --n 18 --run run --keys keys/coordinator --json --method search --double-check none",
        "log",
    );
    let (old, named) =
        (work(&folder, &address, "old", "old"), work(&folder, &address, "keys/clients/ada", "ada"));
    until("both are there", || owners(&folder, &address).len() == 2);
    assert_eq!(folder.run("keys renew keys").code, Some(0));
    until("the new keys hold", || text(&folder, "log").contains("the keys have changed"));
    // A token half copied changes nothing.
    let known = folder.path().join("keys/coordinator/join.token");
    let whole = fs::read_to_string(&known).unwrap();
    fs::write(&known, &whole[..20]).unwrap();
    until("it is told", || text(&folder, "log").contains("the old ones stay in use"));
    fs::write(&known, &whole).unwrap();
    // No faster than the others: otherwise it would get backups of the last units of slower workers.
    let new = work(&folder, &address, "keys/worker", "new");
    assert_eq!(coordinator.end().json()["total"], published(18));
    for worker in [old, named, new] {
        let worker = worker.end();
        assert!(worker.code == Some(0) && !worker.stderr.contains("lost"), "{worker:?}");
        assert!(!worker.stderr.contains("waiting for the coordinator"), "{worker:?}");
    }
}

#[test]
fn follower_with_revoked_token_waits_then_ends() {
    let folder = keys();
    let (_coordinator, address) = serve(&folder, "keys/coordinator");
    let followers = || {
        let status = format!("status --coordinator https://{address} --keys keys/status --json");
        folder.run(&status).json()["followers"].as_u64().unwrap()
    };
    let follow = |run: &str| {
        let args = format!("follow https://{address} --keys keys/follower --run {run}");
        folder.start(&args, &format!("{run}.log"))
    };
    let early = follow("early");
    until("it follows", || followers() == 1);
    let former = text(&folder, "keys/follower/follow.token");
    assert_eq!(folder.run("keys renew keys").code, Some(0));
    until("both tokens hold", || text(&folder, "coordinator.log").contains("the keys have changed"));
    let late = follow("late");
    until("both follow", || followers() == 2);
    let known = "keys/coordinator/follow.token";
    let both = text(&folder, known);
    fs::write(folder.path().join(known), both.replace(&former, "")).unwrap();
    let refused = "accepted before: the token is not one of this coordinator's";
    until("the early one is refused", || text(&folder, "early.log").contains(refused));
    until("one is left", || followers() == 1);
    fs::write(folder.path().join(known), both).unwrap();
    until("it follows again", || followers() == 2);
    assert_eq!(text(&folder, "early.log").matches(refused).count(), 1);
    assert_eq!(folder.run("keys revoke keys follow").code, Some(0));
    for follower in [early, late] {
        let follower = follower.end();
        let last = follower.stderr.lines().last().unwrap();
        let said = "refuses this follower: the keys of follow have been revoked";
        assert!(follower.code == Some(1) && last.contains(said), "{follower:?}");
    }
}

#[test]
fn new_certificate_is_served_without_losing_a_lease() {
    let folder = keys();
    let path = |file: &str| folder.path().join(file);
    // At first the coordinator has a certificate of another authority than the one that `keys renew` gives it.
    for file in ["server.pem", "server.key"] {
        fs::copy(path("others/coordinator").join(file), path("keys/coordinator").join(file)).unwrap();
    }
    let of_others = |token: &'static str| [("ca.pem", "others/ca.pem"), token.split_once('=').unwrap()];
    folder_of(&folder, "early", &of_others("join.token=keys/worker/join.token"));
    folder_of(&folder, "onlooker", &of_others("status.token=keys/status/status.token"));
    let (coordinator, address) = folder.serve(
        "coordinator --n 18 --run run --keys keys/coordinator --json --method search --double-check none",
        "log",
    );
    let status = |keys: &str| folder.run(&format!("status --coordinator https://{address} --keys {keys}"));
    let early = work(&folder, &address, "early", "early");
    until("it has units", || {
        let outcome = folder.run(&format!("status --coordinator https://{address} --keys onlooker --json"));
        outcome.code == Some(0) && outcome.json()["leased"].as_u64() > Some(0)
    });
    status("keys/status").refused(&["certificate"]);
    // A key that is not the certificate's changes nothing, nor does half a certificate.
    fs::copy(path("keys/ca.key"), path("keys/coordinator/server.key")).unwrap();
    until("it is told", || text(&folder, "log").contains("stay in use: the server's certificate or key"));
    let whole = text(&folder, "others/coordinator/server.pem");
    fs::write(path("keys/coordinator/server.pem"), &whole[..whole.len() / 2]).unwrap();
    until("it is told again", || text(&folder, "log").matches("the old ones stay in use").count() == 2);
    assert_eq!(status("onlooker").code, Some(0));
    assert_eq!(folder.run("keys renew keys").code, Some(0));
    until("the new certificate is shown", || status("keys/status").code == Some(0));
    status("onlooker").refused(&["certificate"]);
    let late = fast_worker(&folder, &address, "keys/worker", "late");
    assert_eq!(coordinator.end().json()["total"], published(18));
    for worker in [early, late] {
        let worker = worker.end();
        assert!(worker.code == Some(0) && !worker.stderr.contains("lost"), "{worker:?}");
        assert!(!worker.stderr.contains("waiting for the coordinator"), "{worker:?}");
    }
}

#[test]
fn keys_without_some_tokens_are_completed_by_renewal() {
    let folder = keys();
    for new in ["admin", "follower", "coordinator/admin.token", "coordinator/follow.token"] {
        let path = folder.path().join("keys").join(new);
        if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }.unwrap();
    }
    let (_coordinator, address) = serve(&folder, "keys/coordinator");
    let _worker = work(&folder, &address, "keys/worker", "a");
    until("it takes part", || owners(&folder, &address) == ["join"]);
    assert_eq!(folder.run("keys renew keys").code, Some(0));
    for file in ["admin/admin.token", "follower/follow.token", "coordinator/admin.token"] {
        assert!(folder.path().join("keys").join(file).exists(), "{file}");
    }
}

/// Begins a renewal that puts the join token in place, and cannot write the token of followers: nobody can write to /proc.
fn fail_renewal(folder: &Folder) {
    let [follower, aside] = ["keys/follower", "aside"].map(|name| folder.path().join(name));
    fs::rename(&follower, &aside).unwrap();
    symlink("/proc", &follower).unwrap();
    assert_eq!(folder.run("keys renew keys").code, Some(1));
    fs::remove_file(&follower).unwrap();
    fs::rename(&aside, &follower).unwrap();
}

#[test]
fn failed_renewal_repeated_keeps_old_tokens_valid() {
    let folder = keys();
    let before = text(&folder, "keys/worker/join.token");
    // The output is lost, or the renewal fails half-way.
    fail_renewal(&folder);
    assert_ne!(text(&folder, "keys/worker/join.token"), before);
    for _ in 0..2 {
        let mut unseen = folder.diadem("keys renew keys");
        unseen.stdout(fs::File::create("/dev/full").unwrap());
        assert_eq!(unseen.status().unwrap().code(), Some(1));
    }
    let meanwhile = text(&folder, "keys/worker/join.token");
    assert_eq!(folder.run("keys renew keys").code, Some(0));
    let known = text(&folder, "keys/coordinator/join.token");
    let holds =
        [&text(&folder, "keys/worker/join.token"), &meanwhile, &before].map(|token| known.contains(&**token));
    assert_eq!(holds, [true; 3], "{known}");
    // The next certificate is another one.
    assert_eq!(folder.run("keys renew keys").code, Some(0));
    assert!(!text(&folder, "keys/coordinator/join.token").contains(&before));
}

#[test]
fn revoked_shared_token_stays_invalid_after_renewal() {
    let folder = keys();
    folder_of(&folder, "leaked", &[("ca.pem", "keys/ca.pem"), ("join.token", "keys/worker/join.token")]);
    let leaked = text(&folder, "keys/worker/join.token");
    let (mut coordinator, address) = serve(&folder, "keys/coordinator");
    let status = |keys: &str| folder.run(&format!("status --coordinator https://{address} --keys {keys}"));
    for name in ["join", "admin"] {
        let revoked = folder.run(&format!("keys revoke keys {name}"));
        assert!(revoked.code == Some(0) && revoked.stdout.contains("diadem keys renew"), "{revoked:?}");
    }
    until("it is refused", || status("leaked").stderr.contains("the keys of join have been revoked"));
    // A renewal that fails half-way, and one whose output is lost: a revoked token does not count as a former token.
    fail_renewal(&folder);
    let mut unseen = folder.diadem("keys renew keys");
    unseen.stdout(fs::File::create("/dev/full").unwrap());
    assert_eq!(unseen.status().unwrap().code(), Some(1));
    let renewed = folder.run("keys renew keys");
    assert!(
        renewed.code == Some(0) && renewed.stdout.contains("except those of join and admin"),
        "{renewed:?}"
    );
    until("the new one is taken", || status("keys/worker").code == Some(0));
    status("leaked").refused(&["it may have been replaced"]);
    assert!(!text(&folder, "keys/coordinator/join.token").contains(&leaked));
    assert_eq!(text(&folder, "keys/coordinator/revoked"), "");
    assert!(!coordinator.has_ended());
}

#[test]
fn renewal_is_foreseen_and_undone() {
    let folder = keys();
    let run = |args: &str| {
        let outcome = folder.run(args);
        assert_eq!(outcome.code, Some(0), "{outcome:?}");
        outcome.stdout
    };
    folder.run("keys renew keys --undo").refused(&["nothing of before a renewal"]);
    run("keys renew keys");
    let before = folder.contents("keys");
    let foreseen = run("keys renew keys --host 10.0.0.9 --dry-run");
    for words in [
        "coordinator.example, localhost, 127.0.0.1, ::1 -> 10.0.0.9, ",
        "clients that call it coordinator.example",
        "keys/worker ",
        "4 older tokens",
        "--undo",
    ] {
        assert!(foreseen.contains(words), "{words}: {foreseen}");
    }
    let foreseen = run("keys renew keys --certificate-only --dry-run");
    assert!(!foreseen.contains("token"), "{foreseen}");
    assert_eq!(folder.contents("keys"), before);
    folder.run("keys renew keys --undo --dry-run").refused(&["--undo", "--dry-run"]);

    let renewed = run("keys renew keys --host 127.0.0.1 --host 10.0.0.9");
    assert!(renewed.contains("to undo: diadem keys renew keys --undo"), "{renewed}");
    for path in folder.contents("keys").keys() {
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(path), mode(path.parent().unwrap())), (0o600, 0o700), "{}", path.display());
    }
    let new = text(&folder, "keys/worker/join.token");
    run("keys client keys ada --token");
    let undone = run("keys renew keys --undo");
    assert!(undone.contains("\nkeys/coordinator/server.pem"), "{undone}");
    for file in ["hosts", "coordinator/server.pem", "coordinator/server.key", "worker/join.token"] {
        assert_eq!(
            text(&folder, &format!("keys/{file}")).as_bytes(),
            before[&folder.path().join("keys").join(file)].trim_ascii(),
            "{file}"
        );
    }
    // Nobody is cut off: neither holders of new tokens nor owners that were added since.
    folder_of(&folder, "new", &[("ca.pem", "keys/ca.pem")]);
    fs::write(folder.path().join("new/join.token"), new).unwrap();
    let (_coordinator, address) = serve(&folder, "keys/coordinator");
    for keys in ["keys/worker", "new", "keys/clients/ada"] {
        run(&format!("status --coordinator https://{address} --keys {keys}"));
    }
    folder.run("keys renew keys --undo").refused(&["nothing of before a renewal"]);
}

#[test]
fn revocation_is_foreseen_and_undone() {
    let folder = keys();
    assert_eq!(folder.run("keys client keys ada").code, Some(0));
    let (_coordinator, address) = serve(&folder, "keys/coordinator");
    let status = || folder.run(&format!("status --coordinator https://{address} --keys keys/clients/ada"));
    folder.run("keys revoke keys ada --undo").refused(&["ada is not in the list", "it names nobody"]);
    let before = folder.contents("keys");
    let foreseen = folder.run("keys revoke keys ada --dry-run");
    assert!(
        foreseen.code == Some(0) && foreseen.stdout.contains("the keys in keys/clients/ada"),
        "{foreseen:?}"
    );
    assert_eq!(folder.contents("keys"), before);
    let revoked = folder.run("keys revoke keys ada");
    assert!(revoked.stdout.contains("to undo: diadem keys revoke keys ada --undo"), "{revoked:?}");
    until("ada is refused", || status().code == Some(1));
    let again = folder.run("keys revoke keys ada --dry-run");
    assert!(again.stdout.contains("ada is revoked already"), "{again:?}");
    assert_eq!(folder.run("keys revoke keys ada --undo").code, Some(0));
    until("ada is accepted again", || status().code == Some(0));
}
