//! What `diadem unit` and `diadem status` say of one unit, machine or worker.

use serde_json::{Value, json};

use crate::forgery::{Forgery, by_another, retraction, unit_of};
use crate::harness::{Folder, Running, until};

#[test]
fn held_and_open_units_of_served_run_are_explained() {
    let folder = Folder::new();
    // Units of seconds, by the slowest kernel.
    let serving = "coordinator --n 20 --families 0,1,0 --run run --double-check none";
    let (coordinator, address) = folder.serve(serving, "c.log");
    let access = format!("--coordinator http://{address}");
    let kernel = "--threads 1 --method search --isa portable";
    let command = format!("worker {access} --machine rack-1 --name one {kernel}");
    let worker = folder.start(&command, "w.log");
    // Symmetric counts come first, and take milliseconds.
    let (mut machine, mut explained, mut text) = (Value::Null, Value::Null, String::new());
    until("it holds a unit for longer", || {
        let printed = folder.run(&format!("status {access} --machine rack-1 --json")).stdout;
        machine = serde_json::from_str(&printed).unwrap_or_default();
        let held = &machine["machines"][0]["held"];
        let Some(unit) = held.as_array().and_then(|held| held.last()?["unit"].as_u64()) else { return false };
        explained = folder.run(&format!("unit {unit} {access} --json")).json();
        text = folder.run(&format!("unit {unit} {access}")).stdout;
        text.contains("held by: one on rack-1, a count, for ")
    });
    let machine = &machine["machines"][0];
    assert_eq!((&machine["workers"], &machine["distrust"]), (&json!(1), &Value::Null), "{machine}");
    let holder = &explained["held"][0];
    assert_eq!((&holder["machine"], &holder["worker"]), (&json!("rack-1"), &json!("one")), "{explained}");
    assert!(explained["open_because"].as_str().unwrap().contains("a worker counts it now"), "{explained}");
    assert!(text.contains(" 0 1 2 3"), "{text}");
    assert_eq!(explained["records"], json!([]), "{explained}");

    let last = explained["units"].as_u64().unwrap() - 1;
    let open = folder.run(&format!("unit {last} {access} --json")).json();
    assert_eq!(open["held"], json!([]), "{open}");
    assert!(open["open_because"].as_str().unwrap().contains("it waits for its turn"), "{open}");

    let worker_status = folder.run(&format!("status {access} --worker one"));
    assert!(worker_status.stdout.starts_with("worker one on machine rack-1\n"), "{worker_status:?}");
    let refused = folder.run(&format!("unit {} {access}", last + 1));
    refused.refused(&["the plan has no unit"]);
    assert_eq!(refused.code, Some(2));
    for (what, name) in [("machine", "rack-9"), ("worker", "two")] {
        let refused = folder.run(&format!("status {access} --{what} {name}"));
        refused.refused(&[&format!("the run knows no {what} {name}; it knows")]);
        assert_eq!(refused.code, Some(2));
    }
    [worker, coordinator].into_iter().for_each(Running::kill);
}

#[test]
fn counted_and_checked_unit_shows_both_records() {
    let folder = Folder::new();
    folder.run("count 10 --run run --double-check all --quiet --machine rack-1");
    let unit = folder.run("unit 40 --run run --json").json();
    let kinds: Vec<_> = unit["records"].as_array().unwrap().iter().map(|record| &record["kind"]).collect();
    assert_eq!(kinds, ["count", "check"], "{unit}");
    assert_eq!((&unit["open_because"], &unit["held"]), (&Value::Null, &Value::Null), "{unit}");
    assert_eq!(unit["records"][0]["machine"], "rack-1", "{unit}");
    let text = folder.run("unit 40 --run run").stdout;
    for part in ["unit 40 of ", "  count ", "  check ", "; confirms rack-1", "not open: it is counted"] {
        assert!(text.replace("\n  ", " ").contains(part), "{part}: {text}");
    }
    let machine = folder.run("status run --machine rack-1 --json").json();
    let machine = &machine["machines"][0];
    assert_eq!((&machine["counts"], &machine["checks"]), (&unit["units"], &unit["units"]), "{machine}");
    assert_eq!((&machine["conflicts"], &machine["distrust"]), (&json!(0), &Value::Null), "{machine}");

    for (command, why) in [
        ("unit 1000000 --run run", "the plan has no unit 1000000"),
        ("status run --machine rack-2", "the run knows no machine rack-2; it knows rack-1"),
        ("unit x --run run", "\"x\" is not a whole number"),
    ] {
        let refused = folder.run(command);
        refused.refused(&[why]);
        assert_eq!(refused.code, Some(2), "{refused:?}");
    }
    folder.run("count 10 --shard 2/3 --run share --quiet");
    folder.run("unit 0 --run share").refused(&["unit 0 is not of this share, 2/3"]);
    assert_eq!(folder.run("unit 1 --run share --json").json()["open_because"], Value::Null);
}

#[test]
fn disputed_unit_shows_who_says_what() {
    let folder = Folder::new();
    folder.run("count 8 --run run --double-check none --quiet --machine honest");
    let run = folder.path().join("run");
    let mut forgery = Forgery::of(&run);
    let count = forgery.all("count").last().map(|at| forgery.lines[*at].clone()).unwrap();
    forgery.append(by_another(&count, "conflict", "liar", 1));
    forgery.append(retraction(&count, false));
    forgery.number_marks();
    forgery.write(&run);
    let unit = unit_of(&count);
    let disputed = folder.run(&format!("unit {unit} --run run --json")).json();
    let kinds: Vec<_> = disputed["records"].as_array().unwrap().iter().map(|r| &r["kind"]).collect();
    assert_eq!(kinds, ["count", "conflict", "retract"], "{disputed}");
    assert_eq!(disputed["open_because"], "its counts differ", "{disputed}");
    let liar = folder.run("status run --worker liar --json").json();
    assert_eq!(
        (&liar["workers"][0]["conflicts"], &liar["workers"][0]["disputed"]),
        (&json!(1), &json!([unit]))
    );

    let (coordinator, address) = folder.serve("coordinator --run run", "c.log");
    let text = folder.run(&format!("unit {unit} --coordinator http://{address}")).stdout;
    assert!(text.contains("open: its counts differ, and no worker is connected"), "{text}");
    let machine =
        folder.run(&format!("status --machine honest --coordinator http://{address} --json")).json();
    assert_eq!(machine["machines"][0]["disputed"], json!([unit]), "{machine}");
    coordinator.kill();
}
