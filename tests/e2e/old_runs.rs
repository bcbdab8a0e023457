//! Run directories of former releases, kept in `tests/data`: they go on, verify and merge, each to the exact total.
//!
//! Those named `v1` have plan version 1. They were made by the last commit before version 2, on one thread:
//!
//! ```text
//! v1-finished               count 8 --kernel search
//! v1-finished-families      count 10 --kernel meet --families 1,3,1 --double-check 10%
//! v1-interrupted            count 12 --kernel search --double-check none, killed after 424 of 760 counts
//! v1-interrupted-families   count 13 --kernel search --families 1,4,0 --double-check none, killed after 47 of 172
//! v1-shard-K, K = 1 to 3    count 8 --kernel search --shard K/3
//! ```

use std::fs;
use std::path::{Path, PathBuf};

use crate::harness::{Folder, published};

/// Copies an old run directory into the folder, where it may change.
fn bring(folder: &Folder, name: &str) {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    copy(&data.join(name), &folder.path().join(name));
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target: PathBuf = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// The ledger up to its last commit mark.
fn acknowledged(ledger: &str) -> &str {
    let mark = ledger.rfind("{\"kind\":\"mark\"").unwrap();
    let end = ledger[mark..].find('\n').unwrap();
    &ledger[..=mark + end]
}

/// Sound and complete, all units counted again with the other method.
fn verifies(folder: &Folder, run: &str) {
    let report = folder.run(&format!("verify {run} --recount all --json")).json();
    assert_eq!(report["sound"], true, "{report}");
}

#[test]
fn finished_runs_of_plan_version_1_answer_and_verify() {
    for (run, n, units) in [("v1-finished", 8, 90), ("v1-finished-families", 10, 144)] {
        let folder = Folder::new();
        bring(&folder, run);
        verifies(&folder, run);
        let before = folder.ledger(run);
        let answer = folder.run(&format!("count {n} --run {run} --json")).json();
        assert_eq!((&answer["total"], &answer["units"]), (&published(n).into(), &units.into()));
        assert_eq!(folder.ledger(run), before, "nothing is left to be counted");
    }
}

#[test]
fn interrupted_runs_of_plan_version_1_go_on_where_they_were() {
    for (run, n, units) in [("v1-interrupted", 12, 760), ("v1-interrupted-families", 13, 172)] {
        let folder = Folder::new();
        bring(&folder, run);
        let before = folder.ledger(run);
        let kept = acknowledged(&before);
        let done = kept.matches("\"kind\":\"count\"").count();
        assert!((30..units - 30).contains(&done), "{done} of {units} were counted");
        let args = format!("count {n} --run {run} --double-check none --json");
        let outcome = folder.run(&args);
        assert_eq!(outcome.json()["total"], published(n));
        // What an older checkpoint does not say is read from the ledger, and that is no reason to worry.
        let is_kept =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(run).join("checkpoint").exists();
        assert_eq!(
            outcome.stderr.contains("it was made by another release of diadem"),
            is_kept,
            "{outcome:?}"
        );
        assert!(folder.ledger(run).starts_with(kept), "what was acknowledged stays as it was");
        assert_eq!(folder.counts(run), units, "each unit is counted once");
        verifies(&folder, run);
    }
}

#[test]
fn shards_of_plan_version_1_go_on_and_merge() {
    let folder = Folder::new();
    for shard in 1..=3 {
        let run = format!("v1-shard-{shard}");
        bring(&folder, &run);
        let again = folder.run(&format!("count 8 --run {run} --shard {shard}/3 --json"));
        assert_eq!(again.json()["units"], 30);
    }
    let merged = folder.run("merge out v1-shard-1 v1-shard-2 v1-shard-3");
    assert!(merged.stdout.contains("Q(8) = 92: agrees"), "{merged:?}");
    verifies(&folder, "out");
    assert_eq!(folder.run("count 8 --run out --json").json()["total"], published(8));
}

#[test]
fn a_merge_of_plan_version_1_with_a_shard_missing_is_counted_to_its_end() {
    let folder = Folder::new();
    bring(&folder, "v1-shard-1");
    bring(&folder, "v1-shard-3");
    let merged = folder.run("merge out v1-shard-1 v1-shard-3");
    assert!(merged.stdout.contains("30 units missing, the first is 1;"), "{merged:?}");
    let answer = folder.run("count 8 --run out --double-check none --json").json();
    assert_eq!(answer["total"], published(8));
    verifies(&folder, "out");
}
