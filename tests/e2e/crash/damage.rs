//! Run directories that are not as they were written.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use queens::{Plan, Summand, UnitId};
use records::run_directory::RunDirectory;

use crate::check::check;
use crate::forgery::{Forgery, count_of, unit_of};
use crate::harness::{Completed, Folder, published, until};

/// A run of n = 14 that was killed half way.
fn half_counted() -> Folder {
    let folder = Folder::new();
    let running = folder.start("count 16 --run run --isa portable --quiet", "log");
    until("something is on record", || folder.counts("run") > 100);
    running.kill();
    folder
}

fn finish(folder: &Folder) -> Completed {
    folder.run("count 16 --run run --json")
}

#[test]
fn ledger_cut_at_any_byte_of_last_record_resumes() {
    let folder = Folder::new();
    folder.run("count 9 --run whole --quiet");
    let (run, path) = (folder.path().join("whole"), folder.path().join("run/ledger/000001.jsonl"));
    // With the checkpoint, which knows of all records.
    let copied = || {
        fs::remove_dir_all(folder.path().join("run")).ok();
        Command::new("cp").arg("-r").arg(&run).arg(folder.path().join("run")).status().unwrap().success()
    };
    assert!(copied());
    let whole = fs::read(&path).unwrap();
    let newlines: Vec<usize> =
        whole.iter().enumerate().filter(|(_, b)| **b == b'\n').map(|(at, _)| at).collect();
    let last_record = newlines[newlines.len() - 3] + 1;
    for cut in last_record..whole.len() - 1 {
        assert!(copied());
        fs::write(&path, &whole[..cut]).unwrap();
        folder
            .run("count 9 --run run --json")
            .refused(&["acknowledged records are missing", "--accept-loss"]);
        assert_eq!(fs::read(&path).unwrap(), &whole[..cut], "nothing was touched");
        let outcome = folder.run("count 9 --run run --json --accept-loss");
        assert_eq!(outcome.json()["total"], published(9), "cut at {cut}");
        assert!(outcome.stderr.contains("the checkpoint knew of"), "cut at {cut}: {outcome:?}");
    }
    // Without its newline the last mark is a mark.
    assert!(copied());
    fs::write(&path, &whole[..whole.len() - 1]).unwrap();
    assert_eq!(folder.run("count 9 --run run --json").json()["total"], published(9));
    assert_eq!(folder.run("verify run").code, Some(0));
}

#[test]
fn lost_records_are_reported_until_loss_is_accepted() {
    let folder = half_counted();
    let before = folder.counts("run");
    let running = folder.start("count 16 --run run --isa portable --quiet", "log");
    until("it resumes", || folder.counts("run") > before);
    running.terminate();
    running.end();
    let [path, checkpoint] =
        ["run/ledger/000001.jsonl", "run/checkpoint"].map(|name| folder.path().join(name));
    let whole = fs::read_to_string(&path).unwrap();
    // Whole groups are missing, which the rest does not show.
    let half = whole.find("{\"kind\":\"mark\"").unwrap();
    let half = &whole[..=half + whole[half..].find('\n').unwrap()];
    assert!(half.len() < whole.len());
    fs::write(&path, half).unwrap();
    let start = folder.run("count 16 --run run --json");
    for command in ["status run", "verify run", "report run", "export run --csv", "certify run"] {
        let told = folder.run(command);
        assert!(told.code == Some(3) && told.stdout.is_empty(), "{command}: {told:?}");
        assert_eq!(told.stderr, start.stderr, "{command}");
    }
    let report: serde_json::Value = serde_json::from_str(&folder.run("verify run --json").stdout).unwrap();
    assert_eq!(report["sound"], false, "{report}");
    // For a copy without a usable checkpoint only the ledger is read.
    let aside = folder.path().join("aside");
    fs::rename(&checkpoint, &aside).unwrap();
    let ledger_alone = folder.run("verify run");
    let is_incomplete = |told: &Completed| told.stderr.contains("sound but not complete");
    assert!(ledger_alone.code == Some(3) && is_incomplete(&ledger_alone), "{ledger_alone:?}");
    fs::create_dir(&checkpoint).unwrap();
    fs::write(checkpoint.join("db"), "damaged").unwrap();
    assert_eq!(folder.run("verify run").stderr, ledger_alone.stderr);
    assert_eq!(folder.run("status run").code, Some(0));
    // An accepted loss is no error.
    fs::remove_dir_all(&checkpoint).unwrap();
    fs::rename(&aside, &checkpoint).unwrap();
    let before = folder.counts("run");
    let accepting = folder.start("count 16 --run run --isa portable --quiet --accept-loss", "accepting");
    until("it goes on", || folder.counts("run") > before);
    accepting.terminate();
    accepting.end();
    let goes_on = folder.run("verify run");
    assert!(goes_on.code == Some(3) && is_incomplete(&goes_on), "{goes_on:?}");
    assert_eq!(folder.run("status run").code, Some(0));
}

