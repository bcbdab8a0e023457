//! `diadem unit`: one unit of a run: its position, who holds it, its counts, and why it is still open.

mod page;
mod position;
mod records;

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use ::records::ledger::{Record, lines_of_unit};
use ::records::pace::standing;
use ::records::run_directory::RunDirectory;
use anyhow::Context;
use dashboard::words;
use domain::HeldUnit;
use queens::{Plan, Unit, UnitId};
use serde_json::{Value, json};
use worker::Remote;

use crate::access::{JOIN, STATUS, credentials};
use crate::args::{ObserverArgs, UnitArgs, WrongCommand};
use crate::commands::status::{held_text, held_value};
use crate::highest_term::ask_highest_term;
use crate::output::{listing, print};
use crate::progress::during;
use crate::terminal::wrapped;

pub use page::Explainer;

/// What is known of a unit.
struct Account {
    plan: Arc<Plan>,
    unit: Unit,
    records: Vec<Record>,
    /// Its holders; unknown without a coordinator.
    held: Option<Vec<HeldUnit>>,
    /// Why it is still open; none if it is counted and its checks are made.
    open_because: Option<String>,
}

pub fn run(args: &UnitArgs) -> anyhow::Result<ExitCode> {
    let unit = UnitId(args.unit);
    let account = match &args.run {
        Some(run) => of_directory(run, unit)?,
        None => of_coordinator(&args.observer, unit)?,
    };
    let text = if args.json { account.json().to_string() } else { account.text() };
    listing(print(&text).map(|()| ExitCode::SUCCESS))
}

fn of_directory(run: &Path, unit: UnitId) -> anyhow::Result<Account> {
    let directory = RunDirectory::open(run)?;
    let plan = Arc::clone(directory.plan());
    let position = unit_of(&plan, unit)?;
    let shard = directory.run().shard;
    if !shard.contains(unit) {
        return Err(WrongCommand::OtherShare { unit, share: shard.fraction() }.into());
    }
    let (standing, lines) = during("reading the ledger", || -> anyhow::Result<_> {
        Ok((standing(&directory)?, lines_of_unit(&directory.ledger(), unit)?))
    })?;
    let open_because = standing.lack(unit, standing.policy()).map(|lack| lack.to_string());
    Ok(Account { plan, unit: position, records: records_of(&lines), held: None, open_because })
}

fn of_coordinator(observer: &ObserverArgs, unit: UnitId) -> anyhow::Result<Account> {
    let addresses = &observer.coordinator;
    let credentials = credentials(observer.keys.as_deref(), [STATUS, JOIN])?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let answer = runtime.block_on(async {
        let remote = Remote::new(addresses, &credentials)?;
        Ok::<_, anyhow::Error>(
            ask_highest_term(&remote, async |remote| remote.explain_unit(unit).await).await?,
        )
    })?;
    let answer =
        answer.with_context(|| format!("nothing about unit {unit} from {}", addresses.join(", ")))?;
    let (spec, fingerprint) = answer.plan;
    let plan = Arc::new(Plan::derive(spec)?);
    if *plan.fingerprint() != fingerprint {
        let why = format!(
            "this release derives plan {} where the coordinator has {fingerprint}: use the coordinator's \
             release of diadem",
            plan.fingerprint()
        );
        return Err(WrongCommand::Refused(why).into());
    }
    let position = unit_of(&plan, unit)?;
    let (held, open_because) = (Some(answer.explained.held), answer.explained.open_because);
    Ok(Account { plan, unit: position, records: records_of(&answer.lines), held, open_because })
}

fn unit_of(plan: &Plan, unit: UnitId) -> anyhow::Result<Unit> {
    if unit.0 >= plan.units() {
        return Err(WrongCommand::UnknownUnit { unit, units: plan.units() }.into());
    }
    Ok(plan.unit(unit))
}

/// The records in these lines. A damaged line is left out: diadem verify finds it.
fn records_of(lines: &[String]) -> Vec<Record> {
    lines.iter().filter_map(|line| Record::of_line(line).ok()).collect()
}

