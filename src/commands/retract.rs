//! `diadem retract`: takes counts back that the operator does not believe.

use std::path::Path;
use std::process::ExitCode;

use anyhow::anyhow;
use domain::{Takeback, TakenBack};
use records::run_directory::RunDirectoryError;
use records::store::StoreError;
use records::{RetractError, Retracted};

use super::steer::ask;
use crate::args::{RetractArgs, RetractIn};
use crate::output::{self, print, warn_missing_replicas};

pub fn run(args: &RetractArgs) -> anyhow::Result<ExitCode> {
    let takeback = Takeback { target: args.target.target(args.readmit), reason: args.reason.clone() };
    let (run, units, how) = match args.place() {
        RetractIn::Directory(run) => {
            let units = retract_offline(&run, &takeback)?;
            (run.display().to_string(), units, "resume the run to count them")
        }
        RetractIn::Served(addresses) => {
            let asked =
                ask(&addresses, args.keys.as_deref(), async |remote| remote.retract(takeback.clone()).await);
            let (at, TakenBack { units, copies }) = asked?;
            warn_missing_replicas(copies);
            (at, units, "its workers count them")
        }
    };
    if args.readmit {
        print(&format!("believed again in {run} from now on; what was taken back stays so"))?;
        return Ok(ExitCode::SUCCESS);
    }
    let units = if units == 1 { "1 unit is".to_owned() } else { format!("{units} units are") };
    // A machine that is not believed cannot count, and may be the only connected machine.
    let but = if args.target.is_somebody() {
        ", but not by machines that are not believed, until they are readmitted"
    } else {
        ""
    };
    print(&format!("{units} open again in {run}; {how}{but}"))?;
    Ok(ExitCode::SUCCESS)
}

/// Takes back in the run directory.
fn retract_offline(run: &Path, takeback: &Takeback) -> anyhow::Result<u64> {
    let Retracted { units, notices } = records::retract(run, takeback).map_err(|error| match error {
        RetractError::Store(StoreError::Directory(RunDirectoryError::InUse { path, pid })) => anyhow!(
            "{} is in use by process {pid}; if that is its coordinator, use its URL in place of the \
             directory, as in diadem retract --coordinator http://127.0.0.1:7227",
            path.display()
        ),
        error => error.into(),
    })?;
    output::notices(&notices);
    Ok(units)
}
