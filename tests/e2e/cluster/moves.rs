//! A coordinator that moves: workers and followers read its new address from a file.

use std::fs;

use serde_json::Value;

use crate::harness::{Folder, free_address, published, until};

#[test]
fn workers_and_followers_read_the_new_address() {
    let folder = Folder::new();
    let file = folder.path().join("addresses");
    let serve = "coordinator --n 15 --method search --run run --json --double-check none";
    let (first, address) = folder.serve(serve, "first.log");
    fs::write(&file, format!("http://{address}\n")).unwrap();
    let follower = folder.start("follow --coordinator @addresses --run copy", "follow.log");
    let slow = "--threads 1 --method search --isa portable";
    let worker = folder.start(&format!("worker --coordinator @addresses {slow}"), "worker.log");
    until("both have begun", || folder.counts("run") > 0 && folder.counts("copy") > 0);
    first.terminate();
    assert_eq!(first.end().code, Some(143), "it has not ended by itself");
    for (wrong, words) in [("nowhere", "\"nowhere\" is not an address"), ("", "it is empty")] {
        fs::write(&file, wrong).unwrap();
        until("both warn", || [&worker, &follower].iter().all(|process| process.says(words)));
    }
    fs::remove_file(&file).unwrap();
    assert!(worker.says("the addresses known before stay in use"));
    until("both warn", || {
        [&worker, &follower].iter().all(|process| process.says("cannot read the coordinator's addresses"))
    });
    let moved = free_address();
    assert_ne!(moved, address);
    let second = folder.serve_at(&moved, serve, "second.log");
    // The former address is still listed, and skipped.
    fs::write(&file, format!("http://{address}\nhttp://{moved}\n")).unwrap();
    let answer = second.end();
    assert_eq!(answer.code, Some(0), "{answer:?}");
    let answer: Value = serde_json::from_str(&answer.stdout).unwrap();
    assert_eq!(answer["total"], published(15));
    assert!(worker.says("the coordinator's addresses are now"));
    assert_eq!((worker.end().code, follower.end().code), (Some(0), Some(0)));
    assert_eq!(folder.ledger("copy"), folder.ledger("run"));
}

#[test]
fn wrong_file_of_addresses_is_refused() {
    let folder = Folder::new();
    fs::write(folder.path().join("empty"), "\n").unwrap();
    fs::write(folder.path().join("wrong"), "http://127.0.0.1:7227\nnowhere\n").unwrap();
    for command in ["worker", "follow --run copy", "status", "pause --reason test"] {
        for (file, words) in [("missing", "cannot read"), ("empty", "it is empty"), ("wrong", "\"nowhere\"")]
        {
            let refused = folder.run(&format!("{command} --coordinator @{file}"));
            assert_eq!(refused.code, Some(2), "{refused:?}");
            refused.refused(&[file, words]);
        }
    }
}
