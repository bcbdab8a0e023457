//! `diadem policy`: changes how the counts of a run are checked and copied, while it is served.

use std::process::ExitCode;

use domain::{PolicyChange, PolicyInForce, counted};
use worker::CoordinatorError;

use super::steer::ask;
use crate::args::WrongCommand;
use crate::args::{PolicyArgs, PolicyChangeArgs};
use crate::command_line::keys_option;
use crate::output::{print, sentence, warn_missing_replicas};

pub fn run(args: &PolicyArgs) -> anyhow::Result<ExitCode> {
    let addresses = if args.urls.is_empty() { &args.operator.coordinator } else { &args.urls };
    if let Some(directory) = args.urls.iter().find(|url| !url.contains("://")) {
        return Err(WrongCommand::NotServed(directory.clone()).into());
    }
    let change = change(args);
    let (at, (before, after)) = ask(addresses, args.operator.keys.as_deref(), async |remote| {
        let dry_run = PolicyChange { dry_run: true, ..change.clone() };
        let before = remote.change_policy(dry_run).await?;
        if change.dry_run {
            let after = changed(&before, &change);
            return Ok((before, after));
        }
        Ok((before, remote.change_policy(change.clone()).await?))
    })
    .map_err(|error| match error.downcast_ref() {
        Some(CoordinatorError::Refused(_)) => WrongCommand::Refused(sentence(&error)).into(),
        _ => error,
    })?;
    let differences = differences(&before, &after);
    if args.dry_run {
        let effects: Vec<_> =
            differences.iter().map(|d| format!("\n{d}: {}", effect(d.option, &after))).collect();
        let effects =
            if effects.is_empty() { " all of this is in force already".to_owned() } else { effects.concat() };
        print(&format!("with --dry-run nothing is changed at {at};{effects}"))?;
    } else {
        print(&format!("in force at {at}: {}", options(&after)))?;
        warn_missing_replicas(after.copies);
    }
    if let Some(way_back) = way_back(args, &at, &differences) {
        print(&way_back)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn change(args: &PolicyArgs) -> PolicyChange {
    let PolicyChangeArgs { double_check, replicas, require_owners, own_checks, own } = args.change.clone();
    PolicyChange {
        double_check: double_check.map(|policy| policy.to_string()),
        replicas,
        require_owners,
        own_checks: own_checks.map(|share| share.to_string()),
        own,
        reason: args.reason.clone(),
        dry_run: args.dry_run,
    }
}

/// The policy after a change that the coordinator has found possible.
fn changed(before: &PolicyInForce, change: &PolicyChange) -> PolicyInForce {
    let own_checks = change.own_checks.clone().unwrap_or_else(|| before.own_checks.clone());
    let own = change.own.clone().unwrap_or_else(|| before.own.clone());
    PolicyInForce {
        double_check: change.double_check.clone().unwrap_or_else(|| before.double_check.clone()),
        replicas: change.replicas.unwrap_or(before.replicas),
        require_owners: change.require_owners.unwrap_or(before.require_owners),
        own: if own_checks == "none" { String::new() } else { own },
        own_checks,
        copies: before.copies,
    }
}

/// All options of the policy.
fn options(policy: &PolicyInForce) -> String {
    let PolicyInForce { double_check, replicas, require_owners, own, .. } = policy;
    let own = if own.is_empty() { String::new() } else { format!(" --own-checks {}", own_checks(policy)) };
    format!("--double-check {double_check} --replicas {replicas} --require-owners {require_owners}{own}")
}

fn own_checks(policy: &PolicyInForce) -> String {
    let PolicyInForce { own_checks, own, .. } = policy;
    if own.is_empty() { own_checks.clone() } else { format!("{own_checks} --own {own}") }
}

/// An option whose value changes.
#[derive(Debug, PartialEq, Eq)]
struct Difference {
    option: &'static str,
    before: String,
    after: String,
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { option, before, after } = self;
        write!(f, "{option} {before} -> {after}")
    }
}

fn differences(before: &PolicyInForce, after: &PolicyInForce) -> Vec<Difference> {
    let values = |policy: &PolicyInForce| {
        [
            (DOUBLE_CHECK, policy.double_check.clone()),
            (REPLICAS, policy.replicas.to_string()),
            (REQUIRE_OWNERS, policy.require_owners.to_string()),
            (OWN_CHECKS, own_checks(policy)),
        ]
    };
    let pairs = values(before).into_iter().zip(values(after));
    let pairs = pairs.map(|((option, before), (_, after))| Difference { option, before, after });
    pairs.filter(|difference| difference.before != difference.after).collect()
}

const DOUBLE_CHECK: &str = "--double-check";
const REPLICAS: &str = "--replicas";
const REQUIRE_OWNERS: &str = "--require-owners";
const OWN_CHECKS: &str = "--own-checks";

/// What follows from the new value of an option.
fn effect(option: &str, after: &PolicyInForce) -> String {
    let (needed, connected) = (after.replicas, after.copies.followers);
    match option {
        DOUBLE_CHECK if after.double_check == "all" => {
            "the counts on record are checked, too; this cannot be lowered again".to_owned()
        }
        DOUBLE_CHECK => "more of the new counts are checked; this cannot be lowered again".to_owned(),
        REPLICAS if connected < needed => {
            format!(
                "only {connected} of {needed} followers are connected, so no count is acknowledged until more are"
            )
        }
        REPLICAS if needed == 0 => {
            "counts that wait are acknowledged at once, and no copy elsewhere need have a count".to_owned()
        }
        REPLICAS => {
            let followers = counted(needed, "follower");
            format!("a count is acknowledged when {followers} have it on disk")
        }
        REQUIRE_OWNERS if after.require_owners > 1 => {
            "each check waits for another owner, however long that takes".to_owned()
        }
        REQUIRE_OWNERS => {
            "checks by the same owner are accepted; such an answer is not called proven".to_owned()
        }
        _ if after.own.is_empty() => "no units are drawn for own checks any more".to_owned(),
        _ => format!("units are drawn anew, and the machines of {} count them once more", after.own),
    }
}

/// The command that restores the former values, as far as that is possible.
fn way_back(args: &PolicyArgs, at: &str, differences: &[Difference]) -> Option<String> {
    let (raised, others): (Vec<_>, Vec<_>) = differences.iter().partition(|d| d.option == DOUBLE_CHECK);
    let stays = raised.first().map(|_| "--double-check stays, because it can only be raised".to_owned());
    let keys = keys_option(args.operator.keys.as_deref());
    let options: Vec<String> = others.iter().map(|d| format!(" {} {}", d.option, d.before)).collect();
    let command = (!others.is_empty())
        .then(|| format!("to undo: diadem policy {at}{keys}{} --reason TEXT", options.concat()));
    let lines: Vec<String> = command.into_iter().chain(stays).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use domain::Copies;

    use super::*;

    fn policy(double_check: &str, replicas: u32, own: &str) -> PolicyInForce {
        let own_checks = if own.is_empty() { "none" } else { "1%" };
        PolicyInForce {
            double_check: double_check.into(),
            replicas,
            require_owners: 1,
            own_checks: own_checks.into(),
            own: own.into(),
            copies: Copies { followers: 1, replicas },
        }
    }

    #[test]
    fn foreseen_policy_lifts_own_checks_with_owner() {
        let nothing = PolicyChange {
            double_check: None,
            replicas: None,
            require_owners: None,
            own_checks: None,
            own: None,
            reason: "a test".into(),
            dry_run: true,
        };
        let before = policy("1%", 1, "ada");
        assert_eq!(changed(&before, &nothing), before);
        assert_eq!(differences(&before, &before), []);
        let lifted = changed(&before, &PolicyChange { own_checks: Some("none".into()), ..nothing });
        assert_eq!(lifted, policy("1%", 1, ""));
        let shown: Vec<_> = differences(&before, &lifted).iter().map(ToString::to_string).collect();
        assert_eq!(shown, ["--own-checks 1% --own ada -> none"]);
    }

    #[test]
    fn effect_of_more_replicas_names_missing_followers() {
        let effects = |replicas| effect(REPLICAS, &policy("1%", replicas, ""));
        assert!(effects(2).starts_with("only 1 of 2 followers"), "{}", effects(2));
        assert!(effects(0).starts_with("counts that wait"), "{}", effects(0));
    }
}
