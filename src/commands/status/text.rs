//! The status of a run as text, in lines of at most 80 columns.

use dashboard::{assurance, words};
use domain::{Phase, RunStatus, WorkerStatus, counted, named};

use records::shard::Shard;

use super::{credits, open};
use crate::output::{last_word, significant, span, time_left, total_text};
use crate::terminal::{filled, wrapped};

/// The most events to print, the latest ones.
const EVENTS: usize = 5;

/// The status in words.
pub fn text(status: &RunStatus) -> String {
    let mut lines = vec![wrapped(&headline(status)), wrapped(&units(status))];
    let totals = &status.totals;
    lines.push(match status.phase {
        Phase::Complete => wrapped(&total_text(status.board, Shard::default(), totals)),
        _ => format!("so far: {} solutions", totals.solutions()),
    });
    lines.push(wrapped(&format!("A = {}, P = {}, R = {}", totals.a, totals.p, totals.r)));
    lines.push(wrapped(&checked(status)));
    lines.extend(exceptions(status).iter().map(|line| wrapped(line)));
    lines.push(wrapped(&machines(status)));
    lines.extend(workers(status));
    lines.extend(credits::lines(&status.credits));
    let events = &status.events[status.events.len().saturating_sub(EVENTS)..];
    if !events.is_empty() {
        lines.push("lately:".to_owned());
    }
    lines.extend(events.iter().map(|event| wrapped(&format!("  {}", event.text))));
    lines.join("\n")
}

/// The first line: how far, for how long, and until when.
fn headline(status: &RunStatus) -> String {
    format!(
        "n = {}, {}: {} of the work, {} so far, {}",
        status.board,
        status.phase,
        words::percent(status.progress),
        span(status.elapsed),
        time_left(status),
    )
}

fn units(status: &RunStatus) -> String {
    let RunStatus { units, done, leased, rate, .. } = status;
    let rate = significant(*rate);
    format!("units: {done} of {units} done, {leased} leased, {} open, {rate} a second", open(status))
}

fn checked(status: &RunStatus) -> String {
    let mut text = format!("so checked: {}", assurance::of_status(status));
    if status.assurance.pending > 0 {
        text += &format!("; {} to be checked", counted(status.assurance.pending, "unit"));
    }
    text
}

/// Facts that not every run has: disputes, quarantines, a pause, and the like.
fn exceptions(status: &RunStatus) -> Vec<String> {
    let mut lines = Vec::new();
    if status.disputed > 0 {
        lines
            .push(format!("in dispute, for another machine to decide: {}", counted(status.disputed, "unit")));
    }
    if !status.set_aside.is_empty() {
        let units: Vec<_> = status.set_aside.iter().map(ToString::to_string).collect();
        let more = status.set_aside_total.saturating_sub(units.len() as u64);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        lines.push(format!("set aside, lost with five workers: units {}{more}", units.join(", ")));
    }
    if status.replicas > 0 || status.followers > 0 {
        let needed =
            if status.replicas > 0 { format!(", {} needed", status.replicas) } else { String::new() };
        lines.push(format!("followers: {}{needed}", status.followers));
    }
    lines.extend(status.paused.as_ref().map(|why| format!("paused: {why}")));
    if !status.trouble.is_empty() {
        lines.push(format!("trouble: {}", status.trouble));
    }
    lines
}

/// The connected machines, the checks, and the coordinator.
fn machines(status: &RunStatus) -> String {
    let there = status.machines.iter().filter(|machine| machine.workers > 0);
    let names = named(there.map(|machine| machine.owner.title(&machine.name)));
    let names = if names.is_empty() { names } else { format!(": {names}") };
    format!(
        "machines: {} of {} connected with {}{names}; double-check {}, diadem {}",
        status.machines_there,
        status.machines_total,
        counted(status.there().1, "thread"),
        status.double_check,
        status.release,
    )
}

fn workers(status: &RunStatus) -> Vec<String> {
    if status.workers.is_empty() {
        return vec!["no workers".to_owned()];
    }
    let mut lines = vec![format!(
        "{:<20} {:>5} {:<15} {:>6} {:>9} {:>7} {:>10}",
        "worker", "thr.", "kernel", "leased", "done", "units/s", "last seen"
    )];
    lines.extend(status.workers.iter().map(worker));
    let listed = status.workers.len() as u64;
    if status.workers_total > listed {
        lines.push(format!("... and {} workers more", status.workers_total - listed));
    }
    lines
}

fn worker(w: &WorkerStatus) -> String {
    format!(
        "{} {:>5} {:<15} {:>6} {:>9} {:>7} {:>10}",
        filled(&w.owner.title(&w.name), 20),
        w.threads,
        w.kernel.to_string(),
        w.leased,
        w.done,
        significant(w.rate),
        last_word(w),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;
    use crate::terminal::{COLUMNS, columns_of};

    #[test]
    fn no_line_is_longer_than_a_terminal_is_wide() {
        for status in samples::all() {
            let text = text(&status);
            for line in text.lines() {
                assert!(columns_of(line) <= COLUMNS, "{line:?}");
            }
        }
    }

    #[test]
    fn status_text_shows_only_what_applies() {
        let calm = text(&samples::running());
        assert!(calm.starts_with("n = 27, counting: 43.21 % of the work, 23 days 4h so far, "), "{calm}");
        let machines =
            "\nmachines: 2 of 3 connected with 104 threads: ada/rack-00, rack-01; double-check 1%,";
        assert!(calm.replace("\n  ", " ").contains(machines), "{calm}");
        for word in ["dispute", "set aside", "followers", "trouble", "paused"] {
            assert!(!calm.contains(word), "{calm}");
        }
        let troubled = text(&samples::disputed());
        for line in [
            "in dispute, for another machine to decide: 3 units",
            "paused: the night is over",
            "trouble: nothing is",
        ] {
            assert!(troubled.contains(line), "{troubled}");
        }
    }
}
