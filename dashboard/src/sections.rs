//! The data of the page in sections that change independently, each as JSON.
//!
//! However large the run is, a section is small: of many machines and workers those are listed that want to be looked at,
//! and the others are summed up.

use std::cmp::Reverse;
use std::time::Duration;

use domain::{Credit, LONGEST_SILENCE, MachineStatus, Owner, Phase, RunStatus, Work, WorkerStatus};
use queens::extrapolation::extrapolate;
use queens::known;
use records::Agreement;
use records::shard::Shard;
use serde_json::{Value, json};

use crate::assurance;
use crate::chart::SpeedChart;
use crate::words::{amount, core_hours, figures, grouped, percent, range, scientific, span, unit_of_work};

/// Not more machines, and not more workers, are listed.
const MAX_LISTED: usize = 50;

/// Maximum size of a list, in bytes.
const LIST_BYTES: usize = 8 << 10;

/// Maximum number of events.
const MAX_EVENTS: usize = 25;

/// A longer text is cut.
const LONGEST_TEXT: usize = 240;

/// Time span of the recent chart, in seconds.
const RECENT_SECONDS: u64 = 24 * 3600;

/// A section of the page.
#[derive(Clone, Copy, Debug)]
pub struct Section {
    /// Its name: the page knows it by that.
    pub name: &'static str,
    /// Minimum time between two updates.
    pub every: Duration,
    /// Its content.
    pub say: fn(&RunStatus) -> Value,
}

/// All sections, the most important first.
pub const SECTIONS: [Section; 8] = [
    Section { name: "run", every: Duration::ZERO, say: run },
    Section { name: "happened", every: Duration::ZERO, say: event_list },
    Section { name: "incidents", every: Duration::from_secs(5), say: incidents },
    Section { name: "speed", every: Duration::from_secs(10), say: speed },
    Section { name: "families", every: Duration::from_secs(5), say: families },
    Section { name: "owners", every: Duration::from_secs(5), say: owners },
    Section { name: "machines", every: Duration::from_secs(5), say: machines },
    Section { name: "workers", every: Duration::from_secs(5), say: workers },
];

/// The progress of the run.
fn run(status: &RunStatus) -> Value {
    let (workers, in_threads) = status.there();
    let set_aside: Vec<_> = status.set_aside.iter().take(12).map(ToString::to_string).collect();
    json!({
        "n": status.board.n(),
        "phase": status.phase.to_string(),
        "verdict": verdict(status),
        "trouble": cut(&status.trouble, 2 * LONGEST_TEXT),
        "paused": status.paused.as_deref().map(|why| cut(why, LONGEST_TEXT)),
        "progress": status.progress,
        "percent": percent(status.progress),
        "left": status.left.as_ref().map(range),
        "left_low": status.left.map(|left| left.low.as_secs()),
        "left_high": status.left.map(|left| left.high.as_secs()),
        "worked": span(status.elapsed),
        "work": work(&status.work),
        "units": grouped(status.units.into()),
        "done": grouped(status.done.into()),
        "leased": grouped(status.leased.into()),
        "open": grouped(status.units.saturating_sub(status.done + status.leased).into()),
        "rate": figures(status.rate),
        "solutions": grouped(status.totals.solutions()),
        "a": grouped(status.totals.a),
        "p": grouped(status.totals.p),
        "r": grouped(status.totals.r),
        "expected": expected(status),
        "found": expected_number(status).map(|number| percent(status.totals.solutions() as f64 / number)),
        "worth": assurance::of_status(status),
        "double_check": status.double_check,
        "twice": grouped(
            (status.assurance.on_two_owners + status.assurance.on_two_machines + status.assurance.on_one_machine).into()
        ),
        "pending": grouped(status.assurance.pending.into()),
        "conflicts": grouped(status.assurance.conflicts.into()),
        "disputed": grouped(status.disputed.into()),
        "set_aside": set_aside.join(", "),
        "set_aside_more": status.set_aside_total.saturating_sub(set_aside.len() as u64),
        "workers": grouped(workers.into()),
        "threads": grouped(in_threads.into()),
        "followers": status.followers,
        "replicas": status.replicas,
        "term": status.term.map(|term| term.number),
        "plan": status.fingerprint.to_string(),
        "release": status.release,
    })
}

/// The comparison of a complete run with the published value.
fn verdict(status: &RunStatus) -> Option<&'static str> {
    let agreement = Agreement::of(status.board, Shard::default(), &status.totals);
    (status.phase == Phase::Complete).then(|| match agreement {
        Agreement::Agrees => "the total agrees with the published value",
        Agreement::Differs => "the total differs from the published value",
        other => other.words(),
    })
}

/// How much of the expected work is done, in time of one core.
fn work(work: &Work) -> String {
    let (unit, name) = unit_of_work(work.total);
    format!("{} of {} {name}", figures(work.done / unit), figures(work.total / unit))
}

/// The expected number of solutions of the run, if it is known.
fn expected_number(status: &RunStatus) -> Option<f64> {
    match known::totals(status.board) {
        Some(totals) => Some(totals.solutions() as f64).filter(|number| *number > 0.0),
        None => extrapolate(status.board.n().into()).map(|estimate| estimate.ln.exp()),
    }
}

