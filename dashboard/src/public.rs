//! The public view of a run: what everybody may see of it. It names neither machines nor workers, addresses or paths.
//!
//! All viewers get the same document, which is written every few seconds. It holds no seat and may be kept by caches.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::body::Bytes;
use domain::{Assurance, Incident, Phase, RunStatus};
use serde_json::{Map, Value};

use crate::sections::SECTIONS;

/// Minimum time between two documents.
pub const PUBLIC_EVERY: Duration = Duration::from_secs(5);

/// The sections in the document.
const SHOWN: [&str; 5] = ["run", "incidents", "speed", "families", "owners"];

/// The document that public pages ask for.
pub fn document(status: &RunStatus) -> Bytes {
    let public = redacted(status);
    let shown = SECTIONS.iter().filter(|section| SHOWN.contains(&section.name));
    let mut object: Map<String, Value> =
        shown.map(|section| (section.name.to_owned(), (section.say)(&public))).collect();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    object.insert("at".into(), now.as_secs().into());
    object.insert("head".into(), public.head.into());
    Value::Object(object).to_string().into()
}

/// The status without names of machines and workers, and without texts that may have such names. Every field is listed, so
/// that whoever adds one decides whether it is public.
fn redacted(status: &RunStatus) -> RunStatus {
    let (workers_total, threads_total) = status.there();
    RunStatus {
        board: status.board,
        fingerprint: status.fingerprint.clone(),
        run: status.run,
        units: status.units,
        done: status.done,
        leased: status.leased,
        disputed: status.disputed,
        progress: status.progress,
        totals: status.totals,
        elapsed: status.elapsed,
        left: status.left,
        rate: status.rate,
        phase: status.phase,
        trouble: trouble(status).to_owned(),
        workers: Vec::new(),
        workers_total,
        threads_total,
        term: status.term,
        replicas: status.replicas,
        followers: status.followers,
        assurance: Assurance { quarantined: Vec::new(), expelled: Vec::new(), ..status.assurance.clone() },
        set_aside: status.set_aside.clone(),
        set_aside_total: status.set_aside_total,
        work: status.work,
        families: status.families.clone(),
        history: status.history.clone(),
        events: Vec::new(),
        incidents: status.incidents.iter().map(without_names).collect(),
        incidents_total: status.incidents_total,
        head: status.head.clone(),
        machines: Vec::new(),
        machines_total: status.machines_total,
        machines_there: status.machines_there,
        credits: status.credits.clone(),
        paused: status.paused.as_ref().map(|_| String::new()),
        double_check: status.double_check.clone(),
        require_owners: status.require_owners,
        release: status.release.clone(),
    }
}

/// That there is trouble, without its cause.
fn trouble(status: &RunStatus) -> &'static str {
    match status.phase {
        _ if status.trouble.is_empty() => "",
        Phase::Withheld => "The audit found something wrong. The operator sees what.",
        _ => "The run waits for its operator, who sees the reason.",
    }
}

fn without_names(incident: &Incident) -> Incident {
    let Incident { at, kind, times, .. } = incident;
    let text = if *times > 1 { format!("{kind} ({times})") } else { kind.clone() };
    Incident { at: *at, kind: kind.clone(), times: *times, text, reason: None }
}