#[test]
fn flipped_byte_before_last_mark_withholds_the_answer() {
    let folder = half_counted();
    let path = folder.path().join("run/ledger/000001.jsonl");
    let mut bytes = fs::read(&path).unwrap();
    bytes[700] ^= 1;
    fs::write(&path, &bytes).unwrap();
    let line = bytes[..700].iter().filter(|b| **b == b'\n').count() + 1;
    let place = format!("000001.jsonl:{line}");
    let verified = folder.run("verify run");
    verified.refused(&[&place, "damaged"]);
    let outcome = finish(&folder);
    assert!(outcome.code != Some(0) && outcome.stdout.is_empty(), "{outcome:?}");
    assert!(outcome.stderr.contains(&place), "{outcome:?}");
    bytes[700] ^= 1;
    fs::write(&path, &bytes).unwrap();
    assert_eq!(finish(&folder).json()["total"], published(16), "nothing else was lost");
}

#[test]
fn damage_before_a_mark_can_be_accepted() {
    let folder = half_counted();
    let before = folder.counts("run");
    let running = folder.start("count 16 --run run --isa portable --quiet", "log");
    until("it resumes", || folder.counts("run") > before);
    running.terminate();
    running.end();
    let path = folder.path().join("run/ledger/000001.jsonl");
    let mut bytes = fs::read(&path).unwrap();
    // The last mark in front of the damage, and the number of records that it counts.
    let middle = bytes.len() / 2;
    let text = String::from_utf8(bytes.clone()).unwrap();
    let records = |text: &str| -> u64 {
        let mark = text.lines().rfind(|line| line.contains("\"kind\":\"mark\"")).unwrap();
        serde_json::from_str::<serde_json::Value>(mark).unwrap()["records"].as_u64().unwrap()
    };
    let line = text[..middle].rfind('\n').unwrap();
    let lost = records(&text) - records(&text[..line]);
    bytes[middle] ^= 1;
    fs::write(&path, &bytes).unwrap();
    let way_out =
        format!("--accept-loss with diadem count or coordinator to give up the rest ({lost} records");
    // (diadem status reads only what is behind the checkpoint.)
    for command in ["verify run", "export run --csv", "merge joint run"] {
        let refused = folder.run(command);
        refused.refused(&["000001.jsonl:", "CRC", &way_out]);
        assert_eq!(refused.code, Some(3), "{refused:?}");
    }
    assert_eq!(fs::read(&path).unwrap(), bytes, "nothing was touched");
    let outcome = folder.run("count 16 --run run --json --accept-loss");
    assert_eq!(outcome.json()["total"], published(16));
    assert!(outcome.stderr.contains(&format!("({lost} records at most)")), "{outcome:?}");
    assert!(!outcome.stderr.contains("its checkpoint knew of"), "told once: {outcome:?}");
    let names = fs::read_dir(path.parent().unwrap()).unwrap().map(|file| file.unwrap().path());
    let kept = fs::read(names.into_iter().find(|name| name != &path).unwrap()).unwrap();
    assert!(
        bytes.ends_with(&kept) && fs::read(&path).unwrap().starts_with(&bytes[..bytes.len() - kept.len()])
    );
    assert_eq!(folder.run("verify run").code, Some(0));
    assert_eq!(check(&folder, "run --recount 1").code, Some(0));
}

