use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use queens::UnitId;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use tempfile::TempDir;

use super::*;
use crate::assurance::assess;
use crate::audit::{Audit, audit};
use crate::bound::wrong_at_most;
use crate::double_check::DoubleCheck;
use crate::ledger::{
    Admission, Expulsion, LineHash, MergedRun, Policy, Record, Recount, Replicas, Restoration, Retraction,
    UnitRecord,
};
use crate::signing::SigningKey;
use crate::standing::{Standing, UnitMark, Vote};
use crate::testing::known_run::{self, unit_record};

/// A folder with parts in it.
struct Parts(TempDir);

impl Parts {
    fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// A run of that shard with these records.
    fn write(&self, name: &str, shard: &str, records: &[Record]) -> PathBuf {
        let path = self.path(name);
        let options = OpenOptions { shard: shard.parse().unwrap(), ..known_run::options(&path) };
        let (mut store, _, _) = Store::open(options).unwrap();
        store.commit(records, Duration::from_secs(7), 2).unwrap();
        path
    }

    /// What merges have left or are writing.
    fn drafts(&self) -> Vec<PathBuf> {
        let paths = fs::read_dir(self.0.path()).unwrap().map(|entry| entry.unwrap().path());
        paths.filter(|path| path.to_string_lossy().contains(".merging-")).collect()
    }

    fn merge(&self, parts: &[PathBuf]) -> (Merged, Audit) {
        let out = self.path("out");
        let merged = merge(&out, parts).unwrap();
        assert_eq!(self.drafts(), Vec::<PathBuf>::new());
        let audit = audit(&RunDirectory::open(&out).unwrap()).unwrap();
        assert_eq!((audit.standing.done(), audit.missing), (merged.done, merged.missing));
        let signs = SigningKey::open(&SigningKey::file_of_run(&out)).unwrap().public();
        assert_eq!(audit.keys.keys().collect::<Vec<_>>(), [&signs], "the ledger names whose key signs");
        (merged, audit)
    }
}

/// The true counts of these units by that machine.
fn counts(units: impl Iterator<Item = u64>, machine: &str) -> Vec<Record> {
    units.map(|unit| Record::Count(unit_record(unit, 0, machine))).collect()
}

fn check(unit: u64, machine: &str, of: &str) -> Record {
    Record::Check(UnitRecord { of: Some(of.to_owned()), ..unit_record(unit, 0, machine) })
}

fn titles(standing: &Standing) -> Vec<String> {
    let mut titles: Vec<String> =
        standing.sums().machines.quarantined().map(crate::standing::Machine::title).collect();
    titles.sort();
    titles
}

/// The liar counts a unit wrong, and two other machines contradict it.
fn lie(unit: u64) -> Vec<Record> {
    let lie = unit_record(unit, 1, "liar");
    vec![
        Record::Count(UnitRecord { recount: Some(Recount::Sample), ..lie.clone() }),
        Record::Conflict(unit_record(unit, 0, "first")),
        known_run::retraction(&lie),
        Record::Count(unit_record(unit, 0, "second")),
    ]
}

fn units() -> u64 {
    known_run::plan().units()
}

