//! The records about a unit in words.

use std::time::Duration;

use dashboard::words;
use domain::Owner;
use records::ledger::{Record, Recount, Restoration, Retraction, UnitRecord};

use crate::output::span;

/// A record about a unit, in one line.
pub fn line(record: &Record) -> String {
    match record {
        Record::Count(r) => {
            let reason = r.recount.map_or_else(String::new, |reason| format!("; {}", to_be_checked(reason)));
            format!("{}{reason}", counted("count", r))
        }
        Record::Check(r) => format!("{}; confirms {}", counted("check", r), of(r)),
        Record::Conflict(r) => format!("{}; contradicts {}", counted("conflict", r), of(r)),
        Record::Retract(r) => {
            let Retraction { count, owner, machine, at, .. } = r;
            let whose = Owner::new(owner).title(machine);
            format!("{}  {count} by {whose} was taken back: {}", words::date(*at), why_retracted(r))
        }
        Record::Restore(Restoration { count, owner, machine, at, .. }) => {
            let whose = Owner::new(owner).title(machine);
            format!("{}  {count} by {whose} stands again", words::date(*at))
        }
        // Other records are about no unit.
        _ => String::new(),
    }
}

fn counted(kind: &str, r: &UnitRecord) -> String {
    let UnitRecord { count, cpu_us, worker, owner, machine, kernel, mirrored, at, .. } = r;
    let owner = Owner::new(owner);
    let mirrored = if *mirrored { ", mirrored" } else { "" };
    let (machine, worker) = (owner.title(machine), Owner::default().title(worker));
    let time = span(Duration::from_micros(*cpu_us));
    let date = words::date(*at);
    format!("{date}  {kind} {count} by {machine}, worker {worker}, {kernel}{mirrored}, {time}")
}

/// The machine whose count a record confirms or contradicts.
fn of(r: &UnitRecord) -> String {
    r.of.as_ref().map_or_else(|| "the others".to_owned(), |machine| Owner::new(&r.of_owner).title(machine))
}

fn to_be_checked(reason: Recount) -> &'static str {
    match reason {
        Recount::Trial => "to be checked, because it is one of its machine's first counts",
        Recount::Sample => "to be checked, because it was drawn at random",
        Recount::All => "to be checked, as all are",
        Recount::Symmetric => "to be checked, because it is a symmetric count",
    }
}

fn why_retracted(r: &Retraction) -> String {
    match r {
        Retraction { reason: Some(reason), .. } => format!("by the operator, {reason:?}"),
        Retraction { quarantine: true, .. } => "its machine is not believed".to_owned(),
        Retraction { contradiction: true, .. } => {
            "the counts of its constellation contradict each other".to_owned()
        }
        _ => "another count contradicts it".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use queens::UnitId;

    use super::*;

    fn record(machine: &str) -> UnitRecord {
        UnitRecord {
            unit: UnitId(7),
            count: 12,
            nodes: 1,
            cpu_us: 61_000_000,
            worker: "w".into(),
            machine: machine.into(),
            owner: "ada".into(),
            kernel: "meet/avx2".into(),
            mirrored: true,
            recount: None,
            of: None,
            of_owner: String::new(),
            at: 1_790_000_000,
        }
    }

    #[test]
    fn lines_name_machine_method_time_and_reason() {
        let sample = line(&Record::Count(UnitRecord { recount: Some(Recount::Sample), ..record("a") }));
        assert_eq!(
            sample,
            "2026-09-21 14:13 UTC  count 12 by ada/a, worker w, meet/avx2, mirrored, 1m 1s; to be checked, \
             because it was drawn at random"
        );
        let of = UnitRecord { of: Some("b".into()), of_owner: "ben".into(), ..record("a") };
        assert!(line(&Record::Check(of.clone())).ends_with("; confirms ben/b"));
        assert!(line(&Record::Conflict(of)).ends_with("; contradicts ben/b"));
        let retraction = Retraction {
            unit: UnitId(7),
            count: 12,
            nodes: 1,
            owner: String::new(),
            machine: "a".into(),
            kernel: "meet/avx2".into(),
            mirrored: false,
            quarantine: false,
            contradiction: false,
            reason: Some("bad memory".into()),
            at: 1_790_000_000,
        };
        let by_operator = line(&Record::Retract(retraction.clone()));
        assert!(
            by_operator.ends_with("12 by a was taken back: by the operator, \"bad memory\""),
            "{by_operator}"
        );
        let disputed = Retraction { reason: None, ..retraction };
        assert!(line(&Record::Retract(disputed)).ends_with("another count contradicts it"));
    }
}
