//! `diadem status`: how far a coordinator's run is.

use std::process::ExitCode;

use anyhow::Context;
use dashboard::assurance;
use proto::{Phase, RunStatus, WorkerStatus};
use serde_json::json;
use worker::Remote;

use crate::access::{JOIN, STATUS, credentials};
use crate::args::StatusArgs;
use crate::output::{print, span};

pub fn run(args: &StatusArgs) -> anyhow::Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let credentials = credentials(args.keys.as_deref(), [STATUS, JOIN])?;
    let status = runtime.block_on(async {
        let remote = Remote::new(&args.coordinator, &credentials)?;
        let mut status = remote.status().await;
        for _ in 1..remote.addresses() {
            if status.is_err() {
                status = remote.status().await;
            }
        }
        Ok::<_, anyhow::Error>(status)
    })?;
    let status = status.with_context(|| format!("no status from {}", args.coordinator.join(", ")))?;
    print(&if args.json { as_json(&status).to_string() } else { as_text(&status) })?;
    Ok(ExitCode::SUCCESS)
}

fn phase(phase: Phase) -> &'static str {
    match phase {
        Phase::Counting => "counting",
        Phase::Auditing => "auditing",
        Phase::Complete => "complete",
        Phase::Withheld => "withheld",
    }
}

/// Units that are neither counted nor lent.
fn open(status: &RunStatus) -> u64 {
    status.units.saturating_sub(status.done + status.leased)
}

fn as_json(status: &RunStatus) -> serde_json::Value {
    let worker = |w: &WorkerStatus| {
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
        })
    };
    json!({
        "n": status.board.n(),
        "plan": status.fingerprint.to_string(),
        "phase": phase(status.phase),
        "trouble": status.trouble,
        "units": status.units,
        "done": status.done,
        "leased": status.leased,
        "open": open(status),
        "disputed": status.disputed,
        "progress": status.progress,
        "solutions": status.totals.solutions().to_string(),
        "a": status.totals.a.to_string(),
        "p": status.totals.p.to_string(),
        "r": status.totals.r.to_string(),
        "seconds": status.elapsed.as_secs_f64(),
        "seconds_left": status.left.map(|left| left.expected.as_secs_f64()),
        "rate": status.rate,
        "worth": assurance::value(&status.assurance, status.units),
        "set_aside": status.set_aside.iter().map(|unit| unit.0).collect::<Vec<_>>(),
        "term": status.term.map(|term| term.number),
        "coordinator": status.term.map(|term| term.coordinator.to_string()),
        "replicas": status.replicas,
        "followers": status.followers,
        "workers_total": status.workers_total,
        "workers": status.workers.iter().map(worker).collect::<Vec<_>>(),
    })
}

fn as_text(status: &RunStatus) -> String {
    let RunStatus { board, units, done, leased, totals, rate, .. } = status;
    let left = status.left.map_or_else(|| "unknown".to_owned(), |left| span(left.expected));
    let mut text = format!(
        "n = {board}, {}: {:.2} % of the work, {} so far, {left} left\n\
         units: {done} of {units} done, {leased} leased, {} open, {rate:.1} a second\n\
         so far: {} solutions, A = {}, P = {}, R = {}",
        phase(status.phase),
        100.0 * status.progress,
        span(status.elapsed),
        open(status),
        totals.solutions(),
        totals.a,
        totals.p,
        totals.r,
    );
    text += &format!("\nso checked: {}", assurance::sentence(&status.assurance, *done, *units));
    if status.assurance.pending > 0 {
        text += &format!("; {} units to be checked", status.assurance.pending);
    }
    if status.disputed > 0 {
        text += &format!("\nin dispute, for another machine to decide: {} units", status.disputed);
    }
    if !status.set_aside.is_empty() {
        let units: Vec<_> = status.set_aside.iter().map(ToString::to_string).collect();
        text += &format!("\nset aside, lost with five workers: units {}", units.join(", "));
    }
    if status.replicas > 0 || status.followers > 0 {
        let needed =
            if status.replicas > 0 { format!(", {} needed", status.replicas) } else { String::new() };
        text += &format!("\nfollowers: {}{needed}", status.followers);
    }
    if !status.trouble.is_empty() {
        text += &format!("\ntrouble: {}", status.trouble);
    }
    if status.workers.is_empty() {
        text += "\nno workers";
    } else {
        text += &format!(
            "\n{:<24} {:>7} {:<16} {:>8} {:>10} {:>9} {:>10}",
            "worker", "threads", "kernel", "leased", "done", "units/s", "last word"
        );
    }
    for w in &status.workers {
        text += &format!(
            "\n{:<24} {:>7} {:<16} {:>8} {:>10} {:>9.2} {:>10}",
            w.name,
            w.threads,
            w.kernel.to_string(),
            w.leased,
            w.done,
            w.rate,
            span(w.last_word),
        );
    }
    let listed = status.workers.len() as u64;
    if status.workers_total > listed {
        text += &format!("\n... and {} workers more", status.workers_total - listed);
    }
    text
}
