//! A run as one page that needs nothing beside it: the answer and what it is worth, who counted what, and how to verify it.

use std::time::Duration;

use proto::{Assurance, FamilyStatus, Sample};
use queens::{Board, Totals};

use crate::chart::SpeedChart;
use crate::words::{date, escaped, grouped, span};
use crate::{assurance, drawing};

/// What a report says.
#[derive(Clone, Debug)]
pub struct RunReport {
    /// The board.
    pub board: Board,
    /// The part of the plan that was counted, where it is not the whole.
    pub part: Option<String>,
    /// The plan's fingerprint.
    pub plan: String,
    /// The units of that part.
    pub units: u64,
    /// Those with a standing count.
    pub done: u64,
    /// The totals so far.
    pub totals: Totals,
    /// What is to be said of them.
    pub verdict: String,
    /// Whether nothing is left to be counted or checked.
    pub is_complete: bool,
    /// Whether something contradicts them.
    pub is_wrong: bool,
    /// When the run began, in seconds since 1970 (UTC).
    pub begun: u64,
    /// How long it was worked on, over all its sessions.
    pub elapsed: Duration,
    /// Processor time of all records.
    pub cpu: Duration,
    /// What double-checking says.
    pub assurance: Assurance,
    /// Units whose counts differ.
    pub disputed: u64,
    /// What was found in order, a sentence each.
    pub checked: Vec<String>,
    /// How it came.
    pub history: Vec<Sample>,
    /// How far each family is.
    pub families: Vec<FamilyStatus>,
    /// Who counted.
    pub contributions: Vec<Contribution>,
    /// The run's hash.
    pub run: String,
    /// Records in its ledger.
    pub records: u64,
    /// The hash of the ledger's last mark.
    pub head: String,
    /// The public keys of its coordinators.
    pub keys: Vec<String>,
    /// The commands that verify it.
    pub commands: Vec<String>,
    /// The release that writes the report.
    pub release: String,
    /// When, in seconds since 1970 (UTC).
    pub written: u64,
}

/// What a machine did.
#[derive(Clone, Debug, Default)]
pub struct Contribution {
    /// What it is called.
    pub machine: String,
    /// Whether it is believed.
    pub is_believed: bool,
    /// Units whose standing count it made.
    pub standing: u64,
    /// Counts of it on record, those included that do not stand.
    pub counts: u64,
    /// Checks of other counts, and counts that contradicted others.
    pub checks: u64,
    /// Its counts that were proved wrong.
    pub wrong: u64,
    /// Its processor time.
    pub cpu: Duration,
    /// The kernels that it counted with.
    pub kernels: Vec<String>,
}

impl RunReport {
    /// The page.
    pub fn page(&self) -> String {
        let whole = if self.part.is_none() && self.done == self.units { "" } else { ", so far" };
        let (phase, state) = match (self.is_wrong, self.is_complete) {
            (true, _) => ("withheld", "not sound"),
            (false, true) => ("complete", "complete"),
            (false, false) => ("counting", "not complete"),
        };
        let part = self.part.as_ref().map(|part| format!(", {part}")).unwrap_or_default();
        let Assurance { on_two_owners, on_two_machines, on_one_machine, pending, conflicts, .. } =
            self.assurance;
        let text = |name: &str| match name {
            "title" => format!("n = {}{part}", self.board),
            "n" => self.board.to_string(),
            "phase" => phase.into(),
            "state" => state.into(),
            "heading" => format!("Solutions{whole}{part}"),
            "solutions" => grouped(self.totals.solutions()),
            "verdict" => self.verdict.clone(),
            "a" => grouped(self.totals.a),
            "p" => grouped(self.totals.p),
            "r" => grouped(self.totals.r),
            "fundamental" => grouped(self.totals.fundamental()),
            "done" => grouped(self.done.into()),
            "units" => grouped(self.units.into()),
            "worked" => span(self.elapsed),
            "cpu" => span(self.cpu),
            "begun" => date(self.begun),
            "worth" => assurance::sentence(&self.assurance, self.done, self.units),
            "two_owners" => grouped(on_two_owners.into()),
            "two_machines" => grouped(on_two_machines.into()),
            "one_machine" => grouped(on_one_machine.into()),
            "pending" => grouped(pending.into()),
            "conflicts" => grouped(conflicts.into()),
            "disputed" => grouped(self.disputed.into()),
            "run" => self.run.clone(),
            "plan" => self.plan.clone(),
            "records" => grouped(self.records.into()),
            "head" => self.head.clone(),
            "commands" => self.commands.join("\n"),
            "release" => self.release.clone(),
            "written" => date(self.written),
            _ => unreachable!("the page has no other place for text: {name}"),
        };
        filled(include_str!("../assets/report.html"), |name| match name {
            "style" => include_str!("../assets/dashboard.css").into(),
            "checked" => each(&self.checked, |sentence| format!("<li>{}</li>", escaped(sentence))),
            "charts" => self.charts(),
            "map" => drawing::map(self.board, &self.families),
            "keys" => each(&self.keys, |key| format!("<code>{}</code>", escaped(key))),
            "machines" => each(&self.contributions, Contribution::row),
            name => escaped(&text(name)),
        })
    }

    fn charts(&self) -> String {
        match SpeedChart::of(&self.history, u64::MAX) {
            Some(chart) => drawing::speed(&chart, "Since the beginning"),
            None => "<p class=\"quiet\">There is too little to draw.</p>".into(),
        }
    }
}

impl Contribution {
    fn row(&self) -> String {
        let (class, trust) = if self.is_believed { ("good", "believed") } else { ("bad", "not believed") };
        let wrong = if self.wrong > 0 { "num bad" } else { "num" };
        let number = |number: u64| format!("<td class=\"num\">{}</td>", grouped(number.into()));
        format!(
            "<tr><td>{}</td><td class=\"{class}\">{trust}</td>{}{}{}<td class=\"{wrong}\">{}</td><td class=\"num\">{}</td>\
             <td>{}</td></tr>",
            escaped(&self.machine),
            number(self.standing),
            number(self.counts),
            number(self.checks),
            grouped(self.wrong.into()),
            span(self.cpu),
            escaped(&self.kernels.join(", ")),
        )
    }
}

fn each<T>(things: &[T], html: impl Fn(&T) -> String) -> String {
    things.iter().map(html).collect::<Vec<_>>().join("\n")
}

/// A template with what its `{{names}}` stand for. What is filled in is not looked at again.
fn filled(template: &str, html: impl Fn(&str) -> String) -> String {
    let mut parts = template.split("{{");
    let mut page = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, rest) = part.split_once("}}").expect("each name of the template ends");
        page += &html(name);
        page += rest;
    }
    page
}
