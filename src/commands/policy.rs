//! `diadem policy`: changes how the counts of a run are checked and copied, while it is served.

use std::process::ExitCode;

use domain::{PolicyChange, PolicyInForce};
use worker::CoordinatorError;

use super::steer::ask;
use crate::args::WrongCommand;
use crate::args::{PolicyArgs, PolicyChangeArgs};
use crate::output::{print, sentence, warn_missing_replicas};

pub fn run(args: &PolicyArgs) -> anyhow::Result<ExitCode> {
    let addresses = if args.urls.is_empty() { &args.operator.coordinator } else { &args.urls };
    if let Some(directory) = args.urls.iter().find(|url| !url.contains("://")) {
        return Err(WrongCommand::NotServed(directory.clone()).into());
    }
    let double_check = args.change.double_check.map(|policy| policy.to_string());
    let own_checks = args.change.own_checks.map(|share| share.to_string());
    let PolicyChangeArgs { replicas, require_owners, own, .. } = args.change.clone();
    let reason = args.reason.clone();
    let change = PolicyChange { double_check, replicas, require_owners, own_checks, own, reason };
    let (at, PolicyInForce { double_check, replicas, require_owners, own_checks, own, copies }) =
        ask(addresses, args.operator.keys.as_deref(), async |remote| {
            remote.change_policy(change.clone()).await
        })
        .map_err(|error| match error.downcast_ref() {
            Some(CoordinatorError::Refused(_)) => WrongCommand::Refused(sentence(&error)).into(),
            _ => error,
        })?;
    let own = if own.is_empty() { String::new() } else { format!(" --own-checks {own_checks} --own {own}") };
    let options =
        format!("--double-check {double_check} --replicas {replicas} --require-owners {require_owners}{own}");
    print(&format!("in force at {at}: {options}"))?;
    warn_missing_replicas(copies);
    Ok(ExitCode::SUCCESS)
}
