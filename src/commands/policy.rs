//! `diadem policy`: changes how the counts of a run are checked and copied, while it is served.

use std::process::ExitCode;

use anyhow::Context;
use proto::{PolicyChange, PolicyInForce};
use worker::Remote;

use crate::access::{ADMIN, JOIN, credentials};
use crate::args::PolicyArgs;
use crate::exit::WrongCommand;
use crate::output::print;

pub fn run(args: PolicyArgs) -> anyhow::Result<ExitCode> {
    let url = args.coordinator;
    if !url.contains("://") {
        return Err(WrongCommand::NotServed(url).into());
    }
    let double_check = args.change.double_check.map(|policy| policy.to_string());
    let change = PolicyChange { double_check, replicas: args.change.replicas, reason: args.reason };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let credentials = credentials(args.keys.as_deref(), [ADMIN, JOIN])?;
    let PolicyInForce { double_check, replicas } = runtime.block_on(async {
        let remote = Remote::new(&[&url], &credentials)?;
        remote.change_policy(change).await.with_context(|| url.clone())
    })?;
    print(&format!("in force at {url}: --double-check {double_check} --replicas {replicas}"))?;
    Ok(ExitCode::SUCCESS)
}