#[test]
fn counts_of_machine_wrong_in_other_part_are_open() {
    let parts = Parts::new();
    let policy = |double_check| {
        Record::Policy(Policy { double_check, require_owners: None, own_checks: None, reason: None, at: 1 })
    };
    let mut first = vec![policy(DoubleCheck::All)];
    first.extend(lie(0));
    first.extend(counts((2..units()).step_by(2), "first"));
    let mut second = vec![policy(DoubleCheck::Share(0.5))];
    second.extend(counts((1..units()).step_by(2).take(3), "liar"));
    second.push(check(3, "second", "liar"));
    second.extend(counts((1..units()).step_by(2).skip(3), "first"));
    let runs = [parts.write("a", "1/2", &first), parts.write("b", "2/2", &second)];
    for order in [[0, 1], [1, 0]] {
        let (merged, audit) = parts.merge(&order.map(|part| runs[part].clone()));
        let standing = &audit.standing;
        assert_eq!((merged.left_out, merged.done, merged.missing), (2, units() - 2, Some(UnitId(1))));
        assert!(standing.is(UnitMark::TwoMachines, UnitId(3)) && !standing.is_done(UnitId(5)));
        assert!(standing.is(UnitMark::TwoMachines, UnitId(0)));
        let sums = standing.sums();
        assert_eq!((titles(standing), sums.conflicts, sums.refuted), (vec!["liar".to_owned()], 1, 1));
        assert_eq!((sums.policy, standing.unbelieved()), (Some(DoubleCheck::Share(0.5)), 0));
        assert_eq!((audit.tail.end.mark.elapsed_ms, audit.tail.end.mark.threads), (14_000, 2));
        fs::remove_dir_all(parts.path("out")).unwrap();
    }
}

#[test]
fn joint_run_requires_two_owners_where_all_parts_do() {
    let parts = Parts::new();
    let part = |name, shard, require_owners, units: Vec<u64>| {
        let double_check = DoubleCheck::None;
        let policy =
            Record::Policy(Policy { double_check, require_owners, own_checks: None, reason: None, at: 1 });
        let records: Vec<_> = [policy].into_iter().chain(counts(units.into_iter(), "first")).collect();
        parts.write(name, shard, &records)
    };
    for (other, joint) in [(Some(2), Some(2)), (None, None)] {
        let runs = [
            part("a", "1/2", Some(2), (0..units()).step_by(2).collect()),
            part("b", "2/2", other, (1..units()).step_by(2).collect()),
        ];
        let (_, audit) = parts.merge(&runs);
        assert_eq!(audit.standing.sums().require_owners, joint);
        ["a", "b", "out"].iter().for_each(|name| fs::remove_dir_all(parts.path(name)).unwrap());
    }
}

#[test]
fn merged_bound_is_of_part_with_smallest_sample() {
    let parts = Parts::new();
    let policy = |double_check| {
        Record::Policy(Policy { double_check, require_owners: None, own_checks: None, reason: None, at: 1 })
    };
    let drawn = |unit: u64| {
        let sample = UnitRecord { recount: Some(Recount::Sample), ..unit_record(unit, 0, "first") };
        [Record::Count(sample), check(unit, "second", "first")]
    };
    let mut most = vec![policy(DoubleCheck::Share(0.5))];
    most.extend((0..units()).step_by(2).flat_map(drawn));
    let mut least = vec![policy(DoubleCheck::Share(0.05))];
    least.extend(counts((1..units()).step_by(2), "first"));
    least.push(policy(DoubleCheck::All));
    let runs = [parts.write("a", "1/2", &most), parts.write("b", "2/2", &least)];
    for order in [[0, 1], [1, 0]] {
        let (_, audit) = parts.merge(&order.map(|part| runs[part].clone()));
        let standing = &audit.standing;
        let sampled = units().div_ceil(2);
        assert_eq!((standing.policy(), standing.sums().sampled), (DoubleCheck::Share(0.5), sampled));
        assert_eq!(assess(standing, standing.policy()).wrong_at_most, wrong_at_most(sampled / 10, 0));
        fs::remove_dir_all(parts.path("out")).unwrap();
    }
}

#[test]
fn merged_run_takes_most_replicas_of_its_parts() {
    let parts = Parts::new();
    let replicas = |replicas| Record::Replicas(Replicas { replicas, reason: None, at: 1 });
    let even = counts((0..units()).step_by(2), "first");
    let odd = counts((1..units()).step_by(2), "first");
    let waits = |said: &[u32], counts: &[Record]| {
        said.iter().map(|k| replicas(*k)).chain(counts.iter().cloned()).collect::<Vec<_>>()
    };
    for (one, other, most) in [(&[3, 2][..], &[1][..], 2), (&[], &[1], 1), (&[1, 0], &[], 0)] {
        let runs =
            [parts.write("a", "1/2", &waits(one, &even)), parts.write("b", "2/2", &waits(other, &odd))];
        let (merged, audit) = parts.merge(&runs);
        assert_eq!((merged.replicas, audit.standing.replicas(None)), (most, most));
        for folder in ["a", "b", "out"] {
            fs::remove_dir_all(parts.path(folder)).unwrap();
        }
    }
}

