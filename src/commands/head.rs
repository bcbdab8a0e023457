//! `diadem head`: prints the head of a run's hash chain for publication.

use std::io::Write;
use std::process::ExitCode;
use std::time::SystemTime;

use records::run_directory::RunDirectory;
use records::{PublishedHead, stamped_hash};
use serde_json::json;

use crate::args::HeadArgs;
use crate::log::say;
use crate::output::print;
use crate::output_file::OutputFile;
use crate::progress::during;

pub fn run(args: &HeadArgs) -> anyhow::Result<ExitCode> {
    let directory = RunDirectory::open(&args.run)?;
    let out = args.out.as_deref().map(OutputFile::named).transpose()?;
    let head = during("reading the ledger", || PublishedHead::of(&directory))?;
    let line = line(args, &directory, &head);
    let Some(out) = out else {
        print(&line)?;
        return Ok(ExitCode::SUCCESS);
    };
    let text = format!("{line}\n");
    out.write(|out| Ok(out.write_all(text.as_bytes())?))?;
    say(format_args!("sha256 {}", stamped_hash(&text)));
    Ok(ExitCode::SUCCESS)
}

/// The line that is published.
fn line(args: &HeadArgs, directory: &RunDirectory, head: &PublishedHead) -> String {
    let now = SystemTime::now();
    if !args.json {
        return head.line(directory, now);
    }
    let (n, plan, shard) =
        (directory.plan().board().n(), directory.plan().fingerprint(), directory.run().shard.fraction());
    let at = humantime::format_rfc3339_seconds(now).to_string();
    let PublishedHead { run, records, head } = head;
    let plan = plan.to_string();
    let object = json!({
        "run": run, "records": records, "head": head, "n": n, "shard": shard, "plan": plan, "at": at,
    });
    object.to_string()
}
