//! `diadem verify`: re-checks a run from its ledger alone, step by step, up to the first thing that is wrong.

mod by_program;
mod progress;
mod published;
mod verify_report;

use std::collections::BTreeSet;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Context;
use dashboard::assurance::percent_above;
use domain::{counted, quoted, seen};
use records::run_directory::RunDirectory;
use records::standing::{Machine, UnitMark};
use records::verify::{SampleRecount, SampleSize, Verification, VerifyError};
use records::{Agreement, Audit, CONFIDENCE};
use serde_json::json;

use crate::args::{UnitSpan, VerifyArgs};
use crate::exit;
use crate::external::ExternalProgram;
use crate::host::memory::fitting_threads;
use crate::log::say;
use crate::output::sentence;
use crate::progress::during;
use crate::signals::Interruption;
use progress::RecountProgress;
use published::{read_certificate, report_export, report_heads};
use verify_report::VerifyReport;

pub fn run(args: &VerifyArgs) -> anyhow::Result<ExitCode> {
    let mut report = VerifyReport::new(args.json, args.run.is_some());
    let mut interruption = None;
    let verified = verify(args, &mut report, &mut interruption);
    if let Some(code) = interruption.and_then(|interruption| interruption.exit_code()) {
        return Ok(code);
    }
    let way_on = verified.as_ref().err().and_then(|error| way_on(args.run.as_deref()?, error));
    let printed = report.end(&verified, way_on.as_deref());
    match (verified, way_on) {
        (Ok(()), _) => printed.map(|()| ExitCode::SUCCESS),
        (Err(error), None) => Err(error),
        (Err(error), Some(way_on)) => {
            say(format_args!("diadem: {}; to count it again: {way_on}", sentence(&error)));
            Ok(exit::of(&error))
        }
    }
}

/// The command that takes the counts back that cannot stand.
fn way_on(run: &Path, error: &anyhow::Error) -> Option<String> {
    let directory = RunDirectory::open(run).ok()?;
    let units = error.downcast_ref::<VerifyError>()?.wrong_units(&directory);
    if units.is_empty() {
        return None;
    }
    // A constellation has many units. They are consecutive, except for the units of other shards.
    let spans = UnitSpan::of(&units, directory.run().shard.of());
    let named =
        spans.iter().fold(quoted(&run.to_string_lossy()), |named, span| format!("{named} --unit {span}"));
    let yes = if units.len() > 1 { " --yes" } else { "" };
    Some(format!("diadem retract {named}{yes} --reason 'found wrong by diadem verify'"))
}

/// Sets `interruption` once a signal no longer ends the process at once.
fn verify(
    args: &VerifyArgs,
    report: &mut VerifyReport,
    interruption: &mut Option<Interruption>,
) -> anyhow::Result<()> {
    let certificate =
        args.certificate.as_deref().map(|path| read_certificate(path, args, report)).transpose()?;
    let Some(path) = &args.run else { return Ok(()) };
    let directory = RunDirectory::open(path)?;
    let run = audited(&directory, args.recount, args.seed)?;
    report_ledger(report, path, &directory, run.audit())?;
    let heads = args.heads.as_ref().map(|path| report_heads(report, path, &directory, run.audit()));
    let published = heads.transpose()?;
    let threads = fitting_threads(args.threads);
    if let Err(wrong) = run.expect_symmetric() {
        // A recount names the wrong counts, even in a run that stopped because of them.
        recount_symmetric(&run, threads)?;
        return Err(wrong.into());
    }
    run.expect_complete()?;
    report_identities(report, &run)?;
    report_partition(report, &run)?;
    if let Some((path, certificate)) = args.certificate.as_ref().zip(certificate) {
        let file = path.display();
        let is_of_coordinator = certificate.check(&directory, published).with_context(|| file.to_string())?;
        certificate.expect_still(&run.audit().totals).with_context(|| file.to_string())?;
        report.add(&format!("{file}: agrees with the ledger"), "certified", json!(true))?;
        let whose = if is_of_coordinator { "one" } else { "none" };
        let place = if published.is_some() { " in front of the last published head" } else { "" };
        report.add(
            &format!("{file}: its key is {whose} of the coordinators' keys in the ledger{place}"),
            "certified_by_coordinator",
            json!(is_of_coordinator),
        )?;
    }
    if let Some(path) = &args.export {
        report_export(report, path, &directory, run.audit())?;
    }
    let again = recount_symmetric(&run, threads)?;
    report.add(
        &format!("symmetric counts: all {again} found again by a second algorithm"),
        "symmetric_counts",
        json!({ "units": again, "agree": true }),
    )?;
    let again = if let Some(command) = &args.external.external {
        let program = ExternalProgram::new(command.clone(), args.external.timeout());
        by_program::recount(&run, program, threads, interruption.insert(Interruption::listen()?))?
    } else {
        let progress = RecountProgress::new("recount", run.sample_units());
        run.recount_sample(args.method.0, threads, &|| progress.advance())?
    };
    report_recount(report, &again, args)?;
    report_published(report, &run)
}

/// The run as its ledger has it.
pub fn audited(
    directory: &RunDirectory,
    recount: SampleSize,
    seed: Option<u64>,
) -> Result<Verification<'_>, VerifyError> {
    during("auditing the ledger", || Verification::read(directory, recount, seed))
}

/// Counts all symmetric counts again, and shows how far it is.
pub fn recount_symmetric(run: &Verification<'_>, threads: u32) -> anyhow::Result<u64> {
    let progress = RecountProgress::new("symmetric counts", run.symmetric_units());
    Ok(run.recount_symmetric(threads, &|| progress.advance())?)
}