#[test]
fn parts_that_differ_leave_a_dispute_with_both_votes() {
    let parts = Parts::new();
    let wrong = Record::Count(unit_record(4, 1, "wrong"));
    let runs = [
        parts.write("a", "1/1", &counts(0..units(), "first")),
        parts.write("b", "1/1", &[vec![wrong], counts(5..9, "second")].concat()),
    ];
    let (merged, audit) = parts.merge(&runs);
    assert_eq!((merged.disputed, merged.repeated, merged.missing), (1, 4, Some(UnitId(4))));
    let told = merged.differences[0].to_string();
    assert!(told.contains("unit 4: ") && told.contains("by wrong, another run"), "{told}");
    assert_eq!(audit.standing.votes(UnitId(4)).count(), 2);
    // A third machine decides.
    let (mut store, mut standing, _) = Store::open(known_run::options(&parts.path("out"))).unwrap();
    let decides = Record::Count(unit_record(4, 0, "third"));
    store.commit(std::slice::from_ref(&decides), Duration::ZERO, 1).unwrap();
    standing.apply(&known_run::plan(), Shard::default(), &decides).unwrap();
    assert_eq!((titles(&standing), standing.done()), (vec!["wrong".to_owned()], units()));
}

#[test]
fn repeated_merge_of_same_runs_returns_same_result() {
    let parts = Parts::new();
    let mut runs = vec![
        parts.write("a", "1/1", &counts(0..7, "first")),
        parts.write("b", "1/1", &counts(5..9, "second")),
    ];
    let (first, audit) = parts.merge(&runs);
    runs.reverse();
    let (again, unchanged) = parts.merge(&runs);
    assert_eq!(again, Merged { was_there: true, ..first });
    assert_eq!(unchanged.tail.end, audit.tail.end);
    let refused = |runs: &[PathBuf]| matches!(merge(&parts.path("out"), runs), Err(MergeError::Occupied(_)));
    assert!(refused(&runs[..1]));
    let other = parts.write("c", "1/1", &counts(5..9, "second"));
    assert!(refused(&[runs[1].clone(), other]));
    let (mut store, _, _) = Store::open(known_run::options(&runs[0])).unwrap();
    store.commit(&counts(9..10, "second"), Duration::ZERO, 1).unwrap();
    drop(store);
    assert!(refused(&runs), "one of them has gone on");
}

#[test]
#[cfg(target_os = "linux")]
fn mount_point_is_refused_as_merge_output() {
    let parts = Parts::new();
    let refused = merge(Path::new("/proc"), &[parts.write("a", "1/1", &counts(0..7, "first"))]).unwrap_err();
    assert!(refused.to_string().starts_with("/proc is a mount point, "), "{refused}");
    assert!(refused.to_string().ends_with("name a directory in it, as /proc/joint"), "{refused}");
}

