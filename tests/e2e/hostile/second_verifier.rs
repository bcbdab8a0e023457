//! tools/check.py, which shares no code with diadem, finds whatever `diadem verify` finds in forged ledgers.

use std::fs;

use queens::Plan;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use records::run_directory::RunDirectory;
use serde_json::{Value, json};

use crate::check::check;
use crate::forgery::{Forgery, Line, by_another, retraction};
use crate::harness::Folder;
use crate::lies::LIES;
use crate::owner_lies::{OWNER_LIES, with_owners};
use crate::tools;

/// Forgeries of each kind.
const EACH: u64 = 5;

/// The result of the second verifier for each run.
fn check_each(folder: &Folder, runs: &[String]) -> Vec<Value> {
    let outcome = check(folder, &format!("--json --recount all --seconds 120 {}", runs.join(" ")));
    let reports: Vec<Value> =
        outcome.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(reports.len(), runs.len(), "{outcome:?}");
    let all_sound = reports.iter().all(|report| report["sound"] == true);
    assert_eq!(outcome.code, Some(if all_sound { 0 } else { 3 }), "{outcome:?}");
    reports
}

/// A run with marks of a hundred records each.
fn counted(folder: &Folder, n: u8) -> Forgery {
    folder.run(&format!("count {n} --run counted --quiet"));
    let mut forgery = Forgery::of(&folder.path().join("counted"));
    let last = forgery.lines.pop().unwrap();
    forgery.lines.retain(|line| line["kind"] != "mark");
    let groups: Vec<_> = forgery.lines.chunks(100).map(<[_]>::to_vec).collect();
    forgery.lines = groups.into_iter().flat_map(|group| [group, vec![last.clone()]].concat()).collect();
    forgery.number_marks();
    forgery
}

/// A sound history: the same ledger, then checks by a second machine, disputes that these checks decide
/// against a liar, and retractions and recounts of the liar's counts.
fn with_history(mut forgery: Forgery) -> Forgery {
    let counts: Vec<_> = forgery.all("count").into_iter().map(|at| forgery.lines[at].clone()).collect();
    for count in &counts[20..40] {
        let mut check = by_another(count, "check", "second", 0);
        check.insert("mirrored".into(), json!(true));
        forgery.append(check);
    }
    // The liar loses first, because a believed machine keeps its counts.
    for count in &counts[50..55] {
        forgery.lines.retain(|line| line["kind"] != "check" || line["unit"] != count["unit"]);
        forgery.append(by_another(count, "conflict", "liar", 1));
        forgery.append(retraction(count, false));
        forgery.append(by_another(count, "count", "second", 0));
    }
    for at in forgery.all("count").into_iter().skip(40).take(5) {
        let line = &mut forgery.lines[at];
        (line["machine"], line["worker"]) = ("liar".into(), "liar".into());
        let count = line.clone();
        forgery.lines.retain(|line| line["kind"] != "check" || line["unit"] != count["unit"]);
        forgery.append(retraction(&count, true));
        forgery.append(by_another(&count, "count", "second", 0));
    }
    forgery.number_marks();
    forgery
}

#[test]
fn second_verifier_refuses_forged_ledgers() {
    if !tools::is_there("python3") {
        return;
    }
    let folder = Folder::new();
    let whole = with_history(counted(&folder, 14));
    whole.write(&folder.path().join("counted"));
    let plan = Plan::derive(RunDirectory::open(&folder.path().join("counted")).unwrap().run().plan).unwrap();
    let owned = with_owners(whole.clone());
    let mut runs = Vec::new();
    let lies = LIES.iter().map(|lie| (&whole, lie)).chain(OWNER_LIES.iter().map(|lie| (&owned, lie)));
    for (i, (base, (name, lie))) in lies.enumerate() {
        for seed in 0..EACH {
            let mut random = StdRng::seed_from_u64(1000 * i as u64 + seed);
            let mut forgery = base.clone();
            lie(&mut forgery, &mut random, &plan);
            let run = format!("{i}-{seed}-{}", name.replace(' ', "-"));
            forgery.write(&folder.path().join(&run));
            runs.push(run);
        }
    }
    assert!(runs.len() >= 300);
    let reports = check_each(&folder, &runs);
    let mut refused = 0;
    let mut missed = Vec::new();
    for (run, report) in runs.iter().zip(&reports) {
        let verified = folder.run(&format!("verify {run} --recount all"));
        match (verified.code == Some(0), report["sound"] == true) {
            (false, false) => refused += 1,
            (true, false) => println!("{run}: only the second verifier refuses it: {}", report["wrong"]),
            (true, true) => println!("{run}: both verifiers take it"),
            (false, true) => missed.push(format!("{run}: {}", verified.stderr.trim())),
        }
    }
    println!("{refused} of {} forgeries are refused by both", runs.len());
    assert!(missed.is_empty(), "the second verifier misses {missed:#?}");
    assert!(refused >= 300, "{refused} of {} are refused by both", runs.len());
}

