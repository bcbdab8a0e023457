//! Independent checks of a run: verify, export, compare.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;

use queens::{Measure, Summand};
use records::run_directory::RunDirectory;

use crate::forgery::{Forgery, lie_about};
use crate::harness::{Completed, Folder, published, until};

#[test]
fn a_finished_run_is_verified_in_words_and_as_json() {
    let folder = Folder::new();
    for (n, kernel) in [(1, "search"), (2, "search"), (12, "search"), (12, "meet")] {
        let run = format!("{n}-{kernel}");
        folder.run(&format!("count {n} --method {kernel} --run {run} --quiet"));
        let words = folder.run(&format!("verify {run}"));
        assert_eq!(words.code, Some(0), "{words:?}");
        assert!(words.stdout.ends_with("complete; the total agrees with the published value\n"), "{words:?}");
        let report = folder.run(&format!("verify {run} --recount all --json --seed 7")).json();
        assert_eq!((&report["sound"], &report["published"]), (&true.into(), &"agrees".into()));
        assert_eq!(report["ledger"]["solutions"], published(n));
        assert_eq!(report["recount"]["wrong_at_most"], 0.0);
    }
}

#[test]
fn verify_of_lost_ledger_reports_0_records() {
    let folder = Folder::new();
    folder.run("count 8 --run run --quiet");
    fs::remove_file(folder.path().join("run/ledger/000001.jsonl")).unwrap();
    fs::remove_dir_all(folder.path().join("run/checkpoint")).unwrap();
    let lost = folder.run("verify run");
    assert!(lost.code == Some(3) && lost.stdout.contains("0 records in 0 ledger files"), "{lost:?}");
    assert!(folder.run("verify run --json").stdout.contains("\"files\":0,"));
}

#[test]
fn sampled_recount_shows_bound_and_seed() {
    let folder = Folder::new();
    folder.run("count 12 --run run --quiet");
    let outcome = folder.run("verify run --recount 20 --seed 7");
    assert!(outcome.stdout.contains("20 of 730 units, chosen by seed 7, found again"), "{outcome:?}");
    assert!(outcome.stdout.contains("at most 14.0 % of all units are wrong"), "{outcome:?}");
    let none = folder.run("verify run --recount 0 --json").json();
    assert_eq!((&none["recount"]["units"], &none["recount"]["wrong_at_most"]), (&0.into(), &1.0.into()));
    for method in ["meet", "search"] {
        let named = folder.run(&format!("verify run --recount 20 --seed 7 --method {method}"));
        let words = format!("found again by the method {method}, mirrored: with 95 % confidence");
        assert!(named.stdout.contains(&words), "{named:?}");
        let report = folder.run(&format!("verify run --recount 20 --method {method} --json")).json();
        assert_eq!(report["recount"]["method"], *method);
    }
    assert!(none["recount"]["method"].is_null());
    folder.run("verify run --recount some").refused(&["some", "a number or \"all\""]);
}

#[test]
fn recount_finds_wrong_count_under_valid_hashes() {
    let folder = Folder::new();
    for (kernel, other) in [("search", "meet/"), ("meet", "search/")] {
        let run = format!("run-{kernel}");
        folder.run(&format!("count 12 --method {kernel} --run {run} --quiet"));
        let unit = lie_about(&folder, &run, 1, |summand| summand == Summand::Asymmetric);
        let outcome = folder.run(&format!("verify {run} --recount all"));
        assert_eq!(outcome.code, Some(3), "{outcome:?}");
        let error = outcome.stderr.lines().last().unwrap();
        assert!(error.contains(&format!("unit {unit}: the ledger says")), "{outcome:?}");
        assert!(error.contains("000001.jsonl:") && error.contains(other), "{outcome:?}");
        let way_on = format!("diadem retract {run} --unit {unit} --reason 'found wrong by diadem verify'");
        assert!(error.ends_with(&way_on), "{outcome:?}");
        // Without a recount only the published value reveals it.
        let outcome = folder.run(&format!("verify {run} --recount 0"));
        assert!(outcome.stderr.contains("differs from the published value"), "{outcome:?}");
    }
}