#[test]
fn three_losers_in_three_parts_expel_their_owner() {
    let parts = Parts::new();
    let own = |mut r: UnitRecord, owner: &str| {
        r.owner = owner.to_owned();
        r
    };
    let part = |number: u64| {
        let liar = format!("m{number}");
        let lied = own(unit_record(number, 1, &liar), "mallory");
        let Record::Retract(retraction) = known_run::retraction(&lied) else { unreachable!("it is one") };
        vec![
            Record::Count(lied),
            Record::Conflict(own(unit_record(number, 0, "a"), "ada")),
            Record::Retract(Retraction { owner: "mallory".to_owned(), ..retraction }),
            Record::Count(own(unit_record(number, 0, "b"), "bob")),
            Record::Count(own(unit_record(number + 3, 0, "other"), "mallory")),
        ]
    };
    let runs: Vec<PathBuf> =
        (0..3).map(|i| parts.write(&i.to_string(), &format!("{}/3", i + 1), &part(i))).collect();
    let (merged, audit) = parts.merge(&runs);
    assert_eq!((merged.left_out, merged.done), (3, 3));
    assert_eq!(audit.standing.sums().machines.expelled().collect::<Vec<_>>(), ["mallory"]);
}

#[test]
fn failed_or_killed_merge_leaves_no_result() {
    let parts = Parts::new();
    let runs = [
        parts.write("a", "1/2", &counts((0..units()).step_by(2), "first")),
        parts.write("b", "2/2", &counts((1..units()).step_by(2), "first")),
    ];
    // The remains of a killed merge, beside the draft of a running merge and a directory with a similar name.
    let [left, used, run] =
        ["out.merging-0123", "out.merging-4567", "out.merging"].map(|name| parts.path(name));
    for path in [&left, &used, &run] {
        Store::open(known_run::options(path)).unwrap();
    }
    fs::write(left.join("merging"), "").unwrap();
    let mark = fs::File::create(used.join("merging")).unwrap();
    mark.lock().unwrap();
    let ledger = parts.path("b/ledger/000001.jsonl");
    let whole = fs::read(&ledger).unwrap();
    fs::write(&ledger, [&whole[..200], &whole[201..]].concat()).unwrap();
    assert!(matches!(merge(&parts.path("out"), &runs), Err(MergeError::Ledger(_))));
    assert!(!parts.path("out").exists());
    fs::write(&ledger, whole).unwrap();
    merge(&parts.path("another"), &runs).unwrap();
    assert_eq!(parts.drafts().len(), 2, "of another name");
    merge(&parts.path("out"), &runs).unwrap();
    assert_eq!(parts.drafts(), [&*used], "another process is writing there");
    drop(mark);
    fs::remove_dir_all(parts.path("out")).unwrap();
    let (merged, _) = parts.merge(&runs);
    assert_eq!(merged.done, units());
    assert!(run.join("run.json").exists() && !parts.path("out/merging").exists());
    assert!(matches!(merge(&parts.path("out"), &runs[..1]), Err(MergeError::Occupied(_))));
    fs::create_dir_all(parts.path("other/thing")).unwrap();
    assert!(matches!(merge(&parts.path("other"), &runs), Err(MergeError::NotEmpty(_))));
    fs::create_dir(parts.path("empty")).unwrap();
    merge(&parts.path("empty"), &runs).unwrap();
    let within = merge(&parts.path("a/ledger/out"), &runs);
    assert!(matches!(within, Err(MergeError::Within { .. })), "{within:?}");
}

