//! `diadem pause`, `resume` and `drain`: operator requests to a served run.

use std::path::Path;
use std::process::ExitCode;

use anyhow::Context;
use domain::{Owner, Steering, counted};
use worker::{CoordinatorError, Remote};

use crate::access::{ADMIN, JOIN, credentials};
use crate::args::{DrainArgs, OperatorArgs, PauseArgs, ResumeArgs, machine};
use crate::highest_term::ask_highest_term;
use crate::output::print;

pub fn pause(args: PauseArgs) -> anyhow::Result<ExitCode> {
    let (at, workers) = steer(&args.operator, &Steering::Pause { reason: args.reason })?;
    let how = "no more units are lent until diadem resume; those that workers hold are counted";
    print(&format!("{at} paused, {}: {how}", counted(workers, "worker")))?;
    Ok(ExitCode::SUCCESS)
}

pub fn resume(args: &ResumeArgs) -> anyhow::Result<ExitCode> {
    let (at, workers) = steer(&args.operator, &Steering::Resume)?;
    print(&format!("{at} continues, {}", counted(workers, "worker")))?;
    Ok(ExitCode::SUCCESS)
}

pub fn drain(args: &DrainArgs) -> anyhow::Result<ExitCode> {
    let (owner, machine) = machine(&args.machine);
    let steering = Steering::Drain { owner: Owner::new(&owner), machine };
    let (_, workers) = steer(&args.operator, &steering)?;
    let how = "they finish what they count, give back the rest, and leave";
    print(&format!("{} of {} asked to leave: {how}", counted(workers, "worker"), args.machine))?;
    Ok(ExitCode::SUCCESS)
}

/// The answering address, and the number of workers concerned.
fn steer(args: &OperatorArgs, steering: &Steering) -> anyhow::Result<(String, u64)> {
    ask(&args.coordinator, args.keys.as_deref(), async |remote| remote.steer(steering.clone()).await)
}

/// Sends an operator request to the coordinator of the highest term at these addresses. Returns its address
/// and its answer.
pub fn ask<T>(
    addresses: &[String],
    keys: Option<&Path>,
    wish: impl AsyncFn(&Remote) -> Result<T, CoordinatorError>,
) -> anyhow::Result<(String, T)> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let credentials = credentials(keys, [ADMIN, JOIN])?;
    runtime.block_on(async {
        let remote = Remote::typed(addresses, &credentials)?;
        let answer = ask_highest_term(&remote, wish).await?.with_context(|| addresses.join(", "))?;
        Ok((remote.address(), answer))
    })
}
