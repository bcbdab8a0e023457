//! Shares of a plan, counted apart and joined.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::check::check;
use crate::forgery::{Forgery, by_another, count_of, retraction};
use crate::harness::{Completed, Folder, published, until};
use crate::tools;

fn shards(folder: &Folder, which: &[u8]) -> String {
    let mut names = Vec::new();
    for k in which {
        let share = if *k == 1 { "--shard-from-zero 0/3".to_owned() } else { format!("--shard {k}/3") };
        let answer = folder.run(&format!("count 12 {share} --run shard-{k} --json")).json();
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
    // Like a job that was moved before it printed its result.
    let again = folder.run(&format!("merge out {parts}"));
    assert!(again.code == Some(0) && again.stderr.contains("joins these runs already"), "{again:?}");
    assert_eq!(again.stdout, merged.stdout);
    let occupied = folder.run("merge out shard-1 shard-2");
    occupied.refused(&["out holds a run already"]);
    assert_eq!(occupied.code, Some(2), "however often it is tried");
    assert_eq!(folder.run("certify out -o certificate.json").code, Some(0));
    let verified = folder.run("verify out --certificate certificate.json --json").json();
    assert_eq!(verified["certified_by_coordinator"], true, "its ledger names the key: {verified}");
    assert_eq!(folder.run("count 12 --run out --json").json()["total"], published(12));
}

#[test]
fn the_status_of_shares_needs_no_coordinator() {
    let folder = Folder::new();
    shards(&folder, &[1]);
    let held = folder.start(
        "count 18 --method search --isa portable --threads 1 --nice 19 --shard 2/3 --run other --quiet",
        "log",
    );
    until("it counts", || folder.counts("other") > 0);
    let live = folder.run("status other --json").json();
    assert_eq!((&live["n"], &live["shares"][0]["state"]), (&json!(18), &json!("counting")), "{live}");
    assert!(live["seconds_left"].as_f64() > Some(0.0), "{live}");
    held.kill();
    let status = folder.run("status shard-1");
    assert_eq!(status.code, Some(0), "{status:?}");
    assert!(
        status.stdout.starts_with("n = 12: 33.33 % of the work done, 1 of 3 shares complete\n"),
        "{status:?}"
    );
    assert!(status.stdout.ends_with("2 shares not named: 2 to 3\n"), "{status:?}");
    let all = folder.run(&format!("status {} --json", shards(&folder, &[2, 1, 3]))).json();
    assert_eq!((&all["progress"], &all["absent"]), (&json!(1.0), &json!([])), "{all}");
    folder.run("status shard-1 other").refused(&["shard-1 and other are not shares of one plan"]);
    folder.run("count 12 --shard 1/2 --run half --quiet");
    folder
        .run("status shard-1 half")
        .refused(&["shard-1 holds shard 1/3, half holds shard 1/2", "each alone"]);
    folder.run("status shard-1 shard-1").refused(&["are the same share, 1/3"]);
    folder.run("status shard-1 --wait").refused(&["--wait"]);
    let some = folder.run("status nowhere shard-1");
    assert_eq!((some.code, some.stdout.lines().count()), (Some(1), 4), "{some:?}");
    assert!(some.stderr.contains("there is no run in nowhere"), "{some:?}");
    fs::write(folder.path().join("shard-1/ledger/000001.jsonl"), "").unwrap();
    folder.run("count 12 --shard 1/3 --run shard-1 --quiet").refused(&["acknowledged records are missing"]);
    let emptied = folder.run("status shard-1 shard-2");
    assert!(emptied.code == Some(3) && emptied.stdout.ends_with("2 shares not named: 1, 3\n"), "{emptied:?}");
    assert!(emptied.stderr.contains("acknowledged records are missing"), "{emptied:?}");
    // Without a checkpoint this cannot be known.
    fs::remove_dir_all(folder.path().join("shard-1/checkpoint")).unwrap();
    let emptied = folder.run("status shard-1").stdout;
    assert!(
        emptied.contains("its ledger is empty; diadem count shows whether records are missing"),
        "{emptied}"
    );
}

#[test]
fn merge_with_missing_shard_can_be_completed() {
    let folder = Folder::new();
    let parts = shards(&folder, &[1, 3]);
    // The first shard was begun twice, as if a task ran on two nodes.
    folder.run("count 12 --shard 1/3 --run shard-1-again --quiet");
    let merged = folder.run(&format!("merge out {parts} shard-1-again"));
    assert!(merged.stdout.contains("units missing, the first is 1;"), "{merged:?}");
    let spaced = folder.diadem("merge").args(["my runs", "shard-1"]).output().unwrap();
    let spaced = Completed::of(spaced);
    assert!(spaced.stdout.ends_with("with: diadem count 12 --run 'my runs'\n"), "{spaced:?}");
    assert_eq!(folder.run("count 12 --run out --json").json()["total"], published(12));
}

#[test]
fn merge_into_a_link_is_refused_first() {
    let folder = Folder::new();
    let parts = shards(&folder, &[1]);
    fs::create_dir(folder.path().join("disk")).unwrap();
    symlink("disk", folder.path().join("link")).unwrap();
    for link in ["link", "link/"] {
        folder.run(&format!("merge {link} {parts}")).refused(&["link is a link", "as link/joint"]);
    }
    folder.run(&format!("merge link/joint {parts}"));
    assert!(folder.path().join("disk/joint/run.json").exists());
}

#[test]
fn runs_that_do_not_belong_together_are_not_joined() {
    let folder = Folder::new();
    let parts = shards(&folder, &[1, 2]);
    folder.run("count 11 --run eleven --quiet");
    folder.run(&format!("merge out {parts} eleven")).refused(&[
        "eleven has board n = 11, but shard-1 has board n = 12",
        "only runs of one board and one plan",
    ]);
    folder.run("merge out nowhere").refused(&["nowhere", "run.json is missing"]);
    rewritten(&folder, "shard-1", "copy", |_| ());
    for other in ["shard-1", "./shard-2/../shard-1", "copy"] {
        let twice = folder.run(&format!("merge out {parts} {other}"));
        twice.refused(&[&format!("shard-1 and {other} are the same run, of shard 1/3: name one of them")]);
    }
    folder.run(&format!("merge shard-1 {parts}")).refused(&["shard-1 holds a run already"]);
    folder.run("count 12 --run shard-1 --json").refused(&[
        "shard 1/3",
        "the whole plan",
        "count --shard 1/3",
    ]);
    folder.run("count 11 --run eleven --shard 1/3").refused(&["the whole plan", "count without --shard"]);
    folder.run("retract shard-1 --unit 1 --reason x").refused(&["units 0 to ", " in steps of 3"]);
    assert!(!folder.path().join("out").exists());
}

/// Writes that run once more under another name, with other lines.
fn rewritten(folder: &Folder, run: &str, name: &str, rewrite: impl FnOnce(&mut Forgery)) {
    let mut forgery = Forgery::of(&folder.path().join(run));
    rewrite(&mut forgery);
    forgery.number_marks();
    forgery.write(&folder.path().join(name));
}

/// Without checks, which would contradict a lie, and without their being due.
fn without_checks(forgery: &mut Forgery) {
    forgery.lines.retain(|line| line["kind"] != "check");
    forgery.lines.iter_mut().for_each(|line| _ = line.remove("recount"));
}

/// The results of both verifiers for a complete run.
fn worth(folder: &Folder, run: &str) -> Value {
    assert_eq!(folder.run(&format!("verify {run} --recount all")).code, Some(0));
    let checked = check(folder, &format!("--recount all {run}"));
    assert_eq!(checked.code, Some(0), "{checked:?}");
    let answer = folder.run(&format!("count 12 --run {run} --json")).json();
    assert_eq!(answer["total"], published(12));
    answer["worth"].clone()
}

/// Turns the shard into one begun by another machine or owner: all its counts get that name, and one count is
/// off by one.
fn lie(forgery: &mut Forgery, whose: &str, name: &str) {
    forgery.run["begun"] = (forgery.run["begun"].as_u64().unwrap() + 1).into();
    without_checks(forgery);
    for line in &mut forgery.lines {
        if line["kind"] == "count" {
            line.insert(whose.into(), name.into());
        }
    }
    let at = forgery.all("count")[0];
    forgery.lines[at]["count"] = (count_of(&forgery.lines[at]) + 1).into();
}

#[test]
fn disagreeing_shards_leave_a_dispute_to_resolve() {
    if !tools::is_there("python3") {
        return;
    }
    let folder = Folder::new();
    let parts = shards(&folder, &[1, 2, 3]);
    // The same shard from another author, with one wrong count and correct hashes.
    rewritten(&folder, "shard-1", "lie", |forgery| lie(forgery, "machine", "liar"));
    let merged = folder.run(&format!("merge out {parts} lie"));
    assert_eq!(merged.code, Some(3), "{merged:?}");
    assert!(
        merged.stderr.contains("lie has ") && merged.stderr.contains("by liar, another run"),
        "{merged:?}"
    );
    assert!(merged.stdout.contains("1 unit missing"), "{merged:?}");
    let verified = folder.run("verify out");
    assert!(verified.code == Some(3) && verified.stderr.contains("1 unit missing"), "{verified:?}");
    // Two machines differ: a third one decides.
    let waits = folder.run("count 12 --run out --quiet");
    assert!(waits.code == Some(1) && waits.stderr.contains("start a worker on another machine"), "{waits:?}");
    assert_eq!(folder.run("count 12 --run out --machine third --quiet").code, Some(0));
    let worth = worth(&folder, "out");
    assert!(worth["conflicts"].as_u64() >= Some(1), "{worth}");
}

#[test]
fn shard_with_quarantine_leaves_a_dispute_to_resolve() {
    let folder = Folder::new();
    let parts = shards(&folder, &[1, 2, 3]);
    // The first shard again, by an author who expels the owner without a name and counts a unit wrong.
    rewritten(&folder, "shard-1", "lie", |forgery| {
        lie(forgery, "owner", "mallory");
        forgery.append(json!({"kind": "expel", "reason": "lost", "at": 9}).as_object().unwrap().clone());
    });
    let merged = folder.run(&format!("merge out {parts} lie"));
    assert_eq!(merged.code, Some(3), "{merged:?}");
    for told in
        ["left out: lie does not believe the owner without a name\n", "1 unit in dispute, to be counted"]
    {
        assert!(merged.stderr.contains(told), "{merged:?}");
    }
    let refused = folder.run("count 12 --run out --quiet");
    assert_eq!(refused.code, Some(3), "{refused:?}");
    for told in ["its owner is not believed", "--readmit"] {
        assert!(refused.stderr.contains(told), "no {told:?} in {refused:?}");
    }
    assert_eq!(folder.run("retract out --owner - --readmit --reason forged").code, Some(0));
    let answer = folder.run("count 12 --run out --json").json();
    assert_eq!(answer["total"], published(12));
    assert!(answer["worth"]["conflicts"].as_u64() > Some(0), "{answer}");
}

#[test]
fn merged_run_keeps_the_assurance_of_its_shards() {
    if !tools::is_there("python3") {
        return;
    }
    let folder = Folder::new();
    let parts = shards(&folder, &[1, 2, 3]);
    // In the first shard a liar was found, by a unit that was drawn ...
    rewritten(&folder, "shard-1", "shard-1", |forgery| {
        without_checks(forgery);
        let at = forgery.all("count")[0];
        let count = forgery.lines[at].clone();
        let mut lie = by_another(&count, "count", "liar", 1);
        lie.insert("recount".into(), json!("sample"));
        forgery.lines[at] = lie.clone();
        let third = by_another(&count, "count", "third", 0);
        let decided = [by_another(&count, "conflict", "second", 0), retraction(&lie, false), third];
        decided.into_iter().for_each(|line| forgery.append(line));
    });
    // ... in the second one machine contradicts what two have counted, and the liar has counted what nobody confirmed.
    rewritten(&folder, "shard-2", "shard-2", |forgery| {
        without_checks(forgery);
        let counts = forgery.all("count");
        let first = forgery.lines[counts[0]].clone();
        forgery.append(by_another(&first, "check", "second", 0));
        forgery.append(by_another(&first, "conflict", "wrong", 3));
        for at in &counts[1..4] {
            (forgery.lines[*at]["machine"], forgery.lines[*at]["worker"]) = ("liar".into(), "liar".into());
        }
        let confirmed = forgery.lines[counts[3]].clone();
        forgery.append(by_another(&confirmed, "check", "second", 0));
    });
    for part in parts.split(' ') {
        assert_eq!(folder.run(&format!("verify {part}")).code, Some(0), "{part}");
        assert_eq!(check(&folder, part).code, Some(0), "{part}");
    }
    let merged = folder.run(&format!("merge out {parts}"));
    assert!(merged.stderr.contains("2 counts left out"), "{merged:?}");
    assert!(merged.stdout.contains("2 units missing"), "{merged:?}");
    folder.run("count 12 --run out --quiet");
    let worth = worth(&folder, "out");
    assert_eq!(
        (&worth["conflicts"], &worth["quarantined"]),
        (&json!(2), &json!(["liar", "wrong"])),
        "{worth}"
    );
    assert!(worth["counted_twice_on_two_machines"].as_u64() >= Some(3), "{worth}");
}

#[test]
fn killed_merge_leaves_no_result_and_can_be_repeated() {
    let folder = Folder::new();
    let parts = shards(&folder, &[1, 2, 3]);
    for _ in 0..8 {
        let mut merging = folder.start(&format!("merge out {parts}"), "merge.log");
        until("it writes or has ended", || merging.has_ended() || drafts(&folder).next().is_some());
        merging.kill();
        if folder.path().join("out").exists() {
            // The merge was quicker: then the result is complete.
            assert_eq!(folder.run("verify out --recount 0").code, Some(0));
            fs::remove_dir_all(folder.path().join("out")).unwrap();
        }
    }
    let merged = folder.run(&format!("merge out {parts}"));
    assert!(merged.stdout.contains("Q(12) = 14200: agrees"), "{merged:?}");
    // A draft without a mark may belong to a merge that is about to mark it, so it is kept for a minute.
    for draft in drafts(&folder) {
        let names = fs::read_dir(&draft).unwrap().map(|entry| entry.unwrap().file_name());
        assert!(names.into_iter().all(|name| name == "unlocked"), "{}", draft.display());
    }
}

fn drafts(folder: &Folder) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.file_name().unwrap().to_string_lossy().starts_with("out.merging-"))
}
