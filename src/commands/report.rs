//! `diadem report`: a run as one page of HTML, from its ledger alone.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::process::ExitCode;
use std::time::{Duration, SystemTime};

use dashboard::{Contribution, Intervened, RunReport};
use domain::{counted, quoted};
use queens::Plan;
use records::ledger::{Record, UnitRecord};
use records::run_directory::RunDirectory;
use records::standing::UnitMark;
use records::verify::{PartitionSample, VerifyError, identities};
use records::{Agreement, Answer, Audit, Intervention, PublishedHead, audit_each};

use crate::args::ReportArgs;
use crate::exit;
use crate::output;
use crate::output_file::OutputFile;
use crate::progress::during;

pub fn run(args: &ReportArgs) -> anyhow::Result<ExitCode> {
    let directory = RunDirectory::open(&args.run)?;
    let out = args.out.as_deref().map(OutputFile::named).transpose()?;
    let mut work = BTreeMap::new();
    let audit = during("auditing the ledger", || {
        audit_each(&directory, |_, record| note(&mut work, directory.plan(), record))
    })?;
    let report = report(args, &directory, &audit, work)?;
    let wrong = report.is_wrong.then(|| ExitCode::from(exit::UNSOUND));
    let Some(out) = out else { return output::verdict(&report.page(), wrong) };
    out.write(|out| Ok(out.write_all(report.page().as_bytes())?))?;
    Ok(wrong.unwrap_or(ExitCode::SUCCESS))
}

/// A machine's work, from the records.
#[derive(Default)]
struct MachineWork {
    counts: u64,
    checks: u64,
    cpu_us: u64,
    kernels: BTreeSet<String>,
}

fn note(work: &mut BTreeMap<(String, String), MachineWork>, plan: &Plan, record: &Record) {
    let (Record::Count(r) | Record::Check(r) | Record::Conflict(r)) = record else { return };
    let UnitRecord { owner, machine, kernel, .. } = r;
    let work = work.entry((owner.clone(), machine.clone())).or_default();
    if matches!(record, Record::Count(_)) {
        work.counts += 1;
    } else {
        work.checks += 1;
    }
    work.cpu_us = work.cpu_us.saturating_add(r.believed_cpu_us(plan));
    if !work.kernels.contains(kernel) {
        work.kernels.insert(kernel.clone());
    }
}

fn report(
    args: &ReportArgs,
    directory: &RunDirectory,
    audit: &Audit,
    work: BTreeMap<(String, String), MachineWork>,
) -> anyhow::Result<RunReport> {
    let (plan, run) = (directory.plan(), directory.run());
    let answer = Answer::of(audit, plan.board(), run.shard);
    let head = PublishedHead::at(directory, &audit.tail.end);
    let written = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
    Ok(RunReport {
        board: plan.board(),
        part: (!run.shard.is_whole()).then(|| run.shard.to_string()),
        plan: plan.fingerprint().to_string(),
        units: run.shard.size(plan.units()),
        done: answer.units,
        totals: audit.totals,
        verdict: verdict(audit, &answer),
        is_complete: is_counted(audit) && audit.pending() == 0 && audit.standing.suspension().is_none(),
        is_wrong: is_counted(audit) && answer.agreement().is_wrong(),
        begun: run.begun / 1000,
        elapsed: answer.elapsed,
        cpu: answer.cpu,
        disputed: audit.standing.sums().disputed.len() as u64,
        checked: checked(directory, audit, &answer)?,
        history: audit.history(directory, written),
        families: audit.families(directory),
        contributions: contributions(audit, work),
        run: head.run.to_string(),
        records: head.records,
        head: head.head.to_string(),
        keys: audit.keys.keys().cloned().collect(),
        interventions: audit.interventions.listed.iter().map(intervened).collect(),
        unlisted_interventions: audit.interventions.unlisted,
        commands: commands(args, &head),
        release: env!("CARGO_PKG_VERSION").to_owned(),
        written,
        assurance: answer.assurance,
    })
}