#[test]
fn ledgers_that_are_sound_are_so_for_both_verifiers() {
    if !tools::is_there("python3") {
        return;
    }
    let folder = Folder::new();
    for (n, kernel) in [(1, "search"), (2, "search"), (9, "meet"), (12, "search"), (13, "meet")] {
        folder.run(&format!("count {n} --method {kernel} --run {n} --quiet"));
    }
    folder.run("count 12 --shard 2/3 --run shard --quiet");
    let plain = counted(&folder, 14);
    let history = with_history(plain.clone());
    history.write(&folder.path().join("history"));
    with_owners(history.clone()).write(&folder.path().join("owners"));
    Forgery { second_file: Some(2), ..history.clone() }.write(&folder.path().join("rolled-over"));
    history.write(&folder.path().join("tail"));
    let ledger = folder.path().join("tail/ledger/000001.jsonl");
    let text = fs::read_to_string(&ledger).unwrap();
    fs::write(&ledger, format!("{text}{}", &text[..100])).unwrap();
    let runs = ["1", "2", "9", "12", "13", "shard", "counted", "history", "owners", "rolled-over", "tail"]
        .map(String::from);
    for (run, report) in runs.iter().zip(check_each(&folder, &runs)) {
        assert_eq!(report["sound"], true, "{report}");
        let verified = folder.run(&format!("verify {run} --recount all --json")).json();
        for name in ["solutions", "a", "p", "r"] {
            assert_eq!(report["sums"][name], verified["ledger"][name], "{report} {verified}");
        }
        for name in [
            "records",
            "counted",
            "confirmed",
            "checks",
            "contradicted",
            "kernels",
            "workers",
            "keys",
            "plan",
        ] {
            assert_eq!(report["ledger"][name], verified["ledger"][name], "{report} {verified}");
        }
        assert_eq!(report["published"], verified["published"]);
        let head = folder.run(&format!("head {run} --json")).json();
        for name in ["run", "records", "head", "n", "shard", "plan"] {
            assert_eq!(report["ledger"][name], head[name], "{report} {head}");
        }
    }
}

#[test]
fn verifiers_quarantine_self_contradicting_machine() {
    if !tools::is_there("python3") {
        return;
    }
    let folder = Folder::new();
    let mut plain = counted(&folder, 12);
    // One machine has made eleven counts that nobody has checked.
    let of_machine: Vec<_> = plain.all("count").into_iter().take(11).collect();
    for at in of_machine {
        plain.lines[at]["machine"] = "flaky".into();
    }
    let counts: Vec<_> = plain.all("count")[..11].iter().map(|at| plain.lines[*at].clone()).collect();
    let is_of_machine = |line: &Line| counts.iter().any(|count| count["unit"] == line["unit"]);
    plain.lines.retain(|line| line["kind"] != "check" || !is_of_machine(line));
    plain.number_marks();
    let runs = [9, 10].map(|contradictions| {
        let mut forgery = plain.clone();
        for count in &counts[1..=contradictions] {
            forgery.append(by_another(count, "conflict", "flaky", 1));
            forgery.append(retraction(count, false));
            forgery.append(by_another(count, "count", "flaky", 0));
        }
        // Counts are retracted this way only if their machine is not believed.
        for count in &counts[..=contradictions] {
            forgery.append(retraction(count, true));
            forgery.append(by_another(count, "count", "second", 0));
        }
        forgery.number_marks();
        let run = format!("contradictions-{contradictions}");
        forgery.write(&folder.path().join(&run));
        run
    });
    for ((run, report), is_sound) in runs.iter().zip(check_each(&folder, &runs)).zip([false, true]) {
        let verified = folder.run(&format!("verify {run} --recount 0"));
        assert_eq!(report["sound"], is_sound, "{report} {verified:?}");
        assert_eq!(verified.code == Some(0), is_sound, "{report} {verified:?}");
    }
}

#[test]
fn second_verifier_has_an_exit_code_for_each_case() {
    if !tools::is_there("python3") {
        return;
    }
    let folder = Folder::new();
    folder.run("count 12 --run run --quiet");
    let sound = check(&folder, "run --recount 5 --seed 7");
    assert_eq!(sound.code, Some(0), "{sound:?}");
    assert!(sound.stdout.contains("5 of the 5 units chosen by seed 7"), "{sound:?}");
    let nowhere = check(&folder, "nowhere");
    assert_eq!(nowhere.code, Some(1), "{nowhere:?}");
    assert!(nowhere.stderr.contains("run.json is missing"), "{nowhere:?}");
    assert_eq!(check(&folder, "run --recount some").code, Some(1));
    assert_eq!(check(&folder, "").code, Some(1));
    let path = folder.path().join("run/ledger/000001.jsonl");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replacen("\"count\":", "\"count\":1", 1)).unwrap();
    let damaged = check(&folder, "run");
    assert_eq!(damaged.code, Some(3), "{damaged:?}");
    assert!(damaged.stderr.contains("000001.jsonl:3: its CRC does not match"), "{damaged:?}");
    fs::write(&path, text.replace('\n', "\r\n")).unwrap();
    let rewritten = check(&folder, "run");
    assert!(rewritten.code == Some(3) && rewritten.stderr.contains("CR LF"), "{rewritten:?}");
}