#[test]
fn only_one_of_concurrent_merges_to_one_name_writes() {
    let parts = Parts::new();
    let runs = [
        parts.write("a", "1/2", &counts((0..units()).step_by(2), "first")),
        parts.write("b", "2/2", &counts((1..units()).step_by(2), "first")),
    ];
    for round in 0..8 {
        let out = parts.path(&round.to_string());
        let merged: Vec<_> = std::thread::scope(|scope| {
            let merging: Vec<_> = (0..4).map(|_| scope.spawn(|| merge(&out, &runs))).collect();
            merging.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let wrote =
            merged.iter().filter(|merged| merged.as_ref().is_ok_and(|merged| !merged.was_there)).count();
        assert!(wrote == 1 && merged.iter().all(Result::is_ok), "{merged:?}");
        assert_eq!((audit_of(&out).done(), parts.drafts()), (units(), Vec::new()));
    }
}

#[test]
fn merged_counts_do_not_depend_on_order_of_parts() {
    let parts = Parts::new();
    let wrong = Expulsion {
        owner: String::new(),
        machine: Some("node7".to_owned()),
        lost: false,
        suspended: false,
        reason: "its memory is broken".to_owned(),
        at: 9,
    };
    let halves = [0, 1].map(|first| (first..units()).step_by(2));
    let [even, odd] = &halves;
    let counted = counts(even.clone(), "node7");
    let struck = [counts(odd.clone(), "node8"), vec![Record::Expel(wrong)]].concat();
    let again = counts(even.clone(), "node9");
    let runs = [("a", "1/2", counted), ("b", "2/2", struck), ("c", "1/2", again)];
    let runs = runs.map(|(name, shard, records)| parts.write(name, shard, &records));
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let (merged, _) = parts.merge(&order.map(|part| runs[part].clone()));
        let by_node7 = even.clone().count() as u64;
        assert_eq!((merged.done, merged.left_out, merged.repeated), (units(), by_node7, 0), "{order:?}");
        fs::remove_dir_all(parts.path("out")).unwrap();
    }
}

/// A count by this owner.
fn by(owner: &str, r: UnitRecord) -> UnitRecord {
    UnitRecord { owner: owner.to_owned(), ..r }
}

fn expelled(machine: Option<&str>) -> Record {
    let (machine, reason) = (machine.map(str::to_owned), "lost".to_owned());
    Record::Expel(Expulsion { owner: String::new(), machine, lost: false, suspended: false, reason, at: 9 })
}

#[test]
fn part_that_expels_owner_cannot_replace_its_counts() {
    let parts = Parts::new();
    let [even, odd] = [0, 1].map(|first| counts((first..units()).step_by(2), "first"));
    // All units. One is wrong, and another is a dispute in which only ada's wrong vote remains.
    let (wrong, at_odds) = (4, 5);
    let mut forged: Vec<Record> = (0..units())
        .filter(|unit| *unit != at_odds)
        .map(|unit| Record::Count(by("ada", unit_record(unit, u64::from(unit == wrong), "a"))))
        .collect();
    let other = unit_record(at_odds, 0, "other");
    forged.push(Record::Count(other.clone()));
    forged.push(Record::Conflict(by("ada", unit_record(at_odds, 1, "a"))));
    forged.extend([known_run::retraction(&other), expelled(None)]);
    let runs = [("a", "1/2", even), ("b", "2/2", odd), ("forged", "1/1", forged)];
    let runs = runs.map(|(name, shard, records)| parts.write(name, shard, &records));
    for order in [[0, 1, 2], [2, 0, 1], [1, 2, 0]] {
        let (merged, audit) = parts.merge(&order.map(|part| runs[part].clone()));
        let standing = &audit.standing;
        assert_eq!((merged.left_out, merged.disputed, merged.done), (units(), 2, units() - 2), "{order:?}");
        let told = merged.disbeliefs.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(told, [format!("{} does not believe the owner without a name", runs[2].display())]);
        assert_eq!(merged.differences.len(), 1, "{:?}", merged.differences);
        for unit in [wrong, at_odds].map(UnitId) {
            assert_eq!((standing.votes(unit).count(), standing.unopposed(unit)), (1, None), "{order:?}");
        }
        assert_eq!(standing.sums().conflicts, 3, "those of the dispute, and two who differ");
        fs::remove_dir_all(parts.path("out")).unwrap();
    }
}

#[test]
fn confirmed_count_of_expelled_machine_is_disputed() {
    let parts = Parts::new();
    let confirmed = [counts(0..units(), "first"), vec![check(4, "second", "first")]].concat();
    let forged = vec![Record::Count(by("ada", unit_record(4, 1, "a"))), expelled(Some("first"))];
    let runs = [parts.write("a", "1/1", &confirmed), parts.write("forged", "1/1", &forged)];
    for order in [[0, 1], [1, 0]] {
        let (merged, audit) = parts.merge(&order.map(|part| runs[part].clone()));
        assert_eq!((merged.disputed, merged.left_out, merged.done), (1, units() - 1, 0), "{order:?}");
        assert_eq!((audit.standing.unopposed(UnitId(4)), audit.standing.sums().conflicts), (None, 2));
        fs::remove_dir_all(parts.path("out")).unwrap();
    }
}

#[test]
fn forged_conflict_count_hides_no_other_conflicts() {
    let parts = Parts::new();
    let head = LineHash::of(b"");
    let any = MergedRun { run: head, records: 0, head, conflicts: u64::MAX, refuted: u64::MAX, at: 9 };
    let forged = [vec![Record::Merged(any)], lie(1)].concat();
    let runs = [parts.write("a", "1/2", &lie(0)), parts.write("forged", "2/2", &forged)];
    let (_, audit) = parts.merge(&runs);
    let sums = audit.standing.sums();
    assert_eq!((sums.conflicts, sums.refuted), (u64::MAX, u64::MAX));
}

/// A record of some kind that may stand next, or not.
fn random_record(random: &mut StdRng, standing: &Standing, shard: Shard) -> Record {
    let all: Vec<UnitId> = shard.units(units()).take(12).collect();
    let unit = *all.choose(random).unwrap();
    let owner = *["", "p", "q"].choose(random).unwrap();
    let machine = *["one", "two"].choose(random).unwrap();
    let mut r = unit_record(unit.0, u64::from(random.random_bool(0.2)), machine);
    r.owner = owner.to_owned();
    r.mirrored = random.random_bool(0.3);
    let vote = standing.vote(unit).or_else(|| standing.votes(unit).next().copied());
    let told = vote.map(|vote| (vote, standing.retraction(unit, &vote, 5)));
    match random.random_range(0..100) {
        0..50 => {
            r.recount = *[None, Some(Recount::Sample), Some(Recount::All)].choose(random).unwrap();
            Record::Count(r)
        }
        50..70 => {
            if let Some((vote, told)) = told {
                (r.of, r.of_owner, r.count) = (Some(told.machine), told.owner, vote.count);
            }
            Record::Check(r)
        }
        70..85 => Record::Conflict(r),
        85..97 if told.is_some() => {
            let (_, told) = told.unwrap();
            match random.random_range(0..4) {
                0 => Record::Retract(told),
                1 => Record::Retract(Retraction { quarantine: true, ..told }),
                2 => Record::Retract(Retraction { reason: Some("why".to_owned()), ..told }),
                _ => Record::Restore(Restoration {
                    unit,
                    count: told.count,
                    nodes: told.nodes,
                    owner: told.owner,
                    machine: told.machine,
                    kernel: told.kernel,
                    mirrored: told.mirrored,
                    recount: Some(Recount::All),
                    at: 5,
                }),
            }
        }
        97 | 98 => Record::Admit(Admission {
            owner: owner.to_owned(),
            machine: random.random_bool(0.7).then(|| machine.to_owned()),
            reason: "why".to_owned(),
            at: 5,
        }),
        _ => Record::Expel(Expulsion {
            owner: owner.to_owned(),
            machine: random.random_bool(0.9).then(|| machine.to_owned()),
            lost: false,
            suspended: false,
            reason: "why".to_owned(),
            at: 5,
        }),
    }
}

/// A random valid sequence of records, and their standing.
fn random_history(random: &mut StdRng, shard: Shard) -> (Vec<Record>, Standing) {
    let plan = known_run::plan();
    let (mut records, mut standing) = (Vec::new(), Standing::new(&plan));
    for _ in 0..120 {
        let record = random_record(random, &standing, shard);
        let mut next = standing.clone();
        // Many expulsions would leave no participant.
        let is_rare = !matches!(record, Record::Expel(_)) || random.random_bool(0.2);
        if is_rare && next.apply(&plan, shard, &record).is_ok() {
            standing = next;
            records.push(record);
        }
    }
    (records, standing)
}

#[test]
fn a_joint_run_claims_no_more_than_its_parts() {
    let mut seen = [0; 4];
    for seed in 0..60 {
        let mut random = StdRng::seed_from_u64(seed);
        let parts = Parts::new();
        let shards = *[["1/3", "2/3", "3/3"], ["1/1", "1/1", "1/1"]].choose(&mut random).unwrap();
        let is_split = shards[0] != "1/1";
        let runs: Vec<_> = shards
            .iter()
            .enumerate()
            .map(|(i, shard)| {
                let (records, standing) = random_history(&mut random, shard.parse().unwrap());
                (parts.write(&i.to_string(), shard, &records), standing)
            })
            .collect();
        let paths: Vec<PathBuf> = runs.iter().map(|(path, _)| path.clone()).collect();
        let out = parts.path("out");
        let merged = merge(&out, &paths).unwrap();
        let joint = expect_no_more(&out, &runs, seed);
        let sum = |of: fn(&Standing) -> u64| runs.iter().map(|(_, own)| of(own)).sum::<u64>();
        assert_eq!(joint.sums().refuted, sum(|own| own.sums().refuted), "{seed}");
        assert!(joint.sums().conflicts >= sum(|own| own.sums().conflicts), "{seed}");
        let some = [merged.left_out, merged.disputed, merged.done, merged.differences.len() as u64];
        seen.iter_mut().zip(some).for_each(|(seen, some)| *seen += some);
        if is_split && merged.left_out == 0 {
            // All counts without a loser are kept.
            for mark in UnitMark::ALL {
                assert_eq!(
                    joint.marked(mark),
                    runs.iter().map(|(_, own)| own.marked(mark)).sum::<u64>(),
                    "{seed}"
                );
            }
            assert_eq!(joint.sums().sampled, sum(|own| own.sums().sampled), "{seed}");
        }
    }
    assert!(seen.iter().all(|seen| *seen > 20), "{seen:?}");
}

/// The standing of the merged run. Expects that every unit is in a part, and that no unit is confirmed further than in
/// a part.
fn expect_no_more(out: &Path, runs: &[(PathBuf, Standing)], seed: u64) -> Standing {
    let joint = audit_of(out);
    assert_eq!(joint.unbelieved(), 0, "{seed}");
    for unit in (0..units()).map(UnitId) {
        if let Some(count) = joint.count(unit) {
            let of_part = |own: &Standing| {
                own.count(unit) == Some(count) && own.confirmed_degree(unit) >= joint.confirmed_degree(unit)
            };
            assert!(runs.iter().any(|(_, own)| of_part(own)), "{seed}: {unit}");
            assert!(runs.iter().all(|(_, own)| !own.sums().disputed.contains_key(&unit)), "{seed}: {unit}");
        }
    }
    for (_, own) in runs {
        for machine in own.sums().machines.quarantined() {
            assert!(
                joint.sums().machines.is_quarantined(&machine.owner, &machine.name),
                "{seed}: {machine:?}"
            );
        }
        for (unit, votes) in &own.sums().disputed {
            let there = |count: u64| joint.votes(*unit).any(|vote| vote.count == count);
            let is_believed = |vote: &&Vote| {
                let machine = own.sums().machines.get(vote.origin.machine);
                !joint.sums().machines.is_quarantined(&machine.owner, &machine.name)
            };
            assert!(votes.iter().filter(is_believed).all(|vote| there(vote.count)), "{seed}: {unit}");
            assert_eq!(joint.unopposed(*unit), None, "{seed}: {unit} is counted again");
        }
    }
    joint
}

fn audit_of(out: &Path) -> Standing {
    let directory = RunDirectory::open(out).unwrap();
    let mut standing = Standing::new(directory.plan());
    crate::replay::replay(&directory, crate::replay::Stretch::default(), &mut standing, |_, _| ()).unwrap();
    standing
}
