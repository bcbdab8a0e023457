//! What one machine or one worker did, and what it holds.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use dashboard::words;
use domain::{Explained, HeldUnit, MachineStatus, Owner, RunStatus, Subject, WorkerStatus, counted, named};
use queens::UnitId;
use records::audit_each;
use records::ledger::{Record, UnitRecord};
use records::run_directory::RunDirectory;
use records::standing::{Machine, Trust};
use serde_json::{Value, json};
use worker::{CoordinatorError, Remote};

use crate::args::WrongCommand;
use crate::output::{significant, span};
use crate::progress::during;
use crate::terminal::wrapped;

/// The most units to name in text.
const NAMED_UNITS: usize = 12;

/// Who is asked about.
#[derive(Clone, Copy, Debug)]
pub enum Who<'a> {
    /// The machines of a name.
    Machine(&'a str),
    /// The workers of a name.
    Worker(&'a str),
}

impl Who<'_> {
    fn is(self, owner: &Owner, name: &str) -> bool {
        let (Self::Machine(asked) | Self::Worker(asked)) = self;
        name == asked || owner.title(name) == asked
    }

    /// The error for a name that is not among the known ones.
    fn unknown(self, mut known: Vec<String>) -> anyhow::Error {
        let (what, name) = match self {
            Self::Machine(name) => ("machine", name.to_owned()),
            Self::Worker(name) => ("worker", name.to_owned()),
        };
        known.sort();
        known.dedup();
        let known = if known.is_empty() { "none".to_owned() } else { named(known.into_iter()) };
        WrongCommand::UnknownName { what, name, known }.into()
    }

    /// The title of a list of them in JSON.
    fn list(self) -> &'static str {
        match self {
            Self::Machine(_) => "machines",
            Self::Worker(_) => "workers",
        }
    }
}

/// Machines or workers that were found, as text and as JSON.
pub struct Found {
    list: &'static str,
    texts: Vec<String>,
    values: Vec<Value>,
}

impl Found {
    fn new(who: Who<'_>) -> Self {
        Self { list: who.list(), texts: Vec::new(), values: Vec::new() }
    }

    fn add(&mut self, lines: &[String], value: Value) {
        self.texts.push(lines.iter().map(|line| wrapped(line)).collect::<Vec<_>>().join("\n"));
        self.values.push(value);
    }

    /// As one JSON object, or as text.
    pub fn shown(&self, is_json: bool) -> String {
        if is_json { json!({ self.list: self.values }).to_string() } else { self.texts.join("\n\n") }
    }
}

/// Those that the coordinator's status lists.
pub async fn served(
    remote: &Remote,
    status: &RunStatus,
    who: Who<'_>,
) -> Result<Result<Found, anyhow::Error>, CoordinatorError> {
    let mut found = Found::new(who);
    let known = match who {
        Who::Machine(_) => {
            for machine in status.machines.iter().filter(|machine| who.is(&machine.owner, &machine.name)) {
                let subject = subject(&machine.owner, &machine.name, None);
                let (lines, value) = machine_of(status, machine, &remote.explain(subject).await?);
                found.add(&lines, value);
            }
            status.machines.iter().map(|machine| machine.owner.title(&machine.name)).collect()
        }
        Who::Worker(_) => {
            for worker in status.workers.iter().filter(|worker| who.is(&worker.owner, &worker.name)) {
                let subject = subject(&worker.owner, &worker.machine, Some(worker.name.clone()));
                let (lines, value) = worker_of(worker, &remote.explain(subject).await?);
                found.add(&lines, value);
            }
            status.workers.iter().map(|worker| worker.owner.title(&worker.name)).collect()
        }
    };
    Ok(if found.values.is_empty() { Err(who.unknown(known)) } else { Ok(found) })
}

fn subject(owner: &Owner, machine: &str, worker: Option<String>) -> Subject {
    Subject::Machine { owner: owner.clone(), machine: machine.to_owned(), worker }
}

fn machine_of(status: &RunStatus, machine: &MachineStatus, explained: &Explained) -> (Vec<String>, Value) {
    let of_it = status.workers.iter().filter(|w| w.owner == machine.owner && w.machine == machine.name);
    let last_word = of_it.map(|worker| worker.last_word).min();
    let MachineStatus { owner, name, workers, threads, counts, verified, wrong, speed, .. } = machine;
    let seen = last_word.map_or_else(String::new, |time| format!(", last seen {} ago", span(time)));
    let mut lines = vec![
        format!("machine {}", owner.title(name)),
        format!("connected: {} with {}{seen}", counted(*workers, "worker"), counted(*threads, "thread")),
        format!(
            "on record: {}, {verified} confirmed or confirming, {wrong} proved wrong",
            counted(*counts, "count")
        ),
        format!("speed: {} reference cores", words::figures(*speed)),
    ];
    lines.extend(explained_lines(explained));
    let mut value = json!({
        "owner": owner.name(),
        "name": name,
        "workers": workers,
        "threads": threads,
        "counts": counts,
        "verified": verified,
        "wrong": wrong,
        "speed": speed,
        "last_word": last_word.map(|time| time.as_secs_f64()),
    });
    add_explained(&mut value, explained);
    (lines, value)
}