#[test]
fn any_sample_finds_wrong_symmetric_counts() {
    let folder = Folder::new();
    // Two more that the half turn fixes and no sum contradicts it.
    folder.run("count 12 --run half --quiet");
    let half = |summand| matches!(summand, Summand::Symmetric(_, Measure::HalfTurn));
    let unit = lie_about(&folder, "half", 2, half);
    let outcome = folder.run("verify half --recount 0 --json");
    assert_eq!(outcome.code, Some(3), "{outcome:?}");
    let report: serde_json::Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(report["sound"], false);
    let wrong = report["wrong"].as_str().unwrap();
    assert!(wrong.contains(&format!("unit {unit}:")) && wrong.contains("the second algorithm"), "{wrong}");
    // Four fixed by the quarter turn cannot become three: fours can be reflected one by one.
    folder.run("count 12 --run quarter --quiet");
    let quarter = |summand| matches!(summand, Summand::Symmetric(_, Measure::QuarterTurn));
    let unit = lie_about(&folder, "quarter", -2, quarter);
    let outcome = folder.run("verify quarter --recount 0");
    let place = format!("unit {unit}: ");
    assert!(outcome.stderr.contains(&place) && outcome.stderr.contains("no multiple of 4"), "{outcome:?}");
    assert_eq!(outcome.code, Some(3), "{outcome:?}");
}

#[test]
fn incomplete_run_complete_run_and_no_run_differ() {
    let folder = Folder::new();
    folder.run("count 12 --shard 1/3 --run shard --quiet");
    assert_eq!(folder.run("verify shard").code, Some(0));
    folder.run("merge out shard");
    let outcome = folder.run("verify out");
    assert_eq!(outcome.code, Some(3), "{outcome:?}");
    assert!(
        outcome.stderr.contains("not complete: ") && outcome.stderr.contains("the first is 1"),
        "{outcome:?}"
    );
    let nowhere = folder.run("verify nowhere");
    nowhere.refused(&["nowhere", "run.json is missing"]);
    assert!(!nowhere.stderr.contains("--n"), "verify begins nothing: {nowhere:?}");
}

#[test]
fn verify_accepts_exported_tables() {
    let folder = Folder::new();
    folder.run("count 12 --run run --quiet");
    for format in ["csv", "jsonl"] {
        for by in ["unit", "family", "constellation"] {
            let file = format!("{by}.{format}");
            let written = folder.run(&format!("export run --{format} --by {by} -o {file}"));
            assert_eq!(written.code, Some(0), "{written:?}");
            let digest = written.stderr.trim().strip_prefix("blake3 ").unwrap().to_owned();
            let text = fs::read_to_string(folder.path().join(&file)).unwrap();
            let last = text.lines().last().unwrap();
            assert!(last.contains(&digest), "{last}");
            let content = &text[..text.len() - last.len() - 1];
            assert_eq!(blake3::hash(content.as_bytes()).to_string(), digest, "of all lines before the last");
            assert_eq!(folder.run(&format!("export run --{format} --by {by}")).stdout, text);
            let verified = folder.run(&format!("verify run --recount 0 --export {file}"));
            assert!(verified.code == Some(0) && verified.stdout.contains(&digest), "{verified:?}");
            // Any line that is changed, missing or too many is named.
            let lines: Vec<&str> = text.lines().collect();
            let middle = lines.len() / 2;
            let changed = lines[middle].replace(['1', '2', '4'], "3");
            let with =
                |line: &[&str]| [&lines[..middle], line, &lines[middle + 1..]].concat().join("\n") + "\n";
            for forged in [with(&[&changed]), with(&[]), with(&[lines[middle]; 2]), format!("{text}more\n")] {
                fs::write(folder.path().join("forged"), &forged).unwrap();
                let refused = folder.run("verify run --recount 0 --export forged");
                assert!(refused.code == Some(3) && refused.stderr.contains("forged: line "), "{refused:?}");
            }
            // A line whose end alone differs would look the same.
            for (forged, line) in
                [(text.replace('\n', "\r\n"), "1"), (text.trim_end().to_owned(), &lines.len().to_string())]
            {
                fs::write(folder.path().join("forged"), &forged).unwrap();
                let refused = folder.run("verify run --recount 0 --export forged");
                let why = format!("forged: line {line}: it is the ledger's but for its end");
                assert!(refused.code == Some(3) && refused.stderr.contains(&why), "{refused:?}");
            }
        }
    }
    folder.run("verify run --recount 0 --export run/run.json").stderr.contains("no table");
    folder.run("export run").refused(&["--csv", "--jsonl"]);
    folder.run("export run --csv --by queen").refused(&["queen", "unit, family or constellation"]);
}

