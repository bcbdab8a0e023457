//! Random histories of a few units, valid and invalid. Owners contradict, confirm, retract, restore and expel
//! each other in random order; one owner may have no name. Both verifiers must agree on each history.

use std::collections::BTreeMap;

use queens::{Plan, Summand, UnitId};
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use records::run_directory::RunDirectory;
use serde_json::{Value, json};

use crate::check::check;
use crate::forgery::{Forgery, Line, unit_of};
use crate::harness::{Folder, repetitions};
use crate::owner_lies::{by, of_owner};
use crate::tools;

const MAKERS: [(&str, &str); 8] = [
    ("ada", "1"),
    ("ada", "2"),
    ("ada", "3"),
    ("ben", "1"),
    ("ben", "2"),
    ("cho", "1"),
    ("", "1"),
    ("", "4"),
];

/// An invented ledger, and the apparent state of a few of its units.
struct History {
    forgery: Forgery,
    /// The true counts of these, as they were made.
    units: Vec<Line>,
    standing: BTreeMap<u64, Line>,
    votes: BTreeMap<u64, Vec<Line>>,
    terms: u64,
}

impl History {
    /// After the counts of all other units.
    fn begin(mut forgery: Forgery, units: &[UnitId]) -> Self {
        let is_theirs = |line: &Line| line.contains_key("unit") && units.contains(&UnitId(unit_of(line)));
        let (theirs, others): (Vec<Line>, _) = forgery.lines.into_iter().partition(is_theirs);
        let units = theirs.into_iter().filter(|line| line["kind"] == "count").collect();
        forgery.lines = others;
        Self { forgery, units, standing: BTreeMap::new(), votes: BTreeMap::new(), terms: 1 }
    }

    /// Something that may happen next.
    fn goes_on(&mut self, random: &mut StdRng) {
        let line = self.units.choose(random).unwrap().clone();
        let (unit, maker) = (unit_of(&line), *MAKERS.choose(random).unwrap());
        let more = *[0, 0, 0, 1, 2].choose(random).unwrap();
        let kernel = *["search/avx2", "search/avx2", "meet/avx2", "orbits"].choose(random).unwrap();
        let is_mirrored = random.random_bool(0.3);
        let nodes = *[7, 7, 7, 9].choose(random).unwrap();
        let made = |of: &Line, kind: &str, more: u64| {
            let mut record = by(of, kind, maker, more);
            (record["kernel"], record["nodes"]) = (kernel.into(), nodes.into());
            record.shift_remove("mirrored");
            record.extend(is_mirrored.then(|| ("mirrored".to_owned(), json!(true))));
            record
        };
        let (standing, votes) = (self.standing.get(&unit).cloned(), self.votes.entry(unit).or_default());
        let record = match (random.random_range(0..11), standing) {
            (0..3, None) => {
                votes.clear();
                let count = made(&line, "count", more);
                self.standing.insert(unit, count.clone());
                count
            }
            (0..2, Some(standing)) => made(&standing, "check", 0),
            (2..4, Some(standing)) => {
                let conflict = made(&standing, "conflict", 1 + more);
                votes.push(conflict.clone());
                conflict
            }
            (3..5, None) => {
                let conflict = made(&line, "conflict", more);
                votes.push(conflict.clone());
                conflict
            }
            (4..9, Some(standing)) => {
                let why = *[None, None, Some(("quarantine", true)), Some(("reason", false))]
                    .choose(random)
                    .unwrap();
                let why = why.map(|(name, flag)| (name, if flag { json!(true) } else { json!("a mistake") }));
                if why.is_none() {
                    votes.push(standing.clone());
                }
                self.standing.remove(&unit);
                of_owner(&standing, "retract", why.as_slice())
            }
            (5..9, None) if !votes.is_empty() => {
                let vote = votes.choose(random).unwrap().clone();
                self.standing.insert(unit, vote.clone());
                of_owner(&vote, "restore", &[])
            }
            _ if random.random_bool(0.2) => {
                self.terms += 1;
                let term =
                    json!({"kind": "term", "term": self.terms, "coordinator": "a".repeat(32), "at": 9});
                serde_json::from_value(term).unwrap()
            }
            _ => whom(random),
        };
        self.forgery.append(record);
    }