/// Damages the bytes behind the last mark but one, which is at `from`.
fn damage_tail(bytes: &mut Vec<u8>, from: usize, random: &mut StdRng) {
    let at = random.random_range(from..bytes.len());
    let blocks =
        at.div_ceil(64) * 64..(random.random_range(at..=bytes.len()) / 64 * 64).max(at.div_ceil(64) * 64);
    match random.random_range(0..10) {
        0 => bytes.truncate(at),
        1 => bytes[at] ^= 1 << random.random_range(0..8),
        2 => bytes[at..].fill(0),
        3 if blocks.end <= bytes.len() => bytes[blocks].fill(0),
        4 => {
            let lines = bytes.iter().filter(|byte| **byte == b'\n').count();
            let last = bytes.iter().rposition(|byte| *byte == b'\n').unwrap();
            bytes.truncate(if random.random_bool(0.5) { last } else { last - lines.min(3) });
        }
        5 => {
            let text = String::from_utf8(bytes.clone()).unwrap();
            *bytes = text.replace('\n', "\r\n").into_bytes();
        }
        6 => {
            bytes.truncate(at);
            bytes.extend(b"garbage\n");
        }
        7 => {
            bytes.truncate(at);
            bytes.resize(at.div_ceil(64) * 64 + 128, 0);
        }
        8 => _ = bytes.splice(at..at, *b"\0"),
        _ => {
            let last = bytes.len() - 1;
            bytes[last] = b'}';
        }
    }
}

#[test]
fn verifiers_agree_on_data_after_the_last_mark() {
    if !tools::is_there("python3") {
        return;
    }
    let folder = Folder::new();
    folder.run("count 8 --run run --quiet");
    let mut forgery = Forgery::of(&folder.path().join("run"));
    let sound = forgery.clone();
    sound.write(&folder.path().join("sound"));
    let from = fs::read(folder.path().join("sound/ledger/000001.jsonl")).unwrap().len();
    for _ in 0..9 {
        let policy = json!({"kind": "policy", "double_check": "none", "at": 9});
        forgery.lines.push(serde_json::from_value(policy).unwrap());
    }
    forgery.lines.push(forgery.lines[forgery.all("mark")[0]].clone());
    forgery.number_marks();
    forgery.write(&folder.path().join("whole"));
    let whole = fs::read(folder.path().join("whole/ledger/000001.jsonl")).unwrap();
    let mut runs = Vec::new();
    for seed in 0..150 {
        let mut random = StdRng::seed_from_u64(seed);
        let mut bytes = whole.clone();
        damage_tail(&mut bytes, from, &mut random);
        let run = format!("torn-{seed}");
        sound.write(&folder.path().join(&run));
        let ledger = folder.path().join(&run).join("ledger");
        if random.random_bool(0.1) {
            // The last group began a new file.
            fs::write(ledger.join("000002.jsonl"), bytes.split_off(from.min(bytes.len()))).unwrap();
        }
        fs::write(ledger.join("000001.jsonl"), bytes).unwrap();
        runs.push(run);
    }
    // A last file of zeros.
    sound.write(&folder.path().join("zeros"));
    fs::write(folder.path().join("zeros/ledger/000002.jsonl"), [0; 4096]).unwrap();
    runs.push("zeros".to_owned());
    let (mut torn, mut damaged) = (0, 0);
    for (run, report) in runs.iter().zip(check_each(&folder, &runs)) {
        let verified = folder.run(&format!("verify {run} --recount 0"));
        let is_sound = verified.code == Some(0);
        assert_eq!(report["sound"], is_sound, "{run}: {report} {verified:?}");
        (torn, damaged) = (torn + u32::from(is_sound), damaged + u32::from(!is_sound));
    }
    assert!(torn > 20 && damaged > 20, "{torn} torn, {damaged} damaged");
}

#[test]
fn recount_without_time_left_counts_nothing() {
    if !tools::is_there("python3") {
        return;
    }
    let folder = Folder::new();
    folder.run("count 8 --run run --quiet");
    let outcome = check(&folder, "--recount all --seconds 0 run");
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    for said in
        ["recount: 0 of the 78 units", "counted again before 0 s were over", "symmetric counts: none of"]
    {
        assert!(outcome.stdout.contains(said), "{outcome:?}");
    }
    let json = check(&folder, "--json --seconds 0 run").stdout;
    assert!(json.contains("\"agree\": null"), "{json}");
}
