//! Ways to lie about owners, disputes and quarantines, in a ledger that is right in all its hashes and has all of these.

use rand::RngExt;
use rand::rngs::StdRng;
use serde_json::{Value, json};

use crate::forgery::{Forgery, Line, by_another, retraction, unit_of};
use crate::lies::Lie;

/// A record of `kind` about the unit of `line` by this owner (empty for none) and machine, with `more` added
/// to its count.
pub fn by(line: &Line, kind: &str, (owner, machine): (&str, &str), more: u64) -> Line {
    let mut record = by_another(line, kind, machine, more);
    record.retain(|name, _| name != "of_owner" && name != "owner");
    if !owner.is_empty() {
        record.insert("owner".into(), owner.into());
    }
    if let (Some(of), "check") = (line.get("owner"), kind) {
        record.insert("of_owner".into(), of.clone());
    }
    record
}

/// The record that retracts or restores the count in that line.
pub fn of_owner(line: &Line, kind: &str, more: &[(&str, Value)]) -> Line {
    let mut record = retraction(line, false);
    record["kind"] = kind.into();
    line.get("owner").map(|owner| record.insert("owner".into(), owner.clone()));
    record.extend(more.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
    record
}

const ADA: (&str, &str) = ("ada", "rack");
const BOB: (&str, &str) = ("bob", "desk");
const EVE: (&str, &str) = ("eve", "cloud");

fn expulsion(owner: &str, machine: Option<&str>) -> Line {
    let mut record: Line = serde_json::from_value(json!({"kind": "expel", "owner": owner})).unwrap();
    machine.map(|machine| record.insert("machine".into(), machine.into()));
    record.extend([("reason".to_owned(), json!("its key was stolen")), ("at".to_owned(), json!(9))]);
    record
}

/// The run after disputes between owners, an expulsion, what follows from it, and a policy: a history that is sound.
pub fn with_owners(mut forgery: Forgery) -> Forgery {
    let counts: Vec<Line> = forgery.all("count").into_iter().map(|at| forgery.lines[at].clone()).collect();
    let owned = |forgery: &mut Forgery, units: std::ops::Range<usize>, maker: (&str, &str)| {
        let lines: Vec<Line> = counts[units].iter().map(|count| by(count, "count", maker, 0)).collect();
        for line in &lines {
            let unit = unit_of(line);
            forgery.lines.retain(|line| line["kind"] != "check" || line["unit"] != unit);
            let at =
                forgery.all("count").into_iter().find(|at| unit_of(&forgery.lines[*at]) == unit).unwrap();
            forgery.lines[at].clone_from(line);
        }
        lines
    };
    // Ada's counts: Bob confirms some, Eve contradicts some wrongly, and some of Eve's contradictions stay undecided.
    for count in owned(&mut forgery, 100..110, ADA) {
        forgery.append(by(&count, "check", BOB, 0));
    }
    let open = owned(&mut forgery, 110..114, ADA);
    for count in &open {
        forgery.append(by(count, "conflict", EVE, 2));
        forgery.append(of_owner(count, "retract", &[]));
    }
    for count in owned(&mut forgery, 114..117, EVE) {
        forgery.append(by(&count, "conflict", ADA, 1));
        forgery.append(of_owner(&count, "retract", &[]));
        forgery.append(by(&count, "count", BOB, 1));
        forgery.append(of_owner(&by(&count, "count", BOB, 1), "retract", &[("reason", json!("a mistake"))]));
        forgery.append(by(&count, "count", BOB, 0));
    }
    for count in &open {
        forgery.append(of_owner(count, "restore", &[]));
    }
    // Only Ada confirms some of Mallory's counts, and no owner confirms the others.
    let unconfirmed = owned(&mut forgery, 120..125, ("mallory", "m1"));
    for count in owned(&mut forgery, 125..128, ("mallory", "m2")) {
        forgery.append(by(&count, "check", ADA, 0));
    }
    forgery.append(expulsion("mallory", None));
    for count in &unconfirmed {
        forgery.append(of_owner(count, "retract", &[("quarantine", json!(true))]));
        forgery.append(by(count, "count", ADA, 0));
    }
    let merged = json!({"kind": "merged", "run": "0".repeat(32), "records": 5, "head": "1".repeat(32),
        "conflicts": 2, "refuted": 1, "at": 9});
    forgery.append(serde_json::from_value(merged).unwrap());
    let lost = json!({"kind": "expel", "owner": "dan", "machine": "d1", "lost": true, "reason": "was wrong", "at": 9});
    forgery.append(serde_json::from_value(lost).unwrap());
    forgery.append(expulsion("fay", Some("f1")));
    let admitted =
        json!({"kind": "admit", "owner": "fay", "machine": "f1", "reason": "was repaired", "at": 9});
    forgery.append(serde_json::from_value(admitted).unwrap());
    let policy = json!({"kind": "policy", "double_check": "none", "at": 9});
    forgery.append(serde_json::from_value(policy).unwrap());
    forgery.number_marks();
    forgery
}

/// All of them.
pub const OWNER_LIES: [Lie; 32] = [
    ("a maker confirms itself by the name of another owner's machine", |f, r, _| {
        let mut admission = expulsion("bob", Some("ghost"));
        f.append(admission.clone());
        admission["kind"] = json!("admit");
        f.append(admission);
        let at = f.some(r, "count", |line| is(line, "owner", "ada"));
        let mut check = by(&f.lines[at].clone(), "check", ADA, 0);
        check.extend([("of".to_owned(), json!("ghost")), ("of_owner".to_owned(), json!("bob"))]);
        f.append(check);
        f.number_marks();
    }),
    ("a count of another machine is taken back than the one that stands", |f, r, _| {
        let at = f.some(r, "count", |line| line.get("owner").is_none());
        let line = f.lines[at].clone();
        let mut record = of_owner(&line, "retract", &[("reason", json!("a mistake"))]);
        record["machine"] = json!("liar");
        f.append(record);
        f.append(line);
        f.number_marks();
    }),
    ("a restored count is another", |f, r, _| {
        let at = f.some(r, "restore", |_| true);
        f.lines[at]["count"] = json!(f.lines[at]["count"].as_u64().unwrap() + 1);
    }),
    ("a restored count has other nodes", |f, r, _| change(f, r, "restore", "nodes", json!(1))),
    ("a restored count is of another machine", |f, r, _| change(f, r, "restore", "machine", json!("desk"))),
    ("a restored count is of another owner", |f, r, _| change(f, r, "restore", "owner", json!("bob"))),
    ("a restored count is of nobody's owner", |f, r, _| without(f, r, "restore", "owner")),
    ("a restored count is mirrored", |f, r, _| change(f, r, "restore", "mirrored", json!(true))),
    ("a count is restored twice", |f, r, _| {
        let at = f.some(r, "restore", |_| true);
        let record = f.lines[at].clone();
        f.insert_behind(r, at, record);
        f.number_marks();
    }),
    ("a count is restored that stands", |f, r, _| {
        let at = f.some(r, "count", |line| line.get("owner").is_none());
        let record = of_owner(&f.lines[at].clone(), "restore", &[]);
        f.append(record);
        f.number_marks();
    }),
    ("a count is restored although both are believed", |f, _, _| {
        // Eve has not lost yet.
        let first = f.all("restore")[0];
        let record = f.lines.remove(first);
        let of_unit = |line: &Line| line["kind"] == "retract" && line["unit"] == record["unit"];
        let at = f.lines.iter().position(of_unit).unwrap();
        f.lines.insert(at + 1, record);
        f.number_marks();
    }),
    ("a count is not restored", |f, r, _| remove(f, r, "restore", |_| true)),
    ("a conflict that quarantined is left out", |f, r, _| {
        remove(f, r, "conflict", |line| is(line, "owner", "eve"));
    }),
    ("an owner is expelled whose counts stand", |f, _, _| {
        f.append(expulsion("ada", None));
        f.number_marks();
    }),
    ("a machine is expelled whose counts stand", |f, _, _| {
        f.append(expulsion("ada", Some("rack")));
        f.number_marks();
    }),
    ("an expulsion is left out", |f, r, _| remove(f, r, "expel", |line| is(line, "owner", "mallory"))),
    ("another owner is expelled", |f, r, _| {
        let at = f.some(r, "expel", |line| is(line, "owner", "mallory"));
        f.lines[at]["owner"] = json!("malory");
    }),
    ("one machine is expelled instead of all", |f, r, _| {
        let at = f.some(r, "expel", |line| is(line, "owner", "mallory"));
        f.lines[at].insert("machine".into(), json!("m2"));
    }),
    ("what an expelled owner counted is counted again by its other machine", |f, r, _| {
        let at = f.some(r, "count", |line| is(line, "owner", "mallory") && is(line, "machine", "m1"));
        let unit = f.lines[at]["unit"].clone();
        let is_second = |line: &Line| {
            line.get("unit") == Some(&unit) && line["kind"] == "count" && is(line, "owner", "ada")
        };
        let at = f.some(r, "count", is_second);
        (f.lines[at]["owner"], f.lines[at]["machine"]) = (json!("mallory"), json!("m2"));
    }),
    ("three machines of an owner lost elsewhere whose counts stand", |f, r, _| {
        for machine in ["a1", "a2", "a3"] {
            let mut record = expulsion("ada", Some(machine));
            record.insert("lost".into(), json!(true));
            let at = r.random_range(0..f.lines.len());
            f.lines.insert(at, record);
        }
        f.number_marks();
    }),
    ("an expulsion says lost in words", |f, r, _| change(f, r, "expel", "lost", json!("yes"))),
    ("an expulsion has no reason", |f, r, _| without(f, r, "expel", "reason")),
    ("what two owners have counted is taken back without a reason", |f, r, _| {
        let at = f.some(r, "check", |line| is(line, "owner", "bob"));
        let unit = f.lines[at]["unit"].clone();
        let count = f.some(r, "count", |line| line.get("unit") == Some(&unit));
        let count = f.lines[count].clone();
        f.append(of_owner(&count, "retract", &[]));
        f.append(by(&count, "count", BOB, 0));
        f.number_marks();
    }),
    ("a believed owner's count is taken back for a quarantine", |f, r, _| {
        let at = f.some(r, "count", |line| is(line, "owner", "ada") && line["count"] != 0);
        let count = f.lines[at].clone();
        let unit = count["unit"].clone();
        f.lines.retain(|line| line.get("unit") != Some(&unit) || line["kind"] == "count");
        f.append(of_owner(&count, "retract", &[("quarantine", json!(true))]));
        f.append(by(&count, "count", BOB, 0));
        f.number_marks();
    }),
    ("somebody is believed again who was never expelled", |f, r, _| {
        let [name, value] = [["owner", "ada"], ["machine", "f2"]][r.random_range(0..2)];
        change(f, r, "admit", name, json!(value));
    }),
    ("an owner is believed again of whom one machine was expelled", |f, r, _| {
        without(f, r, "admit", "machine")
    }),
    ("who is expelled is believed before what it counted is taken back", |f, _, _| {
        let place =
            f.lines.iter().position(|line| is(line, "owner", "mallory") && line["kind"] == "expel").unwrap();
        let mut admitted = expulsion("mallory", None);
        admitted["kind"] = json!("admit");
        f.lines.insert(place + 1, admitted);
        f.number_marks();
    }),
    ("a reason is left out", |f, r, _| {
        let at = f.some(r, "retract", |line| line.contains_key("reason"));
        let unit = f.lines[at]["unit"].clone();
        f.lines.retain(|line| line.get("unit") != Some(&unit) || !line.contains_key("reason"));
        f.number_marks();
    }),
    ("a policy is none that there is", |f, r, _| {
        let policy = ["0%", "101%", "some", "-1%", ""][r.random_range(0..5)];
        change(f, r, "policy", "double_check", json!(policy));
    }),
    ("a merged run's hash is none", |f, r, _| change(f, r, "merged", "run", json!("0".repeat(31)))),
    ("a merged run has no head", |f, r, _| without(f, r, "merged", "head")),
    ("a record of these has a field that is not known", |f, r, _| {
        let kind = ["restore", "expel", "policy", "merged", "retract"][r.random_range(0..5)];
        change(f, r, kind, "weight", json!(1));
    }),
];

fn change(forgery: &mut Forgery, random: &mut StdRng, kind: &str, name: &str, value: Value) {
    let at = forgery.some(random, kind, |_| true);
    forgery.lines[at].insert(name.into(), value);
}

fn without(forgery: &mut Forgery, random: &mut StdRng, kind: &str, name: &str) {
    let at = forgery.some(random, kind, |_| true);
    forgery.lines[at].remove(name);
}

fn remove(forgery: &mut Forgery, random: &mut StdRng, kind: &str, suits: impl Fn(&Line) -> bool) {
    let at = forgery.some(random, kind, suits);
    forgery.lines.remove(at);
    forgery.number_marks();
}

fn is(line: &Line, name: &str, value: &str) -> bool {
    line.get(name).is_some_and(|found| found == value)
}