    /// Adds right counts of the missing units by another machine.
    fn end(mut self) -> Forgery {
        for line in self.units.iter().filter(|line| !self.standing.contains_key(&unit_of(line))) {
            self.forgery.append(by(line, "count", ("zoe", "last"), 0));
        }
        self.forgery.number_marks();
        self.forgery
    }
}

/// Somebody is not believed any more, or again.
fn whom(random: &mut StdRng) -> Line {
    let (owner, machine) = *MAKERS.choose(random).unwrap();
    let kind = *["expel", "expel", "admit"].choose(random).unwrap();
    let mut record = json!({"kind": kind, "reason": "as it comes", "at": 9});
    if !owner.is_empty() {
        record["owner"] = owner.into();
    }
    if random.random_bool(0.7) {
        record["machine"] = machine.into();
        if kind == "expel" && random.random_bool(0.3) {
            record["lost"] = true.into();
        }
    }
    serde_json::from_value(record).unwrap()
}

#[test]
fn verifiers_agree_on_random_histories() {
    if !tools::is_there("python3") {
        return;
    }
    let folder = Folder::new();
    // A shard has no known total, so a verifier cannot see wrong standing counts.
    folder.run("count 8 --shard 1/2 --run counted --quiet");
    let counted = folder.path().join("counted");
    let plan = Plan::derive(RunDirectory::open(&counted).unwrap().run().plan).unwrap();
    let forgery = Forgery::of(&counted);
    let counts: Vec<UnitId> =
        forgery.all("count").iter().map(|at| UnitId(unit_of(&forgery.lines[*at]))).collect();
    let are_symmetric = |unit: &UnitId| plan.summand(*unit).is_symmetric_count();
    let symmetric: Vec<UnitId> = counts.iter().copied().filter(are_symmetric).take(1).collect();
    let asymmetric = counts.into_iter().filter(|unit| plan.summand(*unit) == Summand::Asymmetric);
    let units: Vec<UnitId> = asymmetric.take(2).chain(symmetric).collect();
    assert_eq!(units.len(), 3);
    let histories = repetitions("DIADEM_HISTORIES", 1500);
    let runs: Vec<String> = (0..histories).map(|seed| format!("h{seed}")).collect();
    for (run, seed) in runs.iter().zip(0..) {
        let mut random = StdRng::seed_from_u64(seed);
        let mut history = History::begin(forgery.clone(), &units);
        for _ in 0..random.random_range(2..9) {
            history.goes_on(&mut random);
        }
        history.end().write(&folder.path().join(run));
    }
    let outcome = check(&folder, &format!("--json --recount 0 {}", runs.join(" ")));
    let mut sound = 0;
    let mut differing = Vec::new();
    for (run, line) in runs.iter().zip(outcome.stdout.lines()) {
        let report: Value = serde_json::from_str(line).unwrap();
        let verified = folder.run(&format!("verify {run} --recount 0 --json"));
        let said: Value = serde_json::from_str(&verified.stdout).unwrap_or_default();
        sound += u64::from(report["sound"] == true);
        let is_sound = verified.code == Some(0);
        let confirmed = [&said, &report].map(|found| found["ledger"]["confirmed"].as_u64());
        if is_sound != (report["sound"] == true) || (is_sound && confirmed[0] != confirmed[1]) {
            let stderr = verified.stderr.trim();
            differing.push(format!("{run}: {stderr} against {}, {confirmed:?} confirmed", report["wrong"]));
        }
        assert!(!is_sound || confirmed[0].is_some(), "{said}");
    }
    assert_eq!(outcome.stdout.lines().count(), runs.len(), "{outcome:?}");
    println!("{sound} of {histories} histories are sound");
    assert!(differing.is_empty(), "{differing:#?}");
    assert!(sound > u64::from(histories) / 10, "{sound} of {histories} are sound");
}

/// The two units of a symmetric constellation: its half-turn count, and all completions.
fn units_of_a_member(plan: &Plan) -> [u64; 2] {
    let mut members: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
    for range in plan.unit_ranges() {
        if let Summand::Symmetric(member, _) = range.summand {
            members.entry(member).or_default().extend(range.units);
        }
    }
    let of_two = members.into_values().find_map(|units| units.try_into().ok());
    of_two.expect("a constellation that the half turn alone fixes, in one piece")
}

