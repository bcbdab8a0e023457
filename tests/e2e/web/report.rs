//! `diadem report`: one page from the ledger alone, whatever else lies in the run directory.

use std::fs;

use crate::check::check;
use crate::harness::{Folder, published};

/// The page of a run, written to a file.
fn page(folder: &Folder, run: &str, code: i32) -> String {
    let outcome = folder.run(&format!("report {run} --out report.html"));
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(code), ""), "{outcome:?}");
    fs::read_to_string(folder.path().join("report.html")).unwrap()
}

/// A number with commas.
fn grouped(number: &str) -> String {
    let digits: Vec<char> = number.chars().collect();
    let groups = digits.rchunks(3).rev().map(|group| group.iter().collect::<String>());
    groups.collect::<Vec<_>>().join(",")
}

#[test]
fn report_of_finished_run_has_the_published_head() {
    let folder = Folder::new();
    assert_eq!(folder.run("count 13 --run run --threads 1 --quiet --double-check all").code, Some(0));
    let page_of_it = page(&folder, "run", 0);
    assert!(page_of_it.contains(&grouped(&published(13))), "{page_of_it}");
    assert!(page_of_it.contains("it agrees with the published value"));
    let head = folder.run("head run --json").json();
    assert!(
        page_of_it.contains(head["head"].as_str().unwrap())
            && page_of_it.contains(head["run"].as_str().unwrap())
    );
    // The commands in the report print what it shows.
    let published_head = page_of_it.split("echo '").nth(1).unwrap().split('\'').next().unwrap();
    fs::write(folder.path().join("head.txt"), published_head).unwrap();
    assert_eq!(folder.run("verify run --heads head.txt --recount 5 --threads 1").code, Some(0));
    // The checkpoint does not matter.
    fs::remove_dir_all(folder.path().join("run/checkpoint")).unwrap();
    let without = |page: String| page.split("Written by").next().unwrap().to_owned();
    assert_eq!(without(page(&folder, "run", 0)), without(page_of_it));
    assert!(folder.run("report run").stdout.starts_with("<!DOCTYPE html>"));
}

#[test]
fn report_escapes_names_and_marks_unfinished_run() {
    let folder = Folder::new();
    let (coordinator, address) = folder.serve("coordinator --n 15 --run run", "coordinator.log");
    let mut worker = folder.diadem(&format!("worker --coordinator http://{address} --threads 1"));
    let worker = worker.args(["--machine", "<script>alert(1)</script>"]);
    let worker = folder.start_command(worker, "worker.log");
    crate::harness::until("some units are counted", || folder.counts("run") > 50);
    worker.kill();
    // The run is in use.
    let page = page(&folder, "run", 0);
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;") && !page.contains("<script"), "{page}");
    assert!(page.contains("units still to be counted") && page.contains("not complete"), "{page}");
    drop(coordinator);
}

#[test]
fn report_and_certificate_list_interventions() {
    let folder = Folder::new();
    let count = |options: &str| folder.run(&format!("count 11 --run run --machine vm --quiet {options}"));
    assert_eq!(count("").code, Some(0));
    assert!(page(&folder, "run", 0).contains("There was none."));
    for step in
        ["--unit 0-2 --reason odd", "--machine vm --reason <hot>", "--machine vm --readmit --reason cooled"]
    {
        let yes = if step.contains("readmit") { "" } else { "--yes" };
        let mut retract = folder.diadem(&format!("retract run {step} {yes}"));
        assert!(retract.output().unwrap().status.success(), "{step}");
    }
    assert_eq!(count("--double-check all").code, Some(0));
    let ledger = folder.path().join("run/ledger/000001.jsonl");
    let mut text = fs::read(&ledger).unwrap();
    text.truncate(text.len() - 300);
    fs::write(&ledger, text).unwrap();
    let accepted = count("--accept-loss");
    assert_eq!(accepted.code, Some(0), "{accepted:?}");
    let page = page(&folder, "run", 0);
    let section = page.split("id=\"interventions\"").nth(1).unwrap().split("</section>").next().unwrap();
    for said in [
        "took back the counts of 3 units",
        "odd",
        "stopped trusting machine vm",
        "&lt;hot&gt;",
        "trusted machine vm again",
        "cooled",
        "set --double-check all",
        "accepted a loss in the ledger",
    ] {
        assert!(section.contains(said), "{said}: {section}");
    }
    folder.run("certify run -o certificate.json");
    let certificate = fs::read_to_string(folder.path().join("certificate.json")).unwrap();
    let certificate: serde_json::Value = serde_json::from_str(&certificate).unwrap();
    let kinds =
        certificate["interventions"].as_array().unwrap().iter().map(|one| one["kind"].as_str().unwrap());
    assert_eq!(kinds.collect::<Vec<_>>(), ["retract", "expel", "admit", "policy", "loss"]);
    let verified = folder.run("verify run --certificate certificate.json --recount 5");
    assert_eq!(verified.code, Some(0), "{verified:?}");
    assert_eq!(check(&folder, "run").code, Some(0));
}

#[test]
fn damaged_or_missing_run_gets_no_report() {
    let folder = Folder::new();
    assert_eq!(folder.run("count 10 --run run --threads 1 --quiet").code, Some(0));
    let file = folder.path().join("run/ledger/000001.jsonl");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replacen("\"count\":", "\"count\":1", 1)).unwrap();
    let outcome = folder.run("report run --out report.html");
    assert_eq!(outcome.code, Some(3), "{outcome:?}");
    outcome.refused(&["000001.jsonl"]);
    assert!(!folder.path().join("report.html").exists());
    folder.run("report nowhere").refused(&["nowhere"]);
}