fn worker_of(worker: &WorkerStatus, explained: &Explained) -> (Vec<String>, Value) {
    let WorkerStatus { owner, name, machine, threads, kernel, done, rate, last_word, drains, .. } = worker;
    let leaving = if *drains { ", leaving" } else { "" };
    let mut lines = vec![
        format!("worker {} on machine {}", owner.title(name), owner.title(machine)),
        format!(
            "connected: {kernel} with {}, last seen {} ago{leaving}",
            counted(*threads, "thread"),
            span(*last_word)
        ),
        format!("on record: {} since it registered, {} a second", counted(*done, "unit"), significant(*rate)),
    ];
    lines.extend(explained_lines(explained));
    let mut value = json!({
        "owner": owner.name(),
        "name": name,
        "machine": machine,
        "threads": threads,
        "kernel": kernel.to_string(),
        "done": done,
        "rate": rate,
        "last_word": last_word.as_secs_f64(),
        "drains": drains,
    });
    add_explained(&mut value, explained);
    (lines, value)
}

fn add_explained(value: &mut Value, explained: &Explained) {
    value["distrust"] = json!(explained.distrust);
    value["disputed"] = json!(units_value(&explained.disputed));
    value["leased"] = json!(explained.held_total);
    value["held"] = explained.held.iter().map(held_value).collect();
}

fn explained_lines(explained: &Explained) -> [String; 3] {
    let Explained { held, held_total, disputed, distrust, .. } = explained;
    let believed = match distrust {
        None => "believed: yes".to_owned(),
        Some(why) => format!("believed: no, and nothing is lent to it: {why}"),
    };
    let holds = if held.is_empty() {
        "holds: nothing".to_owned()
    } else {
        let units = held.iter().take(NAMED_UNITS);
        let units = units.map(|held| format!("{} ({})", held.unit, held_text(held)));
        let more = held_total.saturating_sub(NAMED_UNITS as u64);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        format!("holds: {}{more}", units.collect::<Vec<_>>().join(", "))
    };
    [believed, disputes_line(disputed), holds]
}

fn disputes_line(disputed: &[UnitId]) -> String {
    let units = if disputed.is_empty() {
        "none".to_owned()
    } else {
        format!("units {}", named(disputed.iter().map(ToString::to_string)))
    };
    format!("undecided disputes: {units}")
}

fn units_value(units: &[UnitId]) -> Vec<u64> {
    units.iter().map(|unit| unit.0).collect()
}

/// What a unit is held for, and for how long.
pub fn held_text(held: &HeldUnit) -> String {
    let what = if held.is_check { "a check" } else { "a count" };
    format!("{what}, for {}", span(held.held))
}

/// A unit that is held, as JSON.
pub fn held_value(held: &HeldUnit) -> Value {
    json!({
        "unit": held.unit.0,
        "owner": held.owner.name(),
        "machine": held.machine,
        "worker": held.worker,
        "seconds": held.held.as_secs_f64(),
        "seconds_left": held.left.as_secs_f64(),
        "is_check": held.is_check,
    })
}

/// The records of a machine, or of a worker on it.
#[derive(Default)]
struct Made {
    counts: u64,
    checks: u64,
    conflicts: u64,
    kernels: BTreeSet<String>,
    first: Option<u64>,
    last: Option<u64>,
}

impl Made {
    fn note(&mut self, record: &Record, r: &UnitRecord) {
        match record {
            Record::Count(_) => self.counts += 1,
            Record::Check(_) => self.checks += 1,
            _ => self.conflicts += 1,
        }
        self.kernels.insert(r.kernel.clone());
        self.first = Some(self.first.map_or(r.at, |first| first.min(r.at)));
        self.last = self.last.max(Some(r.at));
    }
}

/// Those with records in these run directories.
pub fn on_record(runs: &[PathBuf], who: Who<'_>) -> anyhow::Result<Found> {
    let (mut found, mut known) = (Found::new(who), Vec::new());
    during("reading the runs", || -> anyhow::Result<()> {
        for run in runs {
            add_of_run(run, who, &mut found, &mut known)?;
        }
        Ok(())
    })?;
    if found.values.is_empty() { Err(who.unknown(known)) } else { Ok(found) }
}