fn intervened(intervention: &Intervention) -> Intervened {
    Intervened {
        at: intervention.at(),
        what: intervention.to_string(),
        reason: intervention.reason().map(str::to_owned),
    }
}

/// Whether all units are counted and no count must be retracted.
fn is_counted(audit: &Audit) -> bool {
    audit.missing_units == 0 && audit.standing.unbelieved() == 0
}

fn verdict(audit: &Audit, answer: &Answer) -> String {
    if let Some(why) = audit.standing.suspension() {
        return why;
    }
    let unbelieved = audit.standing.unbelieved();
    match answer.agreement() {
        _ if audit.missing_units > 0 => {
            format!("not complete: {} still to be counted", counted(audit.missing_units, "unit"))
        }
        _ if unbelieved > 0 => {
            format!("not complete: {unbelieved} counts of machines that are not believed stand")
        }
        Agreement::Differs => "complete, but IT DIFFERS FROM THE PUBLISHED VALUE".into(),
        agreement @ Agreement::SymmetricDiffers => format!("complete, but {}", agreement.words()),
        _ if audit.pending() > 0 => {
            format!("not complete: {} still to be checked", counted(audit.pending(), "count"))
        }
        Agreement::Agrees => "complete; it agrees with the published value".into(),
        agreement @ (Agreement::SymmetricAgrees | Agreement::None) => {
            format!("complete; {}", agreement.words())
        }
    }
}

/// The checks that the run passed.
fn checked(directory: &RunDirectory, audit: &Audit, answer: &Answer) -> anyhow::Result<Vec<String>> {
    let (mark, confirmed) = (audit.tail.end.mark, audit.standing.marked(UnitMark::Checked));
    let mut checked = vec![
        format!(
            "{} records in {} of the ledger, each intact by its CRC and following the one before by its hash",
            mark.records,
            counted(audit.tail.end.files(), "file"),
        ),
        format!("one standing count each for {} units; {confirmed} were confirmed", answer.units),
        "the counts of constellations with a symmetry do not contradict each other".into(),
    ];
    if is_counted(audit) && answer.shard.is_whole() {
        let found = identities::check(directory.plan(), &audit.standing, &audit.totals);
        let found = found.map_err(VerifyError::from)?;
        checked.push(format!("the solutions of {} families add up to the total", found.families));
    }
    // Always the same solutions, so that a run has one report.
    let partition = PartitionSample::check(directory.plan(), 0);
    checked.push(partition.map_err(VerifyError::from)?.words());
    Ok(checked)
}

/// The contribution of each machine, the largest first.
fn contributions(audit: &Audit, mut work: BTreeMap<(String, String), MachineWork>) -> Vec<Contribution> {
    let of_machine = |machine: &records::standing::Machine| {
        let work = work.remove(&(machine.owner.clone(), machine.name.clone())).unwrap_or_default();
        Contribution {
            machine: machine.title(),
            is_believed: !machine.is_quarantined(),
            standing: machine.counts,
            counts: work.counts,
            checks: work.checks,
            wrong: machine.wrong,
            cpu: Duration::from_micros(work.cpu_us),
            kernels: work.kernels.into_iter().collect(),
        }
    };
    let mut contributions: Vec<_> = audit.standing.sums().machines.iter().map(of_machine).collect();
    contributions
        .sort_unstable_by(|a, b| b.standing.cmp(&a.standing).then_with(|| a.machine.cmp(&b.machine)));
    contributions
}

/// The commands that verify the run.
fn commands(args: &ReportArgs, head: &PublishedHead) -> Vec<String> {
    let run = quoted(&args.run.to_string_lossy());
    vec![
        format!("diadem verify {run}                  # the ledger, and a sample counted again"),
        format!("diadem verify {run} --recount all    # every unit counted again"),
        format!(
            "python3 tools/check.py {run}         # by a second program, which shares no code with the first"
        ),
        format!("echo '{head}' > head.txt"),
        format!("diadem verify {run} --heads head.txt # that nothing was rewritten since this report"),
    ]
}