fn report_ledger(
    report: &mut VerifyReport,
    path: &Path,
    directory: &RunDirectory,
    audit: &Audit,
) -> anyhow::Result<()> {
    let (plan, shard) = (directory.plan(), directory.run().shard);
    let (mark, sums) = (audit.tail.end.mark, audit.standing.sums());
    let confirmed = audit.standing.marked(UnitMark::Checked);
    let (units, totals) = (shard.size(plan.units()), audit.totals);
    let machines: BTreeSet<String> = sums.machines.iter().map(Machine::title).collect();
    let (records, files) = (counted(mark.records, "record"), counted(audit.tail.end.files(), "ledger file"));
    let lines = [
        format!("{}: n = {}, {shard}, plan {}", path.display(), plan.board(), plan.fingerprint()),
        format!("chain and CRCs: {records} in {files}, each intact and following the one before"),
        format!("tail: {} bytes after the last commit mark, never acknowledged", audit.tail.bytes),
        format!(
            "counts: one standing count each for {} of {}; {confirmed} confirmed, {} contradicted, {} retracted",
            audit.standing.done(),
            counted(units, "unit"),
            sums.conflicts,
            audit.retracted
        ),
        format!(
            "sums: A = {}, P = {}, R = {}, {} solutions, no contradiction among symmetric counts",
            totals.a,
            totals.p,
            totals.r,
            totals.solutions()
        ),
        format!("counted by {} with {}", joined(machines.iter()), joined(audit.kernels.iter())),
        format!("keys of its coordinators: {}", joined(audit.keys.keys())),
    ];
    report.add(
        &lines.join("\n"),
        "ledger",
        json!({
            "n": plan.board().n(),
            "plan": plan.fingerprint().to_string(),
            "part": shard.to_string(),
            "records": mark.records,
            "files": audit.tail.end.files(),
            "tail_bytes": audit.tail.bytes,
            "units": units,
            "counted": audit.standing.done(),
            "confirmed": confirmed,
            "checks": sums.checks,
            "contradicted": sums.conflicts,
            "retracted": audit.retracted,
            "solutions": totals.solutions().to_string(),
            "a": totals.a.to_string(),
            "p": totals.p.to_string(),
            "r": totals.r.to_string(),
            "machines": machines,
            "workers": audit.workers,
            "kernels": audit.kernels,
            "keys": audit.keys.keys().collect::<Vec<_>>(),
        }),
    )
}

fn report_identities(report: &mut VerifyReport, run: &Verification<'_>) -> anyhow::Result<()> {
    let Some(found) = run.identities()? else { return Ok(()) };
    report.add(
        &format!(
            "identities: the solutions of {} families add up to the total; {} symmetric counts of the quarter \
             turn are multiples of {}",
            found.families, found.rotational, found.power
        ),
        "identities",
        json!({"families": found.families, "rotational": found.rotational, "power": found.power}),
    )
}

fn report_partition(report: &mut VerifyReport, run: &Verification<'_>) -> anyhow::Result<()> {
    let found = during("looking up solutions in the plan", || run.partition())?;
    report.add(
        &format!("partition: {}", found.words()),
        "partition",
        json!({"solutions": found.solutions, "symmetric": found.symmetric, "all": found.is_whole}),
    )
}

fn report_recount(report: &mut VerifyReport, again: &SampleRecount, args: &VerifyArgs) -> anyhow::Result<()> {
    let SampleRecount { units, of, seed, wrong_at_most } = *again;
    let (method, program) = (args.method.0, args.external.external.as_ref().map(|command| &command.text));
    let how = match (program, method) {
        (Some(program), _) => format!("by the external program {}", seen(program, &[])),
        (None, Some(method)) => format!("by the method {method}, mirrored"),
        (None, None) => "with another kernel, mirrored".to_owned(),
    };
    let words = match units {
        0 if of > 0 => "recount: no unit was counted again".to_owned(),
        _ if units == of => format!("recount: all {of} units found again {how}"),
        _ => format!(
            "recount: {units} of {of} units, chosen by seed {seed}, found again {how}: with {:.0} % \
             confidence at most {} % of all units are wrong",
            100.0 * CONFIDENCE,
            percent_above(100.0 * wrong_at_most)
        ),
    };
    report.add(
        &words,
        "recount",
        json!({
            "units": units,
            "of": of,
            "seed": seed,
            "method": method.map(|method| method.to_string()),
            "external": program,
            "wrong_at_most": wrong_at_most,
            "confidence": CONFIDENCE,
        }),
    )
}

fn report_published(report: &mut VerifyReport, run: &Verification<'_>) -> anyhow::Result<()> {
    let agreement = run.expect_published()?;
    run.expect_checked()?;
    let (words, name) = match agreement {
        Agreement::Agrees => ("complete; the total agrees with the published value", "agrees"),
        Agreement::SymmetricAgrees => {
            ("complete; P and R agree with the published values", "symmetric-agrees")
        }
        _ => ("complete", "none"),
    };
    report.add(words, "published", json!(name))
}

/// The names in one line: the first of them, and how many more there are.
pub fn joined<'a>(names: impl ExactSizeIterator<Item = &'a String>) -> String {
    const SHOWN: usize = 8;
    // A forged ledger may have line ends in a name, and whole lines of an answer after them.
    let in_one_line = |name: &String| name.replace('\n', "\\n");
    let more = names.len().saturating_sub(SHOWN);
    let mut shown: Vec<_> = names.take(SHOWN).map(in_one_line).collect();
    if more > 0 {
        shown.push(format!("{more} more"));
    }
    if shown.is_empty() { "nobody".into() } else { shown.join(", ") }
}