impl Account {
    /// Only what the plan knows.
    fn new(plan: Arc<Plan>, unit: Unit) -> Self {
        Self { plan, unit, records: Vec::new(), held: None, open_because: None }
    }

    fn text(&self) -> String {
        let mut lines = vec![self.title(), position::drawn(&self.unit.position)];
        lines.extend(self.facts().iter().map(|fact| wrapped(fact)));
        lines.join("\n")
    }

    fn title(&self) -> String {
        let Self { plan, unit, .. } = self;
        format!("unit {} of {}, n = {}, plan {}", unit.id, plan.units(), plan.board(), plan.fingerprint())
    }

    /// Everything but the picture, in sentences.
    fn facts(&self) -> Vec<String> {
        let (plan, unit) = (&self.plan, &self.unit);
        let seconds = plan.weight_alone(unit.id) as f64 / 1e9;
        let mut facts = position::described(plan, unit);
        facts.push(format!("expected work: {} s of one reference core", words::figures(seconds)));
        facts.push(match &self.held {
            None => "held by: only a running coordinator knows (--coordinator)".to_owned(),
            Some(held) if held.is_empty() => "held by: nobody".to_owned(),
            Some(held) => {
                let holder = |held: &HeldUnit| {
                    let worker = held.owner.title(&held.worker);
                    format!("{worker} on {}, {}", held.owner.title(&held.machine), held_text(held))
                };
                format!("held by: {}", held.iter().map(holder).collect::<Vec<_>>().join("; "))
            }
        });
        facts.extend(self.records.iter().map(records::line));
        facts.push(match &self.open_because {
            Some(why) => format!("open: {why}"),
            None => "not open: it is counted, and its checks are made".to_owned(),
        });
        facts
    }

    fn json(&self) -> Value {
        let (plan, unit) = (&self.plan, &self.unit);
        let held = self.held.as_ref().map(|held| held.iter().map(held_value).collect::<Vec<_>>());
        let mut object = json!({
            "n": plan.board().n(),
            "plan": plan.fingerprint().to_string(),
            "units": plan.units(),
            "unit": unit.id.0,
            "work": plan.weight_alone(unit.id) as f64 / 1e9,
            "held": held,
            "records": self.records,
            "open_because": self.open_because,
        });
        if let (Some(object), Value::Object(more)) = (object.as_object_mut(), position::value(plan, unit)) {
            object.extend(more);
        }
        object
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use domain::Owner;
    use queens::{Board, PlanSpec};

    use super::*;

    fn account(held: Option<Vec<HeldUnit>>) -> Account {
        let plan = Arc::new(Plan::derive(PlanSpec::new(Board::new(8).unwrap())).unwrap());
        let unit = unit_of(&plan, UnitId(89)).unwrap();
        Account { plan, unit, records: Vec::new(), held, open_because: Some("it waits".into()) }
    }

    #[test]
    fn holders_are_unknown_without_coordinator() {
        assert!(account(None).text().contains("held by: only a running coordinator knows"));
        assert!(account(None).json()["held"].is_null());
        assert!(account(Some(Vec::new())).text().contains("held by: nobody"));
        let held = HeldUnit {
            unit: UnitId(89),
            owner: Owner::new("ada"),
            machine: "rack-3".into(),
            worker: "w".into(),
            held: Duration::from_secs(90),
            left: Duration::from_secs(15),
            is_check: true,
        };
        let account = account(Some(vec![held]));
        let text = account.text();
        assert!(text.contains("held by: ada/w on ada/rack-3, a check, for 1m 30s"), "{text}");
        assert_eq!(account.json()["held"][0]["seconds"], 90.0);
        assert!(text.ends_with("open: it waits"), "{text}");
    }

    #[test]
    fn unit_beyond_plan_is_refused() {
        let plan = account(None).plan;
        let said = unit_of(&plan, UnitId(90)).unwrap_err().to_string();
        assert_eq!(said, "the plan has no unit 90: its 90 units are numbered from 0");
    }
}
