//! Ways to lie in a ledger that is right in all its hashes. Each makes a sound and complete run unsound.

use queens::{Measure, Plan, PlanSpec, Summand, UnitId};
use rand::RngExt;
use rand::rngs::StdRng;
use serde_json::{Value, json};

use crate::forgery::{Forgery, Line, by_another, count_of, retraction, unit_of};

/// A lie with its name. Some leave the marks as they are, so each numbers them itself.
pub type Lie = (&'static str, fn(&mut Forgery, &mut StdRng, &Plan));

/// All of them.
pub const LIES: [Lie; 48] = [
    ("a count of completions is larger", |f, r, p| {
        let at = f.some(r, "count", |l| is_completions(p, l));
        add(f, at, r.random_range(1..5));
    }),
    ("a count of a constellation with symmetry is larger", |f, r, p| {
        let at = f.some(r, "count", |l| summand(p, l) != Summand::Asymmetric);
        add(f, at, r.random_range(1..5));
    }),
    ("two units have each other's count", |f, r, p| {
        let [a, b] = two_asymmetric(f, r, p);
        let (count, other) = (f.lines[a]["count"].clone(), f.lines[b]["count"].clone());
        (f.lines[a]["count"], f.lines[b]["count"]) = (other, count);
    }),
    ("two units have each other's number", |f, r, p| {
        let [a, b] = two_asymmetric(f, r, p);
        let (unit, other) = (f.lines[a]["unit"].clone(), f.lines[b]["unit"].clone());
        (f.lines[a]["unit"], f.lines[b]["unit"]) = (other, unit);
    }),
    ("one count is as much smaller as another is larger", |f, r, p| {
        let [a, b] = two_asymmetric(f, r, p);
        let more = r.random_range(1..=count_of(&f.lines[a]));
        add(f, a, -(more.cast_signed()));
        add(f, b, more.cast_signed());
    }),
    ("p is larger by two, which fits T", |f, r, p| {
        let at = f.some(r, "count", |l| measures(p, l, Measure::HalfTurn));
        add(f, at, 2);
    }),
    ("r is larger by a power of two, and p and T with it", |f, r, p| {
        let at = f.some(r, "count", |l| measures(p, l, Measure::QuarterTurn));
        let member = member(p, &f.lines[at]);
        let all: Vec<usize> =
            f.all("count").into_iter().filter(|at| self::member(p, &f.lines[*at]) == member).collect();
        all.into_iter().for_each(|at| add(f, at, 4));
    }),
    ("r is no multiple of its power of two", |f, r, p| {
        let at = f.some(r, "count", |l| measures(p, l, Measure::QuarterTurn));
        add(f, at, 2);
    }),
    ("two constellations have each other's p", |f, r, p| {
        let a = f.some(r, "count", |l| measures(p, l, Measure::HalfTurn));
        let count = count_of(&f.lines[a]);
        let b = f.some(r, "count", |l| measures(p, l, Measure::HalfTurn) && count_of(l) != count);
        f.lines[a]["count"] = count_of(&f.lines[b]).into();
        f.lines[b]["count"] = count.into();
    }),
    ("a count is left out", |f, r, _| {
        let at = f.some(r, "count", |_| true);
        f.lines.remove(at);
        f.number_marks();
    }),
    ("a count comes twice", |f, r, _| {
        let at = f.some(r, "count", |_| true);
        let record = f.lines[at].clone();
        f.insert_behind(r, at, record);
        f.number_marks();
    }),
    ("a unit is not in the plan", |f, r, p| {
        let at = f.some(r, "count", |_| true);
        f.lines[at]["unit"] = (p.units() + r.random_range(0..3)).into();
    }),
    ("a unit is named by another's number", |f, r, _| {
        let at = f.some(r, "count", |_| true);
        let other = f.some(r, "count", |l| unit_of(l) != unit_of(&f.lines[at]));
        f.lines[at]["unit"] = f.lines[other]["unit"].clone();
    }),
    ("all units are renumbered", |f, r, p| {
        let by = r.random_range(1..p.units());
        for line in f.lines.iter_mut().filter(|line| line.contains_key("unit")) {
            line["unit"] = ((unit_of(line) + by) % p.units()).into();
        }
    }),
    ("a check comes before its count", |f, r, _| {
        let at = f.some(r, "count", |_| true);
        let check = by_another(&f.lines[at], "check", "second", 0);
        f.lines.insert(at, check);
        f.number_marks();
    }),
    ("a check has another count", |f, r, _| {
        let at = f.some(r, "count", |_| true);
        let check = by_another(&f.lines[at], "check", "second", 1);
        f.append(check);
        f.number_marks();
    }),
    ("a check does not say of what", |f, r, _| {
        let at = f.some(r, "check", |_| true);
        f.lines[at].remove("of");
    }),
    ("a check is of a machine that has counted nothing", |f, r, _| {
        let at = f.some(r, "check", |_| true);
        f.lines[at]["of"] = "nobody".into();
    }),
    ("a check is of another owner's machine", |f, r, _| {
        let at = f.some(r, "check", |_| true);
        f.lines[at].insert("of_owner".into(), "mallory".into());
    }),
    ("a count is retracted and not replaced", |f, r, _| {
        let at = f.some(r, "count", |_| true);
        let record = retraction(&f.lines[at], r.random_bool(0.5));
        f.lines.retain(|line| line["kind"] != "check");
        f.append(record);
        f.number_marks();
    }),
    ("another count is retracted than stands", |f, r, _| {
        let at = f.some(r, "retract", |_| true);
        add(f, at, 1);
    }),
    ("a count is retracted twice", |f, r, _| {
        let at = f.some(r, "retract", |_| true);
        let record = f.lines[at].clone();
        f.lines.insert(at, record);
        f.number_marks();
    }),
    ("a count is retracted by another owner", |f, r, _| {
        let at = f.some(r, "retract", |_| true);
        f.lines[at].insert("owner".into(), "mallory".into());
    }),
    ("a confirmed count is retracted", |f, r, _| {
        let at = f.some(r, "check", |l| l["machine"] != l["of"]);
        let unit = unit_of(&f.lines[at]);
        let count = f.lines.iter().find(|l| l["kind"] == "count" && unit_of(l) == unit).unwrap().clone();
        f.append(retraction(&count, r.random_bool(0.5)));
        f.append(by_another(&count, "count", "third", 0));
        f.number_marks();
    }),
    ("the counts of a machine that was wrong stand", |f, r, _| {
        let at = f.some(r, "check", |l| l["machine"] != l["of"]);
        let machine = f.lines[at]["of"].as_str().unwrap().to_owned();
        let conflict = by_another(&f.lines[at], "conflict", &machine, 1);
        f.append(conflict);
        f.number_marks();
    }),
    ("two liars decide", |f, r, p| {
        let at = f.some(r, "count", |l| is_completions(p, l) && l["machine"] != "second");
        let count = f.lines[at].clone();
        f.lines.retain(|line| line["kind"] != "check" || unit_of(line) != unit_of(&count));
        f.append(by_another(&count, "conflict", "a", 1));
        f.append(retraction(&count, false));
        f.append(by_another(&count, "count", "b", 1));
        f.number_marks();
    }),
    ("a mark counts a record more", |f, r, _| {
        let at = f.some(r, "mark", |_| true);
        f.lines[at]["records"] = (f.lines[at]["records"].as_u64().unwrap() + 1).into();
    }),
    ("a mark counts fewer records", |f, r, _| {
        let at = f.some(r, "mark", |l| l["records"] != 0);
        f.lines[at]["records"] = r.random_range(0..f.lines[at]["records"].as_u64().unwrap()).into();
    }),
    ("a mark says more than it may", |f, r, _| {
        let at = f.some(r, "mark", |_| true);
        f.lines[at].insert("weight".into(), 2.into());
    }),
    ("the last marks are gone", |f, r, _| {
        let at = f.some(r, "mark", |_| true);
        let mut place = 0;
        f.lines.retain(|line| {
            place += 1;
            line["kind"] != "mark" || place <= at
        });
    }),
    ("the ledger is cut at a mark", |f, r, _| {
        let marks = f.all("mark");
        let at = marks[r.random_range(0..marks.len() - 1)];
        f.lines.truncate(at + 1);
    }),
    ("the plan is another", |f, r, _| {
        let grain = r.random_range(500..2_000);
        f.run["plan"] =
            json!({"n": 14, "scheme": "constellations", "grain": grain, "version": f.run["plan"]["version"]});
        name_plan(f);
    }),
    ("the plan is of the other scheme", |f, r, _| {
        let sides = r.random_range(0..4);
        let version = f.run["plan"]["version"].clone();
        f.run["plan"] =
            json!({"n": 14, "scheme": "families", "rows": 0, "group": 1, "sides": sides, "version": version});
        name_plan(f);
    }),
    ("the plan has another name", |f, r, _| {
        f.first = Some(format!("{:032x}", r.random::<u128>()));
        f.run["fingerprint"] = format!("{:032x}", r.random::<u128>()).into();
    }),
    ("the ledger is of another run", |f, r, _| {
        f.first = Some(format!("{:032x}", r.random::<u128>()));
    }),
    ("the run is a shard", |f, r, _| {
        let of = r.random_range(2..5);
        f.run["shard"] = json!({"index": 1, "of": of});
    }),
    ("a record is of an unknown kind", |f, r, _| {
        let at = f.some(r, "count", |_| true);
        f.lines[at]["kind"] = "guess".into();
    }),
    ("a record says more than it may", |f, r, _| {
        let at = f.some(r, "count", |_| true);
        f.lines[at].insert("weight".into(), 2.into());
    }),
    ("a record says less than it must", |f, r, _| {
        let at = f.some(r, "count", |_| true);
        let name = ["count", "nodes", "machine", "kernel", "worker", "at"][r.random_range(0..6)];
        f.lines[at].remove(name);
    }),
    ("a count is no number of completions", |f, r, _| {
        let at = f.some(r, "count", |_| true);
        let values: [Value; 6] =
            [u64::MAX.into(), (-1).into(), 7.5.into(), "7".into(), Value::Null, true.into()];
        f.lines[at]["count"] = values[r.random_range(0..values.len())].clone();
    }),
    ("there are more kernels than there can be", |f, r, _| {
        let counts = f.all("count");
        let first = r.random_range(0..counts.len() - 130);
        for (i, at) in counts[first..first + 130].iter().enumerate() {
            f.lines[*at]["kernel"] = format!("search/{i}").into();
        }
    }),
    ("terms go backwards", |f, r, _| {
        let term = r.random_range(2..9);
        for term in [term, r.random_range(1..=term)] {
            let record = json!({"kind": "term", "term": term, "coordinator": "00".repeat(16), "at": 1});
            f.append(record.as_object().unwrap().clone());
        }
        f.number_marks();
    }),
    ("a term begins a second time", |f, r, _| {
        let at = f.some(r, "term", |_| true);
        let again = f.lines[at].clone();
        f.insert_behind(r, at, again);
        f.number_marks();
    }),
    ("a term has a number that is none", |f, r, _| {
        let at = f.some(r, "term", |_| true);
        let none = [json!(0), json!(-1), json!(1.0), json!("1"), json!(2.0_f64.powi(64)), Value::Null];
        f.lines[at]["term"] = none[r.random_range(0..none.len())].clone();
    }),
    ("a term is opened by nobody", |f, r, _| {
        let at = f.some(r, "term", |_| true);
        let none =
            [json!(""), json!("0"), json!("0A".repeat(16)), json!("0a".repeat(17)), json!(7), Value::Null];
        f.lines[at]["coordinator"] = none[r.random_range(0..none.len())].clone();
    }),
    ("the key of a coordinator is none", |f, r, _| {
        let at = f.some(r, "term", |l| l.contains_key("key"));
        let none = [json!(""), json!("0a".repeat(31)), json!("0A".repeat(32)), json!([1]), Value::Null];
        f.lines[at]["key"] = none[r.random_range(0..none.len())].clone();
    }),
    ("a term says more than there is to say", |f, r, _| {
        let at = f.some(r, "term", |_| true);
        f.lines[at].insert("reason".into(), json!("none"));
    }),
    ("a file is missing", |f, r, _| f.second_file = Some(r.random_range(3..9))),
];

fn add(f: &mut Forgery, at: usize, more: i64) {
    f.lines[at]["count"] = count_of(&f.lines[at]).checked_add_signed(more).unwrap().into();
}

fn summand(plan: &Plan, line: &Line) -> Summand {
    plan.summand(UnitId(unit_of(line)))
}

fn member(plan: &Plan, line: &Line) -> Option<u32> {
    match summand(plan, line) {
        Summand::Asymmetric => None,
        Summand::Symmetric(member, _) => Some(member),
    }
}

fn measures(plan: &Plan, line: &Line, wanted: Measure) -> bool {
    matches!(summand(plan, line), Summand::Symmetric(_, measure) if measure == wanted)
}

fn is_completions(plan: &Plan, line: &Line) -> bool {
    summand(plan, line) == Summand::Asymmetric || measures(plan, line, Measure::Completions)
}

/// Two units with different counts, the first not 0, of constellations without symmetry.
fn two_asymmetric(f: &Forgery, random: &mut StdRng, plan: &Plan) -> [usize; 2] {
    let suits = |line: &Line| summand(plan, line) == Summand::Asymmetric;
    let a = f.some(random, "count", |line| suits(line) && count_of(line) > 0);
    let b = f.some(random, "count", |line| suits(line) && count_of(line) != count_of(&f.lines[a]));
    [a, b]
}

/// Sets the plan's fingerprint in the run to that of its specification.
fn name_plan(f: &mut Forgery) {
    let spec: PlanSpec = serde_json::from_value(f.run["plan"].clone()).unwrap();
    f.run["fingerprint"] = Plan::derive(spec).unwrap().fingerprint().to_string().into();
}