#[test]
fn sums_by_family_are_the_same_in_all_schemes() {
    let folder = Folder::new();
    let sums = |n: u8, run: &str, split: &str| {
        folder.run(&format!("count {n} {split} --run {run} --quiet"));
        let table = folder.run(&format!("export {run} --csv --by family")).stdout;
        let rows = table.lines().filter(|line| !line.starts_with('#'));
        // Units differ, but not their sum.
        let columns = |line: &str| {
            let values: Vec<&str> = line.split(',').collect();
            [&values[..2], &values[4..]].concat().join(",")
        };
        rows.map(columns).collect::<Vec<_>>()
    };
    let by_rows = sums(13, "rows", "--families 1,2,1");
    assert_eq!(by_rows, sums(13, "search", "--method search"));
    assert_eq!(by_rows, sums(13, "centre", "--centre 2,3"));
    assert_eq!(by_rows, sums(13, "other", "--centre 1,1 --method search"));
    assert_eq!(by_rows, sums(13, "sides", "--centre 1,1,20"));
    for n in 16..=18 {
        let rows = sums(n, &format!("rows-{n}"), "");
        for (run, split) in [("centre", "--centre 2,4"), ("sides", "--centre 1,1,2000")] {
            assert_eq!(rows, sums(n, &format!("{run}-{n}"), split), "n={n} {split}");
        }
    }
    folder.run("count 13 --centre 2 --run no").refused(&["\"2\"", "COLUMNS,GROUP"]);
    folder.run("count 13 --centre 9,1 --run no").refused(&["at most 8", "9 columns"]);
    folder.run("count 13 --centre 1,1,0 --run no").refused(&["grain", "at least 1"]);
    folder.run("count 13 --centre 1,1,1,1 --run no").refused(&["1,1,1,1", "COLUMNS,GROUP,GRAIN"]);
    folder.run("count 13 --centre 1,1 --families 1,1,1 --run no").refused(&["--centre", "--families"]);
}

/// The rows of a table by constellation, without the units, which differ from plan to plan.
fn constellation_rows(table: &str) -> Vec<String> {
    let rows = table.lines().filter(|line| !line.starts_with('#'));
    let columns = |line: &str| {
        let values: Vec<&str> = line.split(',').collect();
        [&values[..4], &values[6..]].concat().join(",")
    };
    rows.map(columns).collect()
}

