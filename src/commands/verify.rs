//! `diadem verify`: re-checks a run from its ledger alone, step by step, up to the first thing that is wrong.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, bail};
use coordinator::export::TableSource;
use coordinator::run_directory::RunDirectory;
use coordinator::{Agreement, Answer, Audit, audit_each, identities};
use queens::UnitId;
use queens::tally::{Measure, Summand};
use rand::rngs::StdRng;
use rand::seq::index;
use rand::{RngExt, SeedableRng};
use serde_json::{Map, Value, json};

use crate::args::{Sample, VerifyArgs};
use crate::output::print;
use crate::recount::{Standing, recount};

pub fn run(args: &VerifyArgs) -> anyhow::Result<ExitCode> {
    let mut report = Report { json: args.json.then(Map::new) };
    let verified = verify(args, &mut report);
    report.end(&verified)?;
    verified.map(|()| ExitCode::SUCCESS)
}

fn verify(args: &VerifyArgs, report: &mut Report) -> anyhow::Result<()> {
    let directory = RunDirectory::open(&args.run)?;
    let choice = Choice::of(&directory, args);
    let mut symmetric = Standing::of(choice.symmetric.iter().copied());
    let mut sample = Standing::of(choice.sample.iter().copied());
    let audit = audit_each(&directory, |location, record| {
        symmetric.note(location, record);
        sample.note(location, record);
    })?;
    tell_ledger(report, &args.run, &directory, &audit)?;
    if let Some(missing) = audit.missing {
        bail!(
            "the ledger is sound but not complete: {} units are missing, the first is {missing}",
            audit.missing_units
        );
    }
    let unbelieved = audit.standing.unbelieved();
    if unbelieved > 0 {
        bail!(
            "{unbelieved} counts of quarantined machines stand that no other machine has confirmed: go on with the run, it counts them again"
        );
    }
    let (plan, run) = (directory.plan(), directory.run());
    if run.shard.is_whole() {
        let found = identities::check(plan, &audit.standing, &audit.totals)?;
        report.tell(
            &format!(
                "identities: the solutions of {} families add up to the total; {} symmetric counts of the quarter \
                 turn are multiples of {}",
                found.families, found.rotational, found.power
            ),
            "identities",
            json!({"families": found.families, "rotational": found.rotational, "power": found.power}),
        )?;
    }
    let threads = args.threads.count();
    let again = recount(plan, &symmetric, threads, "symmetric counts")?;
    report.tell(
        &format!("symmetric counts: all {again} found again by a second algorithm"),
        "symmetric_counts",
        json!({ "units": again, "agree": true }),
    )?;
    let again = recount(plan, &sample, threads, "recount")?;
    tell_recount(report, again, &choice)?;
    tell_published(report, &directory, &audit)?;
    if let Some(path) = &args.export {
        tell_export(report, path, &directory, &audit)?;
    }
    Ok(())
}

/// The units that are counted again.
struct Choice {
    symmetric: Vec<UnitId>,
    sample: Vec<UnitId>,
    /// Of how many the sample was chosen.
    of: u64,
    seed: u64,
}

impl Choice {
    fn of(directory: &RunDirectory, args: &VerifyArgs) -> Self {
        let (plan, shard) = (directory.plan(), directory.run().shard);
        let (mut symmetric, mut completions) = (Vec::new(), Vec::new());
        for piece in plan.pieces() {
            let counts = match piece.summand {
                Summand::Asymmetric | Summand::Symmetric(_, Measure::Completions) => &mut completions,
                Summand::Symmetric(_, Measure::HalfTurn | Measure::QuarterTurn) => &mut symmetric,
            };
            counts.extend(piece.units.map(UnitId).filter(|unit| shard.contains(*unit)));
        }
        let of = completions.len() as u64;
        let seed = args.seed.unwrap_or_else(|| u64::from(rand::rng().random::<u32>()));
        let sample = match args.recount {
            Sample::Units(units) if units < of => {
                let random = &mut StdRng::seed_from_u64(seed);
                let chosen = index::sample(random, completions.len(), units as usize);
                chosen.into_iter().map(|at| completions[at]).collect()
            }
            Sample::Units(_) | Sample::All => completions,
        };
        Self { symmetric, sample, of, seed }
    }
}