#[test]
fn damage_before_checkpoint_withholds_the_answer() {
    let folder = half_counted();
    let before = folder.counts("run");
    let running = folder.start("count 16 --run run --isa portable --quiet", "log");
    until("it resumes", || folder.counts("run") > before);
    running.terminate();
    running.end();
    let path = folder.path().join("run/ledger/000001.jsonl");
    let mut bytes = fs::read(&path).unwrap();
    bytes[30] ^= 1;
    fs::write(&path, &bytes).unwrap();
    let outcome = finish(&folder);
    assert!(outcome.code == Some(3) && outcome.stdout.is_empty(), "{outcome:?}");
    assert!(outcome.stderr.contains("000001.jsonl:1:"), "{outcome:?}");
    assert!(!outcome.stderr.contains("waiting for"), "{outcome:?}");
}

#[test]
fn missing_or_corrupt_checkpoint_is_rebuilt() {
    let folder = half_counted();
    let checkpoint = folder.path().join("run/checkpoint");
    let resume_for_a_moment = |what: &str| {
        let log = format!("{what}.log");
        let before = folder.counts("run");
        let running = folder.start("count 16 --run run --isa portable --quiet --threads 1", &log);
        until("it goes on", || folder.counts("run") > before);
        running.terminate();
        let outcome = running.end();
        assert!(outcome.stderr.contains("rebuilt the checkpoint from the ledger"), "{what}: {outcome:?}");
        assert!(!outcome.stderr.contains("internal error"), "{what}: {outcome:?}");
    };
    fs::remove_dir_all(&checkpoint).ok();
    resume_for_a_moment("gone");
    fs::write(checkpoint.join("db"), [0xA5; 5000]).unwrap();
    resume_for_a_moment("rubbish");
    fs::write(checkpoint.join("conf"), "settings of another store").unwrap();
    resume_for_a_moment("other-settings");
    fs::remove_dir_all(&checkpoint).unwrap();
    fs::write(&checkpoint, "a file").unwrap();
    resume_for_a_moment("a-file");
    fs::remove_dir_all(&checkpoint).unwrap();
    assert!(Command::new("mkfifo").arg(&checkpoint).status().unwrap().success());
    resume_for_a_moment("a-pipe");
    // A checkpoint of another ledger.
    folder.run("count 8 --run other --quiet");
    fs::remove_dir_all(&checkpoint).unwrap();
    fs::rename(folder.path().join("other/checkpoint"), &checkpoint).unwrap();
    resume_for_a_moment("foreign");
    let outcome = finish(&folder);
    assert_eq!(outcome.json()["total"], published(16));
}

#[test]
fn a_ledger_of_another_run_is_refused() {
    let folder = Folder::new();
    folder.run("count 9 --run run --quiet");
    folder.run("count 9 --run other --quiet");
    fs::copy(folder.path().join("other/ledger/000001.jsonl"), folder.path().join("run/ledger/000001.jsonl"))
        .unwrap();
    folder.run("verify run").refused(&["000001.jsonl:1", "ledger of another run"]);
}

#[test]
fn run_without_run_json_is_not_overwritten() {
    let folder = Folder::new();
    folder.run("count 9 --run run --quiet");
    let [run_file, ledger] = ["run/run.json", "run/ledger/000001.jsonl"].map(|name| folder.path().join(name));
    let [run, records] = [&run_file, &ledger].map(|path| fs::read(path).unwrap());
    fs::remove_file(&run_file).unwrap();
    for command in ["count 9 --run run", "coordinator --n 9 --run run", "coordinator --run run"] {
        let refused = folder.run(command);
        refused.refused(&["no run.json", "restore that file", "--run"]);
        assert_eq!(refused.code, Some(3), "{refused:?}");
    }
    assert!(!run_file.exists() && fs::read(&ledger).unwrap() == records);
    fs::write(&run_file, run).unwrap();
    assert_eq!(folder.run("count 9 --run run").code, Some(0));
}