/// Ledgers that only one verifier once accepted, and whether each is sound.
#[test]
fn verifiers_agree_on_past_disagreements() {
    if !tools::is_there("python3") {
        return;
    }
    let folder = Folder::new();
    folder.run("count 12 --run counted --quiet");
    let counted = folder.path().join("counted");
    let plan = Plan::derive(RunDirectory::open(&counted).unwrap().run().plan).unwrap();
    let forgery = Forgery::of(&counted);
    let counts = forgery.all("count");
    let count = |unit: u64| {
        let is_of = |at: &&usize| unit_of(&forgery.lines[**at]) == unit;
        forgery.lines[*counts.iter().find(is_of).unwrap()].clone()
    };
    let [half_turn, completions] = units_of_a_member(&plan).map(count);
    let other = forgery.lines[*counts.last().unwrap()].clone();
    let retract = |line: &Line, why: (&str, Value)| of_owner(line, "retract", &[why]);
    let (by_operator, contradicts) = (("reason", json!("a mistake")), ("contradiction", json!(true)));
    let wrong = by(&completions, "count", ("ada", "1"), 1);
    let again = |machine: &str| [&half_turn, &completions].map(|line| by(line, "count", ("ben", machine), 0));
    let [_, resolved] = again("1");
    // A search whose kernel is named by its method alone, with those nodes.
    let search = |kind: &str, maker, nodes: u64| {
        let mut record = by(&other, kind, maker, 0);
        (record["kernel"], record["nodes"]) = ("search".into(), nodes.into());
        record
    };
    let expelled = json!({"kind": "expel", "owner": "ben", "reason": "its key was stolen", "at": 9});
    let expelled: Line = serde_json::from_value(expelled).unwrap();
    let ada = search("conflict", ("ada", "1"), 5);
    let mut drawn = by(&other, "count", ("ada", "1"), 0);
    drawn.insert("recount".into(), json!({"symmetric": null}));
    let policy = json!({"kind": "policy", "double_check": "0.0000000000001%", "at": 9});
    let taken_back = retract(&other, by_operator.clone());
    let cases: [(&str, bool, Vec<Line>); 6] = [
        ("a contradiction of which one count was taken back", true, {
            let before = [retract(&completions, by_operator.clone()), wrong.clone()];
            let both = [retract(&half_turn, by_operator.clone()), retract(&wrong, contradicts.clone())];
            [&before[..], &both, &again("2")].concat()
        }),
        ("a contradiction that there was", false, {
            let before = [retract(&completions, by_operator.clone()), wrong.clone()];
            let over = [retract(&wrong, contradicts.clone()), resolved.clone()];
            let both = [retract(&half_turn, by_operator.clone()), retract(&resolved, contradicts)];
            [&before[..], &over, &both, &again("2")].concat()
        }),
        ("a search whose other nodes confirm nothing", false, {
            vec![taken_back.clone(), ada.clone(), search("count", ("ben", "1"), 6), expelled.clone()]
        }),
        ("a search whose other nodes contradict", true, {
            let ben = search("conflict", ("ben", "1"), 6);
            vec![taken_back.clone(), ada.clone(), ben, expelled, of_owner(&ada, "restore", &[])]
        }),
        ("a reason that is an object", false, vec![taken_back, drawn]),
        ("a share that is rounded to nothing", false, vec![serde_json::from_value(policy).unwrap()]),
    ];
    let runs: Vec<String> = (0..cases.len()).map(|case| format!("c{case}")).collect();
    for (run, (_, _, records)) in runs.iter().zip(&cases) {
        let mut forgery = forgery.clone();
        records.iter().for_each(|record| forgery.append(record.clone()));
        forgery.number_marks();
        forgery.write(&folder.path().join(run));
    }
    let outcome = check(&folder, &format!("--json --recount 0 {}", runs.join(" ")));
    for ((run, (name, is_sound, _)), line) in runs.iter().zip(&cases).zip(outcome.stdout.lines()) {
        let report: Value = serde_json::from_str(line).unwrap();
        let verified = folder.run(&format!("verify {run} --recount 0"));
        let said = (verified.code, &report["sound"]);
        assert_eq!(
            said,
            (Some(if *is_sound { 0 } else { 3 }), &json!(is_sound)),
            "{name}: {report} {verified:?}"
        );
    }
}