/// The published or expected answer, in words.
fn expected(status: &RunStatus) -> Option<String> {
    if let Some(totals) = known::totals(status.board) {
        return Some(format!("{} (published)", grouped(totals.solutions())));
    }
    let estimate = extrapolate(status.board.n().into())?;
    let error = 100.0 * estimate.error;
    Some(format!("about {} (extrapolated, ± {error:.1} %)", scientific(estimate.ln.exp())))
}

/// The last events, the latest first.
fn event_list(status: &RunStatus) -> Value {
    let latest = status.events.iter().rev().take(MAX_EVENTS);
    json!(latest.map(|event| json!([event.at, cut(&event.text, LONGEST_TEXT)])).collect::<Vec<_>>())
}

/// The last incidents, the latest first.
fn incidents(status: &RunStatus) -> Value {
    list(status.incidents.iter().rev(), status.incidents_total, |incident| {
        let reason = incident.reason.as_deref().map(|reason| cut(reason, LONGEST_TEXT));
        json!([incident.at, cut(&incident.text, LONGEST_TEXT), reason])
    })
}

/// How fast the run has been, lately and since it began.
fn speed(status: &RunStatus) -> Value {
    let charts = [RECENT_SECONDS, u64::MAX].map(|longest| SpeedChart::of(&status.history, longest));
    let [recent, whole] = charts.map(|chart| chart.map(|chart| chart.json()));
    json!({ "recent": recent, "whole": whole.filter(|whole| recent.as_ref() != Some(whole)) })
}

/// How far each family is: top queen, bottom queen, units, units done, and so on in one list.
fn families(status: &RunStatus) -> Value {
    let numbers = |family: &domain::FamilyStatus| {
        [u64::from(family.top), u64::from(family.bottom), family.units, family.done]
    };
    json!({ "n": status.board.n(), "families": status.families.iter().flat_map(numbers).collect::<Vec<_>>() })
}

/// What the owners gave, those first that gave most. No list where no owner has a name.
fn owners(status: &RunStatus) -> Value {
    let credits = &status.credits;
    let total = if credits.has_names() { credits.owners_total } else { 0 };
    let listed = credits.owners.iter().filter(|_| total > 0);
    list(listed, total, |(owner, earned)| {
        let parts = [earned.today(), earned.week(), earned.total];
        let numbers = parts.iter().flat_map(|Credit { units, solutions, work }| {
            [amount((*units).into()), amount(*solutions), core_hours(*work)]
        });
        json!([cut(&owner.shown(), LONGEST_TEXT), numbers.collect::<Vec<_>>()])
    })
}

/// The machines, those first that are not believed or were wrong, then those that did most.
fn machines(status: &RunStatus) -> Value {
    let mut machines: Vec<&MachineStatus> = status.machines.iter().collect();
    machines.sort_unstable_by_key(|machine| {
        (machine.is_believed, machine.wrong == 0, Reverse(machine.counts), &machine.owner, &machine.name)
    });
    list(machines.into_iter(), status.machines_total, |machine| {
        json!([
            title(&machine.owner, &machine.name),
            machine.workers,
            machine.threads,
            grouped(machine.counts.into()),
            grouped(machine.verified.into()),
            machine.wrong,
            machine.is_believed,
            figures(machine.speed),
        ])
    })
}

/// The workers, those first that are silent, then by machine and name.
fn workers(status: &RunStatus) -> Value {
    let mut workers: Vec<&WorkerStatus> = status.workers.iter().collect();
    workers.sort_by(|a, b| {
        let silence = |worker: &WorkerStatus| Reverse(worker.last_word.max(LONGEST_SILENCE));
        let who = (&a.machine, &a.name).cmp(&(&b.machine, &b.name));
        silence(a).cmp(&silence(b)).then(who)
    });
    list(workers.into_iter(), status.workers_total, |worker| {
        json!([
            cut(&worker.name, LONGEST_TEXT),
            title(&worker.owner, &worker.machine),
            worker.threads,
            worker.kernel.to_string(),
            worker.leased,
            grouped(worker.done.into()),
            figures(worker.rate),
            worker.last_word.as_secs(),
            worker.last_word > LONGEST_SILENCE,
            worker.drains,
        ])
    })
}

/// The display name of a machine.
fn title(owner: &Owner, machine: &str) -> String {
    let title = if owner.is_unnamed() { machine.to_owned() } else { format!("{owner}/{machine}") };
    cut(&title, LONGEST_TEXT)
}

/// The rows up to the limit of a list, and their total number.
fn list<T>(all: impl Iterator<Item = T>, total: u64, row: impl Fn(T) -> Value) -> Value {
    let mut bytes = 0;
    let rows = all.map(row).take(MAX_LISTED).take_while(|row| {
        bytes += row.to_string().len();
        bytes < LIST_BYTES
    });
    json!({ "rows": rows.collect::<Vec<_>>(), "total": total })
}

/// The text, cut to this number of bytes.
fn cut(text: &str, longest: usize) -> String {
    if text.len() <= longest {
        text.to_owned()
    } else {
        format!("{}…", &text[..text.floor_char_boundary(longest)])
    }
}