#[test]
fn run_without_ledger_is_not_overwritten() {
    let folder = Folder::new();
    folder.run("count 9 --run run --quiet");
    let [ledger, away] = ["run/ledger", "away"].map(|name| folder.path().join(name));
    fs::rename(&ledger, &away).unwrap();
    for command in ["count 9 --run run", "coordinator --n 9 --run run", "retract run --unit 1 --reason test"]
    {
        let refused = folder.run(command);
        refused.refused(&["no folder ledger", "restore that folder"]);
        assert_eq!(refused.code, Some(3), "{refused:?}");
        assert!(!ledger.exists());
    }
    // On a disk that is not mounted, and then is mounted.
    std::os::unix::fs::symlink(ledger.with_file_name("mounted"), &ledger).unwrap();
    assert_eq!(folder.run("count 9 --run run").code, Some(3));
    fs::rename(&away, ledger.with_file_name("mounted")).unwrap();
    assert_eq!(folder.run("count 9 --run run").code, Some(0));
}

#[test]
fn dangling_ledger_file_is_an_error() {
    let folder = Folder::new();
    folder.run("count 9 --run run --quiet");
    std::os::unix::fs::symlink("/nowhere/at-all", folder.path().join("run/ledger/000002.jsonl")).unwrap();
    let refused = folder.run("verify run");
    refused.refused(&["cannot open", "000002.jsonl"]);
    assert_eq!(refused.code, Some(1), "{refused:?}");
}

/// A change of the ledger file, and the words of the refusal.
type Harm = (fn(&mut Vec<u8>), &'static [&'static str]);

const HARMS: [Harm; 4] = [
    (|bytes| *bytes = String::from_utf8_lossy(bytes).replace('\n', "\r\n").into_bytes(), &["CR LF", "sed"]),
    (
        |bytes| {
            let middle = bytes.len() / 2;
            bytes[middle..].fill(0);
        },
        &["--accept-loss"],
    ),
    (|bytes| bytes.fill(0), &["acknowledged records are missing", "--accept-loss"]),
    (
        |bytes| {
            let last = bytes.len() - 5;
            bytes[last] ^= 1;
        },
        &["CRC", "--accept-loss"],
    ),
];

#[test]
fn acknowledged_records_are_never_cut_off_as_torn() {
    let folder = Folder::new();
    folder.run("count 9 --run run --quiet");
    let path = folder.path().join("run/ledger/000001.jsonl");
    let whole = fs::read(&path).unwrap();
    for (harm, words) in HARMS {
        let mut bytes = whole.clone();
        harm(&mut bytes);
        fs::write(&path, &bytes).unwrap();
        folder.run("count 9 --run run --json").refused(words);
        folder.run("coordinator --run run --listen 127.0.0.1:0 --json").refused(words);
        assert_eq!(fs::read(&path).unwrap(), bytes, "nothing was touched");
        fs::write(&path, &whole).unwrap();
        assert_eq!(folder.run("count 9 --run run --json").json()["total"], published(9));
    }
}

#[test]
fn accept_loss_is_refused_without_room_for_a_copy() {
    let folder = half_counted();
    let path = folder.path().join("run/ledger/000001.jsonl");
    let damaged = [&fs::read(&path).unwrap()[..], &vec![b'x'; 200_000], b"\n"].concat();
    fs::write(&path, &damaged).unwrap();
    let names = || fs::read_dir(path.parent().unwrap()).unwrap().map(|file| file.unwrap().file_name());
    finish(&folder).refused(&["000001.jsonl", "--accept-loss"]);
    // The shell's limit on the size of files stands for the disk.
    let count = "count 16 --run run --accept-loss --quiet";
    let script = format!("ulimit -f 100; exec {} {count}", env!("CARGO_BIN_EXE_diadem"));
    let mut limited = Command::new("bash");
    let no_room = Completed::of(limited.args(["-c", &script]).current_dir(folder.path()).output().unwrap());
    no_room.refused(&["cannot write", ".tail: File too large"]);
    assert!(no_room.code == Some(1) && fs::read(&path).unwrap() == damaged, "nothing was touched");
    assert_eq!(names().count(), 1, "{:?}", names().collect::<Vec<_>>());
    let coordinator = folder.start("coordinator --run run --listen 127.0.0.1:0 --accept-loss", "log");
    until("it serves", || fs::read_to_string(&coordinator.log).unwrap().contains("serving"));
    coordinator.terminate();
    assert_eq!(coordinator.end().code, Some(143));
    let tail = names().find(|name| name.as_encoded_bytes().ends_with(b".tail")).unwrap();
    let tail = fs::read(path.with_file_name(tail)).unwrap();
    let ledger = fs::read(&path).unwrap();
    let kept = damaged.len() - tail.len();
    assert_eq!([&ledger[..kept], &tail].concat(), damaged);
    let recorded = std::str::from_utf8(&ledger[kept..]).unwrap().lines().next().unwrap();
    let loss: serde_json::Value = serde_json::from_str(recorded).unwrap();
    assert!(loss["kind"] == "loss" && loss["records"].as_u64() > Some(0), "{loss}");
    assert_eq!(finish(&folder).json()["total"], published(16));
}

