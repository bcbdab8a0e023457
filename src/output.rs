//! The output of commands: answers, as text and as JSON.

use std::borrow::Cow;
use std::io::{self, ErrorKind, Write};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use dashboard::assurance;
use dashboard::words;
use domain::{Copies, Phase, RunStatus, WorkerStatus, counted};
use queens::{Board, Totals};
use records::policy::raised;
use records::shard::Shard;
use records::standing::Standing;
use records::store::Notice;
use records::{Agreement, Answer, DoubleCheck};
use serde_json::json;

use crate::exit;
use crate::log::{plain, say};
use crate::stdout::stdout;
use crate::terminal::told;

/// Prints the text and a newline to stdout, as [plain] text. A closed pipe is an error, except for a listing.
pub fn print(text: &str) -> anyhow::Result<()> {
    let mut out = stdout();
    writeln!(out, "{}", plain(text))?;
    Ok(out.flush()?)
}

/// Says where something that was put on record is not yet on as many disks as it should be.
pub fn warn_missing_replicas(Copies { followers, replicas }: Copies) {
    if followers < replicas {
        say(format_args!(
            "diadem: the coordinator has recorded this, but only {followers} of {replicas} followers \
             have; a takeover now would lose it (see diadem status)"
        ));
    }
}

/// Sentences, one a line, [wrapped](told) for stdout.
pub fn on_stdout(sentences: &str) -> Cow<'_, str> {
    told(sentences, &io::stdout())
}

/// The result of a listing; its reader may stop early, as `head` does.
pub fn listing<T: Default>(listed: anyhow::Result<T>) -> anyhow::Result<T> {
    match listed {
        Err(error) if is_closed_pipe(&error) => Ok(T::default()),
        listed => listed,
    }
}

/// Prints the result. The exit code tells a wrong result even if the text cannot be written; an unwritten
/// text is a failure itself.
pub fn verdict(text: &str, wrong: Option<ExitCode>) -> anyhow::Result<ExitCode> {
    match (print(text), wrong) {
        (Err(error), Some(wrong)) => {
            say(format_args!("diadem: {}", sentence(&error)));
            Ok(wrong)
        }
        (printed, wrong) => printed.map(|()| wrong.unwrap_or(ExitCode::SUCCESS)),
    }
}

/// An error with its causes, without repetitions.
pub fn sentence(error: &anyhow::Error) -> String {
    let mut text = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if !text.contains(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    text
}

/// Whether the error is a reader that has gone away, as `head` does.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == ErrorKind::BrokenPipe)
}

/// Prints what was noticed while a run was opened, to stderr.
pub fn notices(notices: &[Notice]) {
    for notice in notices {
        say(format_args!("diadem: {notice}"));
    }
}

/// The double-check to ask for. A larger share changes nothing when all is counted, because counts are drawn when they
/// are made: then it is not asked for, and a message says so.
pub fn without_late_share(
    asked: Option<DoubleCheck>,
    standing: &Standing,
    is_counted: bool,
) -> Option<DoubleCheck> {
    let Some(share @ DoubleCheck::Share(_)) = asked.filter(|_| is_counted) else { return asked };
    let in_force = standing.policy();
    if !matches!(raised(in_force, &share.to_string()), Ok(Some(_))) {
        return asked;
    }
    say(format_args!(
        "diadem: --double-check {share} checks nothing more, because all units are counted and units are drawn when they are \
         counted (with {in_force}); only --double-check all checks more"
    ));
    None
}

/// Prints the answer. Fails if the total differs from the published value, or if the answer cannot be
/// written, as with a closed pipe.
pub fn answer(answer: &Answer, json: bool) -> anyhow::Result<ExitCode> {
    let text =
        if json { answer_json(answer).to_string() } else { on_stdout(&answer_text(answer)).into_owned() };
    let wrong = answer.agreement().is_wrong().then(|| ExitCode::from(exit::UNSOUND));
    verdict(&text, wrong).context("the answer cannot be printed; type the same command again")
}

fn answer_json(answer: &Answer) -> serde_json::Value {
    let Answer { board, shard, totals, units, threads, elapsed, cpu, .. } = answer;
    let (kernel, isa) = kernel_and_isa(answer);
    let mut object = json!({
        "n": board.n(),
        "total": totals.solutions().to_string(),
        "fundamental": totals.fundamental().to_string(),
        "a": totals.a.to_string(),
        "p": totals.p.to_string(),
        "r": totals.r.to_string(),
        "known": match answer.agreement() {
            Agreement::Agrees => "agrees",
            Agreement::SymmetricAgrees => "symmetric-agrees",
            Agreement::Differs => "differs",
            Agreement::SymmetricDiffers => "symmetric-differs",
            Agreement::None => "none",
        },
        "units": units,
        "threads": threads,
        "kernel": kernel,
        "isa": isa,
        "seconds": elapsed.as_secs_f64(),
        "cpu_seconds": cpu.as_secs_f64(),
        "worth": assurance::value(&answer.assurance, *units),
    });
    if !shard.is_whole() {
        object["shard"] = json!(shard.to_string());
    }
    object
}

