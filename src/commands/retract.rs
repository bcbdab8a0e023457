//! `diadem retract`: takes counts back that the operator does not believe.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, anyhow};
use coordinator::run_directory::RunDirectoryError;
use coordinator::store::StoreError;
use coordinator::{RetractError, Retracted};
use proto::Takeback;
use worker::Remote;

use crate::access::{ADMIN, JOIN, credentials};
use crate::args::RetractArgs;
use crate::output::{self, print};

pub fn run(args: &RetractArgs) -> anyhow::Result<ExitCode> {
    let takeback = Takeback { target: args.target.target(args.readmit), reason: args.reason.clone() };
    let is_served = args.run.contains("://");
    let units = if is_served { ask(args, takeback)? } else { take_back(Path::new(&args.run), &takeback)? };
    let run = &args.run;
    if args.readmit {
        print(&format!("believed again in {run} from now on; what was taken back stays so"))?;
        return Ok(ExitCode::SUCCESS);
    }
    let units = if units == 1 { "1 unit is".to_owned() } else { format!("{units} units are") };
    let how = if is_served { "its workers count them" } else { "go on with the run to count them" };
    // Who is not believed counts nothing, and may be the only one who is there.
    let but = if args.target.is_somebody() {
        ", but for who is not believed now, until --readmit says otherwise"
    } else {
        ""
    };
    print(&format!("{units} open again in {run}; {how}{but}"))?;
    Ok(ExitCode::SUCCESS)
}

/// Takes back in the run directory.
fn take_back(run: &Path, takeback: &Takeback) -> anyhow::Result<u64> {
    let Retracted { units, notices } = coordinator::retract(run, takeback).map_err(|error| match error {
        RetractError::Store(StoreError::Directory(RunDirectoryError::InUse { path, pid })) => anyhow!(
            "{} is in use by process {pid}; where that is its coordinator, name its URL in place of the directory, as in \
             diadem retract http://127.0.0.1:7227",
            path.display()
        ),
        error => error.into(),
    })?;
    output::notices(&notices);
    Ok(units)
}

/// Has the coordinator take back.
fn ask(args: &RetractArgs, takeback: Takeback) -> anyhow::Result<u64> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let credentials = credentials(args.keys.as_deref(), [ADMIN, JOIN])?;
    runtime.block_on(async {
        let remote = Remote::new(&[&args.run], &credentials)?;
        remote.retract(takeback).await.with_context(|| args.run.clone())
    })
}