#[test]
fn a_command_that_is_refused_accepts_no_loss() {
    let folder = Folder::new();
    folder.run("count 9 --run run --quiet --double-check 5%");
    let ledger = folder.path().join("run/ledger");
    let path = ledger.join("000001.jsonl");
    let whole = fs::read(&path).unwrap();
    // One has a line that no interrupted write leaves, the other less than its checkpoint knows.
    for damaged in [[&whole[..], b"{}\n"].concat(), whole[..whole.len() / 2].to_vec()] {
        fs::write(&path, &damaged).unwrap();
        for asked in ["count 9", "coordinator --listen 127.0.0.1:0"]
            .map(|command| format!("{command} --run run --json"))
        {
            let refused = folder.run(&format!("{asked} --accept-loss --double-check none"));
            assert_eq!(refused.code, Some(2), "{refused:?}");
            refused.refused(&["this run checks 5%"]);
            assert_eq!(fs::read(&path).unwrap(), damaged);
            assert_eq!(fs::read_dir(&ledger).unwrap().count(), 1, "nothing is kept, as nothing is cut off");
            folder.run(&asked).refused(&["--accept-loss"]);
        }
    }
    let accepted = folder.run("count 9 --run run --json --accept-loss");
    assert_eq!(accepted.json()["total"], published(9));
    assert!(accepted.stderr.contains("the checkpoint knew of"), "{accepted:?}");
}

#[test]
fn refused_command_rebuilds_no_checkpoint() {
    const REBUILT: &str = "rebuilt the checkpoint from the ledger: there is none";
    let folder = Folder::new();
    let checkpoint = folder.path().join("run/checkpoint");
    folder.run("count 9 --run run --quiet --double-check 5%");
    for asked in ["count 9", "coordinator --listen 127.0.0.1:0"] {
        fs::remove_dir_all(&checkpoint).unwrap();
        let refused = folder.run(&format!("{asked} --run run --json --double-check none"));
        assert_eq!(refused.code, Some(2), "{refused:?}");
        refused.refused(&["this run checks 5%"]);
        assert!(!refused.stderr.contains(REBUILT) && !checkpoint.exists(), "{refused:?}");
        let goes_on = folder.run(&format!("{asked} --run run --json"));
        assert_eq!(goes_on.stderr.matches(REBUILT).count(), 1, "{goes_on:?}");
        assert!(goes_on.json()["total"] == published(9) && checkpoint.exists(), "{goes_on:?}");
    }
}

#[test]
fn ledger_with_cr_lf_is_refused_without_checkpoint() {
    let folder = Folder::new();
    folder.run("count 9 --run run --quiet");
    fs::remove_dir_all(folder.path().join("run/checkpoint")).unwrap();
    let path = folder.path().join("run/ledger/000001.jsonl");
    let whole = fs::read_to_string(&path).unwrap();
    fs::write(&path, whole.replace('\n', "\r\n")).unwrap();
    folder.run("count 9 --run run --json --accept-loss").refused(&["000001.jsonl:1", "CR LF"]);
    folder.run("verify run").refused(&["000001.jsonl:1", "CR LF"]);
    let sed = Command::new("sed").args(["-i", "s/\\r$//"]).arg(&path).status().unwrap();
    assert!(sed.success() && fs::read_to_string(&path).unwrap() == whole);
    assert_eq!(folder.run("count 9 --run run --json").json()["total"], published(9));
}

