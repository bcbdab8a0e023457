//! `diadem keys init` that is killed, and what can be done with what it leaves.

use std::collections::BTreeSet;
use std::fs;
use std::time::Duration;

use crate::harness::Folder;

/// The names of all files in a folder.
fn names(folder: &Folder, name: &str) -> BTreeSet<String> {
    let entries = fs::read_dir(folder.path().join(name)).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn killed_keys_init_can_be_repeated() {
    let folder = Folder::new();
    assert_eq!(folder.run("keys init whole").code, Some(0));
    assert_eq!(folder.run("keys client whole a").code, Some(0));
    for round in 0..60 {
        let keys = format!("keys-{round}");
        let maker = folder.start(&format!("keys init {keys}"), "killed.log");
        std::thread::sleep(Duration::from_micros(500 * round));
        maker.kill();
        let is_complete = folder.path().join(&keys).join("ca.key").exists();
        let again = folder.run(&format!("keys init {keys}"));
        if is_complete {
            again.refused(&["is not empty"]);
        } else {
            assert_eq!(again.code, Some(0), "{again:?}");
        }
        assert_eq!(folder.run(&format!("keys client {keys} a")).code, Some(0));
        assert_eq!(names(&folder, &keys), names(&folder, "whole"));
    }
}

#[test]
fn keys_that_are_half_made_are_none() {
    let folder = Folder::new();
    fs::create_dir_all(folder.path().join("half/.draft/coordinator")).unwrap();
    for command in ["renew half", "client half a --token", "client half a", "revoke half a"] {
        folder.run(&format!("keys {command}")).refused(&["half was interrupted", "diadem keys init"]);
    }
    assert_eq!(folder.run("keys init half").code, Some(0));
    // An existing empty folder is filled, whatever its name.
    fs::create_dir(folder.path().join("given")).unwrap();
    let here = folder.diadem("keys init .").current_dir(folder.path().join("given")).output().unwrap();
    assert!(here.status.success(), "{here:?}");
    assert_eq!(names(&folder, "given"), names(&folder, "half"));
    assert_eq!(folder.run("keys renew half").code, Some(0));
}
