//! `diadem retract`: takes counts back that the operator does not believe.

use std::process::ExitCode;

use coordinator::retract;

use crate::args::RetractArgs;
use crate::output::print;

pub fn run(args: &RetractArgs) -> anyhow::Result<ExitCode> {
    let units = retract(&args.run, &args.target.target(args.readmit), &args.reason)?;
    let run = args.run.display();
    if args.readmit {
        print(&format!("believed again in {run} from now on; what was taken back stays so"))?;
        return Ok(ExitCode::SUCCESS);
    }
    let units = if units == 1 { "1 unit is".to_owned() } else { format!("{units} units are") };
    print(&format!("{units} open again in {run}; go on with the run to count them"))?;
    Ok(ExitCode::SUCCESS)
}
