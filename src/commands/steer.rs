//! `diadem pause`, `resume` and `drain`: what the operator wishes of a run while it is served.

use std::process::ExitCode;

use anyhow::Context;
use coordinator::counted;
use proto::{Owner, Steering};
use worker::Remote;

use crate::access::{ADMIN, JOIN, credentials};
use crate::args::{DrainArgs, OperatorArgs, PauseArgs, ResumeArgs, machine};
use crate::output::print;

pub fn pause(args: PauseArgs) -> anyhow::Result<ExitCode> {
    let (at, workers) = ask(&args.operator, &Steering::Pause { reason: args.reason })?;
    let how = "no more units are lent until diadem resume; those that workers hold are counted";
    print(&format!("{at} paused, {}: {how}", counted(workers, "worker")))?;
    Ok(ExitCode::SUCCESS)
}

pub fn resume(args: &ResumeArgs) -> anyhow::Result<ExitCode> {
    let (at, workers) = ask(&args.operator, &Steering::Resume)?;
    print(&format!("{at} goes on, {}", counted(workers, "worker")))?;
    Ok(ExitCode::SUCCESS)
}

pub fn drain(args: &DrainArgs) -> anyhow::Result<ExitCode> {
    let (owner, machine) = machine(&args.machine);
    let steering = Steering::Drain { owner: Owner::new(&owner), machine };
    let (_, workers) = ask(&args.operator, &steering)?;
    let how = "they finish what they count, give back the rest, and leave";
    print(&format!("{} of {} asked to leave: {how}", counted(workers, "worker"), args.machine))?;
    Ok(ExitCode::SUCCESS)
}

/// Asks one address after the other; gives the first one that did it, and how many workers it concerns.
fn ask(args: &OperatorArgs, steering: &Steering) -> anyhow::Result<(String, u64)> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let credentials = credentials(args.keys.as_deref(), [ADMIN, JOIN])?;
    runtime.block_on(async {
        let remote = Remote::new(&args.coordinator, &credentials)?;
        let mut asked = remote.steer(steering.clone()).await;
        for _ in 1..remote.addresses() {
            if asked.is_err() {
                asked = remote.steer(steering.clone()).await;
            }
        }
        let workers = asked.with_context(|| args.coordinator.join(", "))?;
        Ok((remote.address().to_owned(), workers))
    })
}
