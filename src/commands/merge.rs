//! `diadem merge`: joins shards into one run.

use std::process::ExitCode;

use coordinator::run_directory::RunDirectory;
use coordinator::{Answer, Merged, audit, merge};

use crate::args::MergeArgs;
use crate::exit;
use crate::log::say;
use crate::output::{self, print};

pub fn run(args: &MergeArgs) -> anyhow::Result<ExitCode> {
    let merged = merge(&args.out, &args.parts)?;
    let directory = RunDirectory::open(&args.out)?;
    let out = args.out.display();
    tell(&merged);
    print(&format!(
        "{out}: {} of {} units, {} of them counted more than once",
        merged.done, merged.units, merged.repeated
    ))?;
    if let Some(missing) = merged.missing {
        let left = merged.units - merged.done;
        let n = directory.plan().board();
        print(&format!(
            "{left} units are missing, the first is {missing}; count them with: diadem count {n} --run {out}"
        ))?;
        return Ok(ExitCode::from(exit::UNSOUND));
    }
    let audit = audit(&directory)?;
    output::answer(&Answer::of(&audit, directory.plan().board(), directory.run().shard), false)
}

/// Says what the parts have that the joint run has not, or that they do not agree upon.
fn tell(merged: &Merged) {
    for difference in &merged.differences {
        say(format_args!("diadem: {difference}: neither is believed"));
    }
    if merged.disputed > 0 {
        say(format_args!("diadem: {} units are in dispute; they are counted again", merged.disputed));
    }
    if merged.left_out > 0 {
        say(format_args!(
            "diadem: {} counts are left out: those who made them were wrong, and nobody else has confirmed them",
            merged.left_out
        ));
    }
}