fn add_of_run(run: &Path, who: Who<'_>, found: &mut Found, known: &mut Vec<String>) -> anyhow::Result<()> {
    let directory = RunDirectory::open(run)?;
    // By owner, machine and, if one is asked for, worker.
    let mut made: BTreeMap<(String, String, Option<String>), Made> = BTreeMap::new();
    let audit = audit_each(&directory, |_, record| {
        if let Record::Count(r) | Record::Check(r) | Record::Conflict(r) = record {
            let worker = matches!(who, Who::Worker(_)).then(|| r.worker.clone());
            let maker = (r.owner.clone(), r.machine.clone(), worker);
            made.entry(maker).or_default().note(record, r);
        }
    })?;
    let sums = audit.standing.sums();
    for ((owner, machine, worker), made) in &made {
        let owner = Owner::new(owner);
        let name = worker.as_ref().unwrap_or(machine);
        known.push(owner.title(name));
        if !who.is(&owner, name) {
            continue;
        }
        let number = sums.machines.number(owner.name(), machine);
        let votes_in =
            |unit: &UnitId| sums.disputed[unit].iter().any(|vote| Some(vote.origin.machine) == number);
        let disputed: Vec<UnitId> = sums.disputed.keys().copied().filter(votes_in).collect();
        let on_record = number.map(|number| sums.machines.get(number).clone()).unwrap_or_default();
        let (lines, value) = of_run(run, (&owner, machine, worker.as_deref()), made, &on_record, &disputed);
        found.add(&lines, value);
    }
    Ok(())
}

fn of_run(
    run: &Path,
    (owner, machine, worker): (&Owner, &str, Option<&str>),
    made: &Made,
    on_record: &Machine,
    disputed: &[UnitId],
) -> (Vec<String>, Value) {
    let title = owner.title(machine);
    let head = match worker {
        Some(worker) => format!("worker {} on machine {title}", owner.title(worker)),
        None => format!("machine {title}"),
    };
    let Made { counts, checks, conflicts, kernels, first, last } = made;
    let when = |at: Option<u64>| at.map_or_else(|| "-".to_owned(), words::date);
    let kernels: Vec<_> = kernels.iter().cloned().collect();
    let Machine { counts: standing, verified, wrong, trust, .. } = on_record;
    let lines = vec![
        format!("{head}, in {}", run.display()),
        format!(
            "records: {}, {}, {}, with {}",
            counted(*counts, "count"),
            counted(*checks, "check"),
            counted(*conflicts, "conflict"),
            kernels.join(" and ")
        ),
        format!("from {} to {}", when(*first), when(*last)),
        format!(
            "of the machine: {} standing, {verified} confirmed or confirming, {wrong} proved wrong",
            counted(*standing, "count")
        ),
        format!("believed: {}", trust_text(*trust)),
        disputes_line(disputed),
    ];
    let value = json!({
        "run": run.to_string_lossy(),
        "owner": owner.name(),
        "name": worker.unwrap_or(machine),
        "machine": machine,
        "counts": counts,
        "checks": checks,
        "conflicts": conflicts,
        "kernels": kernels,
        "first": first,
        "last": last,
        "machine_counts": standing,
        "verified": verified,
        "wrong": wrong,
        "distrust": (*trust != Trust::Believed).then(|| trust_text(*trust)),
        "disputed": units_value(disputed),
    });
    (lines, value)
}

fn trust_text(trust: Trust) -> &'static str {
    match trust {
        Trust::Believed => "yes",
        Trust::Quarantined => "no: it is quarantined",
        Trust::Suspended => "no: an own check contradicts its owner",
        Trust::Expelled => "no: its owner is expelled",
        Trust::Refuted => "no: the operator decided against its owner",
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::samples::running;

    #[test]
    fn machine_shows_its_leases_and_disputes() {
        let status = running();
        let machine = &status.machines[0];
        let held = |unit| HeldUnit {
            unit: UnitId(unit),
            owner: machine.owner.clone(),
            machine: machine.name.clone(),
            worker: "w".into(),
            held: Duration::from_secs(3),
            left: Duration::from_secs(12),
            is_check: unit == 1,
        };
        let explained = Explained {
            held: (0..20).map(held).collect(),
            held_total: 1234,
            disputed: vec![UnitId(5)],
            distrust: Some("two other counts proved one wrong".into()),
            open_because: None,
        };
        let (lines, value) = machine_of(&status, machine, &explained);
        let text = lines.join("\n");
        for part in [
            "believed: no, and nothing is lent to it: two other counts",
            "undecided disputes: units 5",
            "holds: 0 (a count, for 3.00 s), 1 (a check, for 3.00 s)",
            "and 1222 more",
        ] {
            assert!(text.contains(part), "{text}");
        }
        assert_eq!((&value["leased"], &value["held"][1]["is_check"]), (&json!(1234), &json!(true)));
        assert_eq!(value["disputed"], json!([5]));
    }

    #[test]
    fn names_match_alone_or_with_their_owner() {
        let ada = Owner::new("ada");
        let is = |asked| Who::Machine(asked).is(&ada, "rack-3");
        assert!(is("rack-3") && is("ada/rack-3") && !is("ben/rack-3") && !is("rack"));
        let unknown = Who::Worker("x").unknown(vec!["b".into(), "a".into(), "a".into()]).to_string();
        assert_eq!(unknown, "the run knows no worker x; it knows a, b");
    }
}
