//! Shares of a plan, counted apart and joined.

use std::fs;
use std::time::Duration;

use crate::harness::{Folder, published};

fn shards(folder: &Folder, which: &[u8]) -> String {
    let mut names = Vec::new();
    for k in which {
        let answer = folder.run(&format!("count 12 --shard {k}/3 --run shard-{k} --json")).json();
        assert_eq!((&answer["known"], &answer["shard"]), (&"none".into(), &format!("shard {k}/3").into()));
        names.push(format!("shard-{k}"));
    }
    names.join(" ")
}

#[test]
fn shards_join_to_the_exact_total() {
    let folder = Folder::new();
    let parts = shards(&folder, &[1, 2, 3]);
    let merged = folder.run(&format!("merge out {parts}"));
    assert_eq!(merged.code, Some(0), "{merged:?}");
    assert!(merged.stdout.contains("Q(12) = 14200: agrees"), "{merged:?}");
    assert_eq!(folder.run("verify out").code, Some(0));
    assert_eq!(folder.run("count 12 --run out --json").json()["total"], published(12));
}

#[test]
fn a_join_with_a_shard_missing_tells_so_and_can_be_counted_to_its_end() {
    let folder = Folder::new();
    let parts = shards(&folder, &[1, 3]);
    let merged = folder.run(&format!("merge out {parts} shard-1"));
    assert!(merged.stdout.contains("units are missing, the first is 1;"), "{merged:?}");
    assert_eq!(folder.run("count 12 --run out --json").json()["total"], published(12));
}

#[test]
fn runs_that_do_not_belong_together_are_not_joined() {
    let folder = Folder::new();
    let parts = shards(&folder, &[1, 2]);
    folder.run("count 11 --run eleven --quiet");
    folder.run(&format!("merge out {parts} eleven")).refused(&["eleven", "only runs of one plan"]);
    folder.run("merge out nowhere").refused(&["nowhere", "run.json is missing"]);
    folder.run(&format!("merge shard-1 {parts}")).refused(&["shard-1 holds a run already"]);
    folder.run("count 12 --run shard-1 --json").refused(&["shard 1/3", "the whole plan"]);
    assert!(!folder.path().join("out").exists());
}

#[test]
fn shards_that_disagree_are_not_joined() {
    let folder = Folder::new();
    shards(&folder, &[1]);
    // The same shard once more, with one count off by one and all hashes as a liar would write them.
    let lying = coordinator_like_ledger(&folder);
    fs::write(folder.path().join("lie/ledger/000001.jsonl"), lying).unwrap();
    folder.run("merge out shard-1 lie").refused(&["lie counts", "neither can be believed"]);
}

fn coordinator_like_ledger(folder: &Folder) -> String {
    use coordinator::ledger::{LedgerPosition, LineHash, Record, Writer, read};
    let of = |name: &str| folder.path().join(name);
    let hash: LineHash = coordinator::run_directory::RunDirectory::open(&of("shard-1")).unwrap().run().hash();
    let mut records: Vec<Record> = Vec::new();
    read(&of("shard-1/ledger"), &LedgerPosition::beginning(hash), |_, record| {
        // A check would contradict the lie.
        records.extend(matches!(record, Record::Count(_)).then(|| record.clone()));
        Ok::<_, std::convert::Infallible>(())
    })
    .unwrap();
    let Record::Count(first) = &mut records[0] else { unreachable!("counts only") };
    first.count += 1;
    fs::create_dir_all(of("lie/ledger")).unwrap();
    fs::copy(of("shard-1/run.json"), of("lie/run.json")).unwrap();
    Writer::new(&of("lie/ledger"), LedgerPosition::beginning(hash))
        .commit(&records, Duration::from_secs(1), 1)
        .unwrap();
    fs::read_to_string(of("lie/ledger/000001.jsonl")).unwrap()
}
