//! `diadem merge`: joins shards into one run.

use std::process::ExitCode;

use coordinator::run_directory::RunDirectory;
use coordinator::{Answer, audit, merge};

use crate::args::MergeArgs;
use crate::output::{self, print};

pub fn run(args: &MergeArgs) -> anyhow::Result<ExitCode> {
    let merged = merge(&args.out, &args.parts)?;
    let directory = RunDirectory::open(&args.out)?;
    let out = args.out.display();
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
        return Ok(ExitCode::SUCCESS);
    }
    let audit = audit(&directory)?;
    output::answer(&Answer::of(&audit, directory.plan().board(), directory.run().shard), false)
}
