//! The status of a run as one JSON object; docs/watching.md describes its fields.

use dashboard::assurance;
use domain::{Event, FamilyStatus, Incident, MachineStatus, RunStatus, Sample, WorkerStatus};
use serde_json::{Value, json};

use super::{credits, open};

/// The status as JSON.
pub fn value(status: &RunStatus) -> Value {
    let mut object = progress(status);
    let more = json!({
        "worth": assurance::value(&status.assurance, status.units),
        "double_check": status.double_check,
        "require_owners": status.require_owners,
        "paused": status.paused,
        "set_aside_total": status.set_aside_total,
        "set_aside": status.set_aside.iter().map(|unit| unit.0).collect::<Vec<_>>(),
        "term": status.term.map(|term| term.number),
        "coordinator": status.term.map(|term| term.coordinator.to_string()),
        "release": status.release,
        "replicas": status.replicas,
        "followers": status.followers,
        "workers_total": status.workers_total,
        "threads_total": status.threads_total,
        "workers": status.workers.iter().map(worker).collect::<Vec<_>>(),
        "machines_total": status.machines_total,
        "machines_there": status.machines_there,
        "machines": status.machines.iter().map(machine).collect::<Vec<_>>(),
        "credits": credits::value(&status.credits),
        "families": status.families.iter().map(family).collect::<Vec<_>>(),
        "history": status.history.iter().map(sample).collect::<Vec<_>>(),
        "events": status.events.iter().map(event).collect::<Vec<_>>(),
        "incidents_total": status.incidents_total,
        "incidents": status.incidents.iter().map(incident).collect::<Vec<_>>(),
        "head": status.head,
    });
    if let (Some(object), Value::Object(more)) = (object.as_object_mut(), more) {
        object.extend(more);
    }
    object
}

fn progress(status: &RunStatus) -> Value {
    let left = status.left;
    json!({
        "n": status.board.n(),
        "plan": status.fingerprint.to_string(),
        "run": status.run.map(|run| format!("{:032x}", run.0)),
        "phase": status.phase.to_string(),
        "trouble": status.trouble,
        "units": status.units,
        "done": status.done,
        "leased": status.leased,
        "open": open(status),
        "disputed": status.disputed,
        "progress": status.progress,
        "work": status.work.total,
        "work_done": status.work.done,
        "solutions": status.totals.solutions().to_string(),
        "a": status.totals.a.to_string(),
        "p": status.totals.p.to_string(),
        "r": status.totals.r.to_string(),
        "seconds": status.elapsed.as_secs_f64(),
        "seconds_left": left.map(|left| left.expected.as_secs_f64()),
        "seconds_left_low": left.map(|left| left.low.as_secs_f64()),
        "seconds_left_high": left.map(|left| left.high.as_secs_f64()),
        "rate": status.rate,
    })
}

fn worker(w: &WorkerStatus) -> Value {
    json!({
        "owner": w.owner.name(),
        "name": w.name,
        "machine": w.machine,
        "threads": w.threads,
        "kernel": w.kernel.to_string(),
        "leased": w.leased,
        "done": w.done,
        "rate": w.rate,
        "last_word": w.last_word.as_secs_f64(),
        "drains": w.drains,
    })
}

fn machine(m: &MachineStatus) -> Value {
    json!({
        "owner": m.owner.name(),
        "name": m.name,
        "workers": m.workers,
        "threads": m.threads,
        "counts": m.counts,
        "verified": m.verified,
        "wrong": m.wrong,
        "is_believed": m.is_believed,
        "speed": m.speed,
    })
}

fn family(f: &FamilyStatus) -> Value {
    json!({ "top": f.top, "bottom": f.bottom, "units": f.units, "done": f.done })
}

fn sample(s: &Sample) -> Value {
    json!({ "at": s.at, "done": s.done, "progress": s.progress })
}

fn event(e: &Event) -> Value {
    json!({ "at": e.at, "text": e.text })
}

fn incident(i: &Incident) -> Value {
    json!({ "at": i.at, "kind": i.kind, "times": i.times, "text": i.text, "reason": i.reason })
}