#[test]
fn rotated_ledger_file_is_named_in_the_error() {
    let folder = Folder::new();
    folder.run("count 9 --run run --quiet");
    let path = folder.path().join("run/ledger/000001.jsonl");
    for name in ["000001.jsonl.1", "000001.jsonl.gz"] {
        let rotated = path.with_file_name(name);
        fs::rename(&path, &rotated).unwrap();
        folder.run("count 9 --run run --json").refused(&["missing", name, "--accept-loss"]);
        fs::rename(folder.path().join("run/checkpoint"), folder.path().join("aside")).unwrap();
        folder.run("count 9 --run run --json").refused(&["000001.jsonl is missing", name]);
        fs::rename(folder.path().join("aside"), folder.path().join("run/checkpoint")).ok();
        fs::rename(&rotated, &path).unwrap();
        assert_eq!(folder.run("count 9 --run run --json").json()["total"], published(9));
    }
    // Without its only file, the run begins again only with `--accept-loss`.
    fs::rename(&path, path.with_file_name("000001.jsonl.1")).unwrap();
    let outcome = folder.run("count 9 --run run --json --accept-loss");
    assert_eq!(outcome.json()["total"], published(9));
    assert!(outcome.stderr.contains("gave up run/ledger/000001.jsonl.1"), "{outcome:?}");
}

#[test]
fn second_writer_is_refused_after_lock_is_deleted() {
    let folder = Folder::new();
    let long = "count 18 --run run --method search --isa portable --quiet --threads 1";
    let running = folder.start(long, "log");
    until("it counts", || folder.counts("run") > 0);
    fs::remove_file(folder.path().join("run/lock")).unwrap();
    folder.run("count 18 --run run --json").refused(&["in use by process"]);
    folder.run("coordinator --run run --listen 127.0.0.1:0 --json").refused(&["in use by process"]);
    running.terminate();
    running.end();
    assert!(folder.run("verify run").stderr.contains("sound but not complete"));
}

#[test]
fn moved_ledger_file_stops_acknowledging_until_back() {
    let folder = half_counted();
    let running = folder.start("count 16 --run run --isa portable --quiet --threads 1", "second.log");
    let before = folder.counts("run");
    until("it goes on", || folder.counts("run") > before);
    let path = folder.path().join("run/ledger/000001.jsonl");
    let away = folder.path().join("away");
    let log = || fs::read_to_string(folder.path().join("second.log")).unwrap();
    fs::rename(&path, &away).unwrap();
    until("it says so", || log().contains("000001.jsonl was removed; nothing is acknowledged"));
    fs::write(&path, "something else").unwrap();
    fs::rename(&away, &path).unwrap();
    let before = folder.counts("run");
    until("it goes on again", || folder.counts("run") > before);
    running.terminate();
    running.end();
    assert_eq!(finish(&folder).json()["total"], published(16));
    assert_eq!(folder.run("verify run").code, Some(0));
}

#[test]
fn contradictory_counts_of_complete_run_are_recounted() {
    let folder = Folder::new();
    assert_eq!(folder.run("count 10 --run run --quiet").code, Some(0));
    let whole = Forgery::of(&folder.path().join("run"));
    let plan = Plan::derive(RunDirectory::open(&folder.path().join("run")).unwrap().run().plan).unwrap();
    let checked: BTreeSet<u64> = whole.all("check").into_iter().map(|at| unit_of(&whole.lines[at])).collect();
    let suits = |at: &usize| {
        let unit = unit_of(&whole.lines[*at]);
        matches!(plan.summand(UnitId(unit)), Summand::Symmetric(..)) && !checked.contains(&unit)
    };
    // As after a merge: without a checkpoint, and not audited yet.
    let is_contradicted = |at: &usize| {
        let mut forgery = whole.clone();
        let line = &mut forgery.lines[*at];
        line["count"] = (count_of(line) + 1).into();
        forgery.write(&folder.path().join("forged"));
        folder.run("verify forged --recount 0").stderr.contains("cannot be right")
    };
    assert!(whole.all("count").into_iter().filter(suits).any(|at| is_contradicted(&at)));
    let answer = folder.run("count 10 --run forged --json").json();
    assert_eq!(answer["total"], published(10));
    assert!(answer["worth"]["conflicts"].as_u64() > Some(0), "{answer}");
}