#[test]
fn rows_by_constellation_are_the_same_in_all_schemes() {
    let folder = Folder::new();
    folder.run("count 12 --method search --run apart --quiet");
    let apart = folder.run("export apart --csv --by constellation");
    assert_eq!(apart.stderr.lines().count(), 1, "nothing is counted again: {apart:?}");
    let expected = constellation_rows(&apart.stdout);
    assert_eq!(expected.len(), 1 + 730);
    for (run, split) in
        [("outer", "--families 1,2,1"), ("centre", "--centre 2,3"), ("even", "--centre 1,1,20")]
    {
        folder.run(&format!("count 12 {split} --run {run} --quiet"));
        for method in ["search", "meet"] {
            let table = folder.run(&format!("export {run} --csv --by constellation --method {method}"));
            assert_eq!(table.code, Some(0), "{table:?}");
            assert_eq!(constellation_rows(&table.stdout), expected, "{run} {method}");
            let head = "counts constellations together; counting 705 of them again takes seconds";
            assert!(table.stderr.contains(head), "{table:?}");
            assert!(table.stderr.contains("705 constellations counted again"), "{table:?}");
            assert!(table.stderr.contains("families, each sum is the same\n"), "{table:?}");
        }
    }
    // A file of them cannot be compared with the ledger, which has their sums alone.
    folder.run("export outer --csv --by constellation -o table");
    let compared = folder.run("verify outer --recount 0 --export table");
    assert!(compared.code == Some(1) && compared.stderr.contains("compare the files"), "{compared:?}");
}

