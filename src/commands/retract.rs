//! `diadem retract`: takes counts back that the operator does not believe.

use std::process::ExitCode;

use coordinator::retract;

use crate::args::RetractArgs;
use crate::output::print;

pub fn run(args: &RetractArgs) -> anyhow::Result<ExitCode> {
    let units = retract(&args.run, &args.target.target(), &args.reason)?;
    let units = if units == 1 { "1 unit is".to_owned() } else { format!("{units} units are") };
    print(&format!("{units} open again in {}; go on with the run to count them", args.run.display()))?;
    Ok(ExitCode::SUCCESS)
}
