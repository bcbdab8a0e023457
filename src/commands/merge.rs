//! `diadem merge`: joins shards into one run.

use std::process::ExitCode;

use domain::{counted, quoted};
use records::run_directory::RunDirectory;
use records::{Answer, Merged, audit, merge};

use crate::args::MergeArgs;
use crate::exit;
use crate::log::say;
use crate::output::{self, on_stdout, print, verdict};
use crate::progress::during;

pub fn run(args: &MergeArgs) -> anyhow::Result<ExitCode> {
    let merged = during("joining the ledgers", || merge(&args.out, &args.parts))?;
    let directory = RunDirectory::open(&args.out)?;
    let (out, quoted_out) = (args.out.display(), quoted(&args.out.to_string_lossy()));
    if merged.was_there {
        say(format_args!("diadem: {out} joins these runs already, and is left as it is"));
    }
    print_merged(&merged);
    if merged.replicas > 0 {
        let followers = counted(merged.replicas, "follower");
        say(format_args!(
            "diadem: a coordinator of {out} waits for {followers}, as one of a part did; to wait for \
             none, run diadem coordinator --run {quoted_out} --replicas 0"
        ));
    }
    let joined = format!(
        "{out}: {} of {}, {} of them counted more than once",
        merged.done,
        counted(merged.units, "unit"),
        merged.repeated
    );
    if let Some(missing) = merged.missing {
        let left = merged.units - merged.done;
        let n = directory.plan().board();
        let missing = format!(
            "{joined}\n{} missing, the first is {missing}; count what is missing with: diadem count {n} --run {quoted_out}",
            counted(left, "unit")
        );
        return verdict(&on_stdout(&missing), Some(ExitCode::from(exit::UNSOUND)));
    }
    print(&on_stdout(&joined))?;
    let audit = during("auditing the ledger", || audit(&directory))?;
    if audit.pending() > 0 {
        let pending = counted(audit.pending(), "count");
        let n = directory.plan().board();
        let unchecked =
            format!("{pending} still to be checked; check with: diadem count {n} --run {quoted_out}");
        return verdict(&on_stdout(&unchecked), Some(ExitCode::from(exit::UNSOUND)));
    }
    output::answer(&Answer::of(&audit, directory.plan().board(), directory.run().shard), false)
}

/// Says what the parts have that the joint run has not, or that they do not agree upon.
fn print_merged(merged: &Merged) {
    for difference in &merged.differences {
        say(format_args!("diadem: {difference}: neither is believed"));
    }
    if merged.disputed > 0 {
        say(format_args!("diadem: {} in dispute, to be counted again", counted(merged.disputed, "unit")));
    }
    for disbelief in &merged.disbeliefs {
        say(format_args!("diadem: {} left out: {disbelief}", counted(disbelief.left_out, "count")));
    }
}