#[test]
fn chosen_constellations_are_counted_again_alone() {
    let folder = Folder::new();
    folder.run("count 12 --families 0,1,0 --run run --quiet");
    let all = constellation_rows(&folder.run("export run --csv --by constellation").stdout);
    let of_family = folder.run("export run --csv --by constellation --only 0,2");
    let rows = constellation_rows(&of_family.stdout);
    assert!(rows.len() > 5 && rows[1..].iter().all(|row| all.contains(row)), "{rows:?}");
    assert!(of_family.stdout.contains("\n# only 0,2\n"), "{of_family:?}");
    assert!(of_family.stderr.contains("compared with the ledger: 1 family, each sum"), "{of_family:?}");
    // The last chosen one is an image of the row, turned by 180 degrees.
    let places: Vec<u8> = rows[1].split(',').take(4).map(|place| place.parse().unwrap()).collect();
    let [top, bottom, left, right] = places[..] else { panic!("{rows:?}") };
    let image = format!("{},{},{},{}", 11 - bottom, 11 - top, 11 - right, 11 - left);
    let one = folder.run(&format!("export run --csv --by constellation --only {image}"));
    assert_eq!(constellation_rows(&one.stdout), rows[..2]);
    assert!(one.stderr.contains("0 families") && one.stderr.contains("not compared: 1 family"), "{one:?}");
    let json = folder.run("export run --jsonl --by constellation --only 0,2 --only 0,3");
    assert!(json.stdout.lines().next().unwrap().contains(r#""only":"0,2 0,3""#), "{json:?}");
    // A plan that keeps constellations apart has the same choice.
    folder.run("count 12 --method search --run apart --quiet");
    let apart = folder.run("export apart --csv --by constellation --only 0,2");
    assert_eq!(constellation_rows(&apart.stdout), rows);
    for (options, words) in [
        ("--by constellation --only 11,11", &["n = 12 has no family with top 11, bottom 11"][..]),
        ("--by constellation --only 0,2,3,4", &["no constellation with top 0, bottom 2, left 3, right 4"]),
        ("--by constellation --only 200,2,3,4", &["no constellation with top 200"]),
        ("--by family --only 0,2", &["--only", "--by constellation"]),
        ("--by constellation --only 1,2,3", &["1,2,3", "TOP,BOTTOM"]),
    ] {
        let refused = folder.run(&format!("export run --csv {options}"));
        assert_eq!(refused.code, Some(2), "{refused:?}");
        assert!(words.iter().all(|word| refused.stderr.contains(word)), "{refused:?}");
    }
    folder.run("count 12 --families 0,1,0 --shard 1/3 --run shard --quiet");
    let shard = folder.run("export shard --csv --by constellation");
    shard.refused(&["of the family with top", "are counted in this run", "merge"]);
    assert_eq!(shard.code, Some(3));
}

#[test]
fn export_names_family_that_contradicts_the_ledger() {
    let folder = Folder::new();
    folder.run("count 12 --families 0,1,0 --run run --quiet");
    let unit = lie_about(&folder, "run", 3, |summand| summand == Summand::Asymmetric);
    let directory = RunDirectory::open(&folder.path().join("run")).unwrap();
    let (family, _) = directory.plan().families().find(|(_, units)| units.contains(&unit)).unwrap();
    let refused = folder.run("export run --csv --by constellation -o table");
    assert_eq!(refused.code, Some(3), "{refused:?}");
    let name = format!("family with top {}, bottom {}: its constellations", family.top, family.bottom);
    assert!(refused.stderr.contains(&name) && refused.stderr.contains("but the ledger has"), "{refused:?}");
    assert!(!folder.path().join("table").exists());
}

#[test]
fn interrupted_export_of_recounts_writes_nothing() {
    let folder = Folder::new();
    folder.run("count 16 --method meet --run run --quiet");
    // The search of every constellation takes minutes without vectors.
    let mut command = folder
        .diadem("export run --csv --by constellation --method search --isa portable --threads 1 -o table");
    let export = folder.start_command(&mut command, "export.log");
    until("it counts", || fs::read_to_string(&export.log).unwrap().contains("takes seconds"));
    export.interrupt();
    let ended = export.end();
    assert_eq!(ended.code, Some(130), "{ended:?}");
    assert!(ended.stderr.contains("no table is written"), "{ended:?}");
    assert!(!folder.path().join("table").exists());
}

#[test]
fn command_named_by_verify_repairs_the_run() {
    let folder = Folder::new();
    let put_right = |run: &str| {
        let outcome = folder.run(&format!("verify {run} --recount all --json"));
        assert_eq!(outcome.code, Some(3), "{outcome:?}");
        let report: serde_json::Value = serde_json::from_str(&outcome.stdout).unwrap();
        let way_on = report["way_on"].as_str().unwrap_or_else(|| panic!("{report}")).to_owned();
        let command = way_on.strip_prefix("diadem ").unwrap();
        let (command, reason) = command.split_once(" --reason ").unwrap();
        let mut retract = folder.diadem(command);
        let retracted = retract.args(["--reason", reason.trim_matches('\'')]).output().unwrap();
        assert!(retracted.status.success(), "{retracted:?}");
        assert_eq!(folder.run(&format!("count 12 --run {run} --json")).json()["total"], published(12));
        assert_eq!(folder.run(&format!("verify {run} --recount all")).code, Some(0));
    };
    folder.run("count 12 --run wrong --quiet");
    lie_about(&folder, "wrong", 1, |summand| summand == Summand::Asymmetric);
    put_right("wrong");
    // One solution more that the half turn fixes, and T is odd where it must be even.
    folder.run("count 12 --run contradicting --quiet");
    lie_about(&folder, "contradicting", 1, |summand| {
        matches!(summand, Summand::Symmetric(_, Measure::HalfTurn))
    });
    put_right("contradicting");
}

#[test]
fn a_table_may_have_any_name_that_the_system_takes() {
    let folder = Folder::new();
    folder.run("count 8 --run run --quiet");
    folder.run("export run --csv -o table.csv");
    let name = OsStr::from_bytes(b"\xff table \xc3.csv");
    let verify = |json: &str| {
        let mut command = folder.diadem(&format!("verify run --recount 0 {json}"));
        Completed::of(command.arg("--export").arg(name).output().unwrap())
    };
    let missing = verify("");
    assert!(missing.code == Some(1) && missing.stderr.contains("cannot read"), "{missing:?}");
    fs::copy(folder.path().join("table.csv"), folder.path().join(name)).unwrap();
    assert_eq!(verify("").code, Some(0));
    assert_eq!(verify("--json").json()["export"]["by"], "unit");
    let certificate = OsStr::from_bytes(b"\xfe.json");
    let certify = folder.diadem("certify run").arg("-o").arg(certificate).output().unwrap();
    assert_eq!(Completed::of(certify).code, Some(0));
    let verified = folder.diadem("verify --certificate").arg(certificate).output().unwrap();
    assert_eq!(Completed::of(verified).code, Some(0));
    let run = OsStr::from_bytes(b"run-\xff");
    fs::rename(folder.path().join("run"), folder.path().join(run)).unwrap();
    let renamed = folder.diadem("verify --json").arg(run).output().unwrap();
    assert_eq!(Completed::of(renamed).json()["sound"], true);
}

#[test]
fn run_in_use_is_verified_up_to_last_commit() {
    let folder = Folder::new();
    let (coordinator, address) =
        folder.serve("coordinator --n 16 --method search --run run --double-check none", "log");
    let join = format!("worker --coordinator http://{address} --threads 2 --isa portable");
    let worker = folder.start(&join, "worker.log");
    until("something is counted", || folder.counts("run") > 10);
    let mut looks = 0;
    loop {
        let verified = folder.run("verify run --recount 0");
        if verified.code == Some(0) {
            break;
        }
        assert!(verified.stderr.contains("the ledger is sound but not complete"), "{verified:?}");
        looks += 1;
    }
    assert!(looks > 10, "it was looked at {looks} times");
    assert_eq!((coordinator.end().code, worker.end().code), (Some(0), Some(0)));
}

#[test]
fn table_without_its_run_is_not_verified() {
    let folder = Folder::new();
    folder.run("count 10 --run run --quiet");
    folder.run("certify run -o certificate.json");
    assert_eq!(folder.run("verify --certificate certificate.json").code, Some(0));
    let refused = folder.run("verify --certificate certificate.json --export nowhere.csv");
    refused.refused(&["DIR"]);
    assert_eq!(refused.code, Some(2));
}

#[test]
fn hostile_names_in_ledger_are_escaped_by_verify() {
    let folder = Folder::new();
    folder.run("count 8 --run run --quiet");
    let mut forgery = Forgery::of(&folder.path().join("run"));
    let hostile = "a\u{1b}[8m\u{1b}]0;b\u{7}\u{9b}2K\nrecount: all units found again\n";
    for at in forgery.all("count") {
        for field in ["worker", "machine", "owner", "kernel"] {
            forgery.lines[at].insert(field.into(), hostile.into());
        }
    }
    forgery.write(&folder.path().join("forged"));
    for command in [
        "verify forged",
        "merge joint forged",
        "status forged",
        "export forged --jsonl",
        "count 8 --run forged",
    ] {
        let told = folder.run(command);
        let text = told.stdout + &told.stderr;
        assert!(!text.contains(|c: char| c.is_control() && c != '\n'), "{command}: {text:?}");
        assert!(!text.lines().any(|line| line.starts_with("recount: all")), "{command}: {text}");
    }
}

#[test]
fn run_with_missing_checks_is_not_complete() {
    let folder = Folder::new();
    folder.run("count 11 --run run --quiet");
    let (coordinator, address) = folder.serve("coordinator --n 11 --run run --double-check all", "log");
    until("that is on record", || {
        let ledger = fs::read_to_string(folder.path().join("run/ledger/000001.jsonl")).unwrap();
        ledger.lines().any(|line| line.contains(r#""double_check":"all""#)) && ledger.ends_with('\n')
    });
    let status = folder.run(&format!("status --coordinator http://{address}"));
    assert!(status.stdout.contains("all counted, "), "{status:?}");
    coordinator.kill();
    let to_go = "counts still to be checked";
    let verified = folder.run("verify run");
    assert!(verified.code == Some(3) && verified.stderr.contains(to_go), "{verified:?}");
    assert!(!verified.stdout.contains("complete"), "{verified:?}");
    let report = folder.run("report run").stdout;
    assert!(report.contains(to_go) && report.contains(">not complete<"), "{report}");
    assert!(folder.run("status run").stdout.contains("checks to go"));
    assert_eq!(folder.run("count 11 --run run --quiet").code, Some(0));
    assert_eq!(folder.run("verify run").code, Some(0));
    assert!(folder.run("report run").stdout.contains(">complete<"));
}