/// The total of a finished run, compared with the published value.
pub fn total_text(board: Board, shard: Shard, totals: &Totals) -> String {
    let part = if shard.is_whole() { String::new() } else { format!(" ({shard} only)") };
    let known = Agreement::of(board, shard, totals).words();
    format!("Q({board}) = {}{part}: {known}", totals.solutions())
}

fn answer_text(answer: &Answer) -> String {
    let Answer { board, shard, totals, units, threads, elapsed, cpu, .. } = answer;
    let (kernel, isa) = kernel_and_isa(answer);
    let classes = if board.n() == 1 {
        "A = P = R = 0: all images of a single queen are itself, which is no class".to_owned()
    } else {
        let fundamental = totals.fundamental();
        format!("A = {}, P = {}, R = {}; {fundamental} up to symmetry", totals.a, totals.p, totals.r)
    };
    format!(
        "{}\n\
         {classes}\n\
         {} in {} with {} ({} of processor time), kernel {kernel}/{isa}\n\
         {}",
        total_text(*board, *shard, totals),
        counted(*units, "unit"),
        span(*elapsed),
        counted(*threads, "thread"),
        span(*cpu),
        assurance::sentence(&answer.assurance, *units, *units, answer.agreement() == Agreement::Agrees),
    )
}

/// The kernels that counted, as one method and one instruction set; several are joined by a plus sign.
fn kernel_and_isa(answer: &Answer) -> (String, String) {
    let mut methods = Vec::new();
    let mut isas = Vec::new();
    for (method, isa) in answer.kernels.iter().filter_map(|name| name.split_once('/')) {
        if !methods.contains(&method) {
            methods.push(method);
        }
        if !isas.contains(&isa) {
            isas.push(isa);
        }
    }
    (methods.join("+"), isas.join("+"))
}

/// A time span for people: `0.42 s`, `3m 20s`, `5 days 3h`.
pub fn span(duration: Duration) -> String {
    if duration < Duration::from_mins(1) {
        return format!("{:.2} s", duration.as_secs_f64());
    }
    let text = humantime::format_duration(Duration::from_secs(duration.as_secs())).to_string();
    let spaced = |part: &str| {
        let (number, unit) = part.split_at(part.find(char::is_alphabetic).unwrap_or(part.len()));
        if unit.len() > 2 { format!("{number} {unit}") } else { part.to_owned() }
    };
    text.split(' ').take(2).map(spaced).collect::<Vec<_>>().join(" ")
}

/// The remaining time of the run, as in `about 3 to 5 weeks left`. When all units are counted: what the run
/// waits for.
pub fn time_left(status: &RunStatus) -> String {
    let time = match &status.left {
        Some(left) => format!("{} left", words::range(left)),
        None => "time left unknown".to_owned(),
    };
    match (status.done == status.units, status.assurance.pending) {
        (false, _) => time,
        (true, checks @ 1..) if status.phase == Phase::Counting => {
            format!("all counted, {} to go, {time}", counted(checks, "check"))
        }
        (true, 0)
            if status.phase == Phase::Counting && status.left.is_some_and(|left| !left.high.is_zero()) =>
        {
            format!("all counted, checks by another owner to go, {time}")
        }
        (true, _) => "nothing left to be counted".to_owned(),
    }
}

/// How long ago a worker was heard of, or that it leaves.
pub fn last_word(worker: &WorkerStatus) -> String {
    if worker.drains { "leaving".to_owned() } else { span(worker.last_word) }
}

/// A rate with three figures; a larger one as its whole part, a slow one with four places.
pub fn significant(rate: f64) -> String {
    match rate {
        _ if rate > 0.0 && rate < 0.0995 => format!("{rate:.4}"),
        _ if rate >= 99.95 => format!("{rate:.0}"),
        _ if rate >= 9.995 => format!("{rate:.1}"),
        _ => format!("{rate:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_have_three_figures() {
        let rates = [0.123, 12.34, 123.4, 0.0, 0.001_23].map(significant);
        assert_eq!(rates, ["0.12", "12.3", "123", "0.00", "0.0012"]);
    }

    #[test]
    fn spans_are_printed_in_two_units() {
        let hours = |hours| span(Duration::from_hours(hours));
        assert_eq!(
            (span(Duration::from_millis(420)), span(Duration::from_secs(200))),
            ("0.42 s".into(), "3m 20s".into())
        );
        assert_eq!(
            (hours(123), hours(24), hours(9000)),
            ("5 days 3h".into(), "1 day".into(), "1 year 9 days".into())
        );
    }

    #[test]
    fn repeated_causes_are_printed_once() {
        let full = || io::Error::from(ErrorKind::StorageFull);
        let own = anyhow::Error::new(full()).context(format!("cannot write x: {}", full()));
        assert_eq!(sentence(&own), "cannot write x: no storage space");
        let and_more = anyhow::Error::new(full()).context(format!("cannot write x: {}; make room", full()));
        assert_eq!(sentence(&and_more), "cannot write x: no storage space; make room");
        let bare = anyhow::Error::new(full()).context("cannot write x").context("run");
        assert_eq!(sentence(&bare), "run: cannot write x: no storage space");
    }
}
