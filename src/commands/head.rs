//! `diadem head`: prints the head of a run's hash chain for publication.

use std::process::ExitCode;
use std::time::SystemTime;

use records::PublishedHead;
use records::run_directory::RunDirectory;
use serde_json::json;

use crate::args::HeadArgs;
use crate::output::print;
use crate::progress::during;

pub fn run(args: &HeadArgs) -> anyhow::Result<ExitCode> {
    let directory = RunDirectory::open(&args.run)?;
    let head = during("reading the ledger", || PublishedHead::of(&directory))?;
    let (n, plan, shard) =
        (directory.plan().board().n(), directory.plan().fingerprint(), directory.run().shard.fraction());
    let at = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
    if args.json {
        let PublishedHead { run, records, head } = head;
        let plan = plan.to_string();
        let object = json!({
            "run": run, "records": records, "head": head, "n": n, "shard": shard, "plan": plan, "at": at,
        });
        print(&object.to_string())?;
    } else {
        print(&format!("{head} n={n} shard={shard} plan={plan} at={at}"))?;
    }
    Ok(ExitCode::SUCCESS)
}