fn tell_ledger(
    report: &mut Report,
    path: &Path,
    directory: &RunDirectory,
    audit: &Audit,
) -> anyhow::Result<()> {
    let (plan, shard) = (directory.plan(), directory.run().shard);
    let (mark, sums) = (audit.tail.end.mark, audit.standing.sums());
    let (units, totals) = (shard.size(plan.units()), audit.totals);
    report.tell(
        &format!(
            "{}: n = {}, {shard}, plan {}\n\
             chain and CRCs: {} records in {} ledger files, each intact and following the one before\n\
             tail: {} bytes after the last commit mark, never acknowledged\n\
             counts: one standing count each for {} of {units} units; {} confirmed, {} contradicted\n\
             sums: A = {}, P = {}, R = {}, {} solutions, no contradiction among symmetric counts\n\
             counted by {} with {}",
            path.display(),
            plan.board(),
            plan.fingerprint(),
            mark.records,
            audit.tail.end.file,
            audit.tail.bytes,
            audit.standing.done(),
            sums.checks,
            sums.conflicts,
            totals.a,
            totals.p,
            totals.r,
            totals.solutions(),
            joined(&audit.workers),
            joined(&audit.kernels),
        ),
        "ledger",
        json!({
            "n": plan.board().n(),
            "plan": plan.fingerprint().to_string(),
            "part": shard.to_string(),
            "records": mark.records,
            "files": audit.tail.end.file,
            "tail_bytes": audit.tail.bytes,
            "units": units,
            "counted": audit.standing.done(),
            "confirmed": sums.checks,
            "contradicted": sums.conflicts,
            "solutions": totals.solutions().to_string(),
            "a": totals.a.to_string(),
            "p": totals.p.to_string(),
            "r": totals.r.to_string(),
            "workers": audit.workers,
            "kernels": audit.kernels,
        }),
    )
}

fn tell_recount(report: &mut Report, again: u64, choice: &Choice) -> anyhow::Result<()> {
    let Choice { of, seed, .. } = *choice;
    let bound = wrong_at_most(again, of);
    let words = match again {
        0 if of > 0 => "recount: no unit was counted again".to_owned(),
        _ if again == of => format!("recount: all {of} units found again with another kernel, mirrored"),
        _ => format!(
            "recount: {again} of {of} units, chosen by seed {seed}, found again with another kernel, mirrored: with \
             95 % confidence at most {:.2} % of all units are wrong",
            100.0 * bound
        ),
    };
    report.tell(
        &words,
        "recount",
        json!({ "units": again, "of": of, "seed": seed, "wrong_at_most": bound, "confidence": 0.95 }),
    )
}

/// The largest share of wrong units that a sample without any leaves with 5 % probability.
fn wrong_at_most(sample: u64, of: u64) -> f64 {
    match sample {
        _ if sample == of => 0.0,
        0 => 1.0,
        _ => 1.0 - 0.05f64.powf(1.0 / sample as f64),
    }
}

fn tell_published(report: &mut Report, directory: &RunDirectory, audit: &Audit) -> anyhow::Result<()> {
    let (words, name) = match Answer::of(audit, directory.plan().board(), directory.run().shard).agreement() {
        Agreement::Agrees => ("complete; the total agrees with the published value", "agrees"),
        Agreement::None => ("complete", "none"),
        Agreement::Differs => bail!("the ledger is complete, but its total differs from the published value"),
    };
    report.tell(words, "published", json!(name))
}

fn tell_export(
    report: &mut Report,
    path: &Path,
    directory: &RunDirectory,
    audit: &Audit,
) -> anyhow::Result<()> {
    let file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
    let source = TableSource { directory, standing: &audit.standing, totals: audit.totals };
    let (by, digest) =
        source.compare(&mut BufReader::new(file)).with_context(|| path.display().to_string())?;
    report.tell(
        &format!("{}: the table by {by} is that of the ledger, blake3 {digest}", path.display()),
        "export",
        json!({ "file": path, "by": by.to_string(), "blake3": digest.to_string() }),
    )
}

/// What has been verified so far: words as they come, or one JSON object in the end.
struct Report {
    json: Option<Map<String, Value>>,
}

impl Report {
    fn tell(&mut self, words: &str, name: &str, value: Value) -> anyhow::Result<()> {
        match &mut self.json {
            Some(object) => {
                object.insert(name.to_owned(), value);
                Ok(())
            }
            None => print(words),
        }
    }

    fn end(self, verified: &anyhow::Result<()>) -> anyhow::Result<()> {
        let Some(mut object) = self.json else { return Ok(()) };
        object.insert("sound".into(), json!(verified.is_ok()));
        if let Err(error) = verified {
            object.insert("wrong".into(), json!(format!("{error:#}")));
        }
        print(&Value::Object(object).to_string())
    }
}

fn joined(names: &BTreeSet<String>) -> String {
    const SHOWN: usize = 8;
    let mut shown: Vec<_> = names.iter().take(SHOWN).cloned().collect();
    if names.len() > SHOWN {
        shown.push(format!("{} more", names.len() - SHOWN));
    }
    if shown.is_empty() { "nobody".into() } else { shown.join(", ") }
}
