//! `diadem policy`: changes how the counts of a run are checked and copied, while it is served.

use std::process::ExitCode;

use domain::{PolicyChange, PolicyInForce};

use super::steer::ask;
use crate::args::PolicyArgs;
use crate::args::WrongCommand;
use crate::output::{print, tell_lack};

pub fn run(args: &PolicyArgs) -> anyhow::Result<ExitCode> {
    let addresses = if args.urls.is_empty() { &args.operator.coordinator } else { &args.urls };
    if let Some(directory) = args.urls.iter().find(|url| !url.contains("://")) {
        return Err(WrongCommand::NotServed(directory.clone()).into());
    }
    let double_check = args.change.double_check.map(|policy| policy.to_string());
    let change = PolicyChange { double_check, replicas: args.change.replicas, reason: args.reason.clone() };
    let (at, PolicyInForce { double_check, replicas, copies }) =
        ask(addresses, args.operator.keys.as_deref(), async |remote| {
            remote.change_policy(change.clone()).await
        })?;
    print(&format!("in force at {at}: --double-check {double_check} --replicas {replicas}"))?;
    tell_lack(copies);
    Ok(ExitCode::SUCCESS)
}
