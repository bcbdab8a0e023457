//! `diadem verify`: audits a run directory from its ledger alone.

use std::process::ExitCode;

use anyhow::bail;
use coordinator::run_directory::RunDirectory;
use coordinator::{Agreement, Answer, audit};

use crate::args::VerifyArgs;
use crate::output::print;

pub fn run(args: &VerifyArgs) -> anyhow::Result<ExitCode> {
    let directory = RunDirectory::open(&args.run)?;
    let audit = audit(&directory)?;
    let (plan, shard) = (directory.plan(), directory.run().shard);
    let mark = audit.tail.end.mark;
    let units = shard.size(plan.units());
    print(&format!(
        "{}: n = {}, {shard}, plan {}\n\
         chain and CRCs: {} records in {} ledger files, each intact and following the one before\n\
         tail: {} bytes after the last commit mark, never acknowledged\n\
         counts: one standing count each for {} of {units} units; {} confirmed, {} contradicted\n\
         sums: A = {}, P = {}, R = {}, {} solutions, no contradiction among symmetric counts\n\
         counted by {} with {}",
        args.run.display(),
        plan.board(),
        plan.fingerprint(),
        mark.records,
        audit.tail.end.file,
        audit.tail.bytes,
        audit.standing.done(),
        audit.standing.sums().checks,
        audit.standing.sums().conflicts,
        audit.totals.a,
        audit.totals.p,
        audit.totals.r,
        audit.totals.solutions(),
        joined(&audit.workers),
        joined(&audit.kernels),
    ))?;
    if let Some(missing) = audit.missing {
        bail!(
            "the ledger is sound but not complete: {} units are missing, the first is {missing}",
            audit.missing_units
        );
    }
    match Answer::of(&audit, plan.board(), shard).agreement() {
        Agreement::Agrees => print("complete; the total agrees with the published value")?,
        Agreement::None => print("complete")?,
        Agreement::Differs => bail!("the ledger is complete, but its total differs from the published value"),
    }
    Ok(ExitCode::SUCCESS)
}

fn joined(names: &std::collections::BTreeSet<String>) -> String {
    const SHOWN: usize = 8;
    let mut shown: Vec<_> = names.iter().take(SHOWN).cloned().collect();
    if names.len() > SHOWN {
        shown.push(format!("{} more", names.len() - SHOWN));
    }
    if shown.is_empty() { "nobody".into() } else { shown.join(", ") }
}
