//! A self-contained report of a run: the answer and its evidence, the participants, and how to verify it.

use std::time::Duration;

use domain::{Assurance, FamilyStatus, Sample, seen};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use queens::{Board, Totals};

use crate::chart::SpeedChart;
use crate::words::{date, grouped, span};
use crate::{assurance, drawing};

/// The content of a report.
#[derive(Clone, Debug)]
pub struct RunReport {
    /// The board.
    pub board: Board,
    /// The counted part of the plan, if it is not the whole.
    pub part: Option<String>,
    /// The plan's fingerprint.
    pub plan: String,
    /// The units of that part.
    pub units: u64,
    /// Units with a standing count.
    pub done: u64,
    /// The totals so far.
    pub totals: Totals,
    /// The comparison of the totals with published values.
    pub verdict: String,
    /// True if all units are counted and checked.
    pub is_complete: bool,
    /// Whether something contradicts them.
    pub is_wrong: bool,
    /// When the run began, in seconds since 1970 (UTC).
    pub begun: u64,
    /// How long it was worked on, over all its sessions.
    pub elapsed: Duration,
    /// Processor time of all records.
    pub cpu: Duration,
    /// The results of double-checking.
    pub assurance: Assurance,
    /// Units whose counts differ.
    pub disputed: u64,
    /// The successful checks, one sentence each.
    pub checked: Vec<String>,
    /// How it came.
    pub history: Vec<Sample>,
    /// How far each family is.
    pub families: Vec<FamilyStatus>,
    /// The contributions of the machines.
    pub contributions: Vec<Contribution>,
    /// The run's hash.
    pub run: String,
    /// Records in its ledger.
    pub records: u64,
    /// The hash of the ledger's last mark.
    pub head: String,
    /// The public keys of its coordinators.
    pub keys: Vec<String>,
    /// What people did to the run apart from counting.
    pub interventions: Vec<Intervened>,
    /// How many interventions are not listed.
    pub unlisted_interventions: u64,
    /// The commands that verify it.
    pub commands: Vec<String>,
    /// The release that writes the report.
    pub release: String,
    /// When, in seconds since 1970 (UTC).
    pub written: u64,
}

/// An intervention in the run.
#[derive(Clone, Debug)]
pub struct Intervened {
    /// When, in seconds since 1970 (UTC).
    pub at: u64,
    /// What was done.
    pub what: String,
    /// The reason, if one was given.
    pub reason: Option<String>,
}

/// The contribution of a machine.
#[derive(Clone, Debug, Default)]
pub struct Contribution {
    /// Its display name.
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
        let part = self.part.as_ref().map(|part| format!(", {part}")).unwrap_or_default();
        let (phase, state) = match (self.is_wrong, self.is_complete) {
            (true, _) => ("withheld", "not sound"),
            (false, true) => ("complete", "complete"),
            (false, false) => ("counting", "not complete"),
        };
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'";
                    title { "diadem: n = " (self.board) (part) }
                    style { (PreEscaped(include_str!("../assets/dashboard.css"))) }
                }
                body {
                    header {
                        h1 {
                            "diadem " span.quiet { "counted the queens of" } " "
                            span.whole { "n = " b { (self.board) } }
                        }
                        p.pills { span.pill.(phase) { (state) } }
                    }
                    main {
                        section.card.hero aria-labelledby="answer" { (self.answer(&part)) }
                        section.card aria-labelledby="worth" { (self.worth()) }
                        section.card aria-labelledby="checked" { (self.checks()) }
                        section.card.wide aria-labelledby="speed" { (self.speed()) }
                        section.card aria-labelledby="families" { (self.map()) }
                        section.card aria-labelledby="ledger" { (self.ledger()) }
                        section.card.wide aria-labelledby="machines" { (self.machines()) }
                        section.card.wide aria-labelledby="interventions" { (self.interventions()) }
                        section.card.wide aria-labelledby="verify" {
                            h2 #verify { "How to verify it" }
                            p { "With the run directory, and diadem or Python alone:" }
                            pre { (self.commands.join("\n")) }
                        }
                    }
                    footer { p { "Written by diadem " (self.release) " on " (date(self.written)) "." } }
                }
            }
        };
        // Invisible characters could make a name look like another name.
        seen(&page.into_string(), &['\n', '\t']).into_owned()
    }

    fn answer(&self, part: &str) -> Markup {
        let whole = if self.part.is_none() && self.done == self.units { "" } else { ", so far" };
        html! {
            h2 #answer { "Solutions" (whole) (part) }
            p.number { (grouped(self.totals.solutions())) }
            p.lead { (self.verdict) }
            dl.facts {
                (fact("A, without symmetry", grouped(self.totals.a)))
                (fact("P, half turn", grouped(self.totals.p)))
                (fact("R, quarter turn", grouped(self.totals.r)))
                (fact("Up to symmetry", grouped(self.totals.fundamental())))
                (fact("Units counted", html! {
                    (grouped(self.done.into())) " " small { "of " (grouped(self.units.into())) }
                }))
                (fact("Worked on for", span(self.elapsed)))
                (fact("Processor time", span(self.cpu)))
                (fact("Begun", date(self.begun)))
            }
        }
    }

    fn worth(&self) -> Markup {
        let Assurance { on_two_owners, on_two_machines, on_one_machine, pending, conflicts, .. } =
            self.assurance;
        let is_published = self.part.is_none() && assurance::are_published(self.board, &self.totals);
        html! {
            h2 #worth { "Double-checking" }
            p { (assurance::sentence(&self.assurance, self.done, self.units, is_published)) }
            dl.facts {
                (fact("Counted twice by two owners", grouped(on_two_owners.into())))
                (fact("On two machines", grouped(on_two_machines.into())))
                (fact("On one machine", grouped(on_one_machine.into())))
                (fact("Checks to go", grouped(pending.into())))
                (fact("Conflicts", grouped(conflicts.into())))
                (fact("In dispute", grouped(self.disputed.into())))
            }
        }
    }

    fn checks(&self) -> Markup {
        html! {
            h2 #checked { "Checks made for this report" }
            p { "The report uses the ledger alone, read from its first line to its last:" }
            ul { @for sentence in &self.checked { li { (sentence) } } }
        }
    }

    fn speed(&self) -> Markup {
        html! {
            h2 #speed { "Speed" }
            div.charts {
                @match SpeedChart::of(&self.history, u64::MAX) {
                    Some(chart) => (drawing::speed(&chart, "Since the beginning")),
                    None => p.quiet { "The run was too short for a chart." },
                }
            }
        }
    }

    fn map(&self) -> Markup {
        html! {
            h2 #families { "Families" }
            p.quiet {
                "Each cell stands for all units with the same queens in the first and the last row. A darker cell has more \
                 of its units done. Cells that are mirror images of each other share their units."
            }
            (drawing::map(self.board, &self.families))
        }
    }

    fn ledger(&self) -> Markup {
        html! {
            h2 #ledger { "The ledger" }
            dl.stack {
                (fact("Run", html! { code { (self.run) } }))
                (fact("Plan", html! { code { (self.plan) } }))
                (fact("Records", grouped(self.records.into())))
                (fact("Head: the hash of the last commit mark, which covers all records before it", html! { code { (self.head) } }))
                (fact("Public keys of its coordinators", html! {
                    @for key in &self.keys { code { (key) } " " }
                }))
            }
        }
    }

    fn interventions(&self) -> Markup {
        html! {
            h2 #interventions { "Interventions" }
            p {
                "What people did to this run apart from counting, from the ledger: counts taken back, machines no longer \
                 trusted or trusted again, changed policies, takeovers, accepted losses."
            }
            @if self.interventions.is_empty() {
                p { "There was none." }
            } @else {
                div.table role="region" aria-labelledby="interventions" tabindex="0" {
                    table {
                        thead { tr { @for title in ["When", "What", "Reason"] { th scope="col" { (title) } } } }
                        tbody {
                            @for Intervened { at, what, reason } in &self.interventions {
                                tr { td { (date(*at)) } td { (what) } td { (reason.as_deref().unwrap_or("none given")) } }
                            }
                        }
                    }
                }
                @if self.unlisted_interventions > 0 {
                    p { "There were " (grouped(self.unlisted_interventions.into())) " more." }
                }
            }
        }
    }

    fn machines(&self) -> Markup {
        html! {
            h2 #machines { "Who counted what" }
            div.table role="region" aria-labelledby="machines" tabindex="0" {
                p.swipe.quiet { "Scroll sideways to see all columns." }
                table {
                    thead {
                        tr {
                            th scope="col" { "Machine" }
                            th scope="col" { "Trust" }
                            @for title in ["Units standing", "Counts made", "Checks made", "Wrong", "Processor time"] {
                                th.num scope="col" { (title) }
                            }
                            th scope="col" { "Kernels" }
                        }
                    }
                    tbody { @for contribution in &self.contributions { (contribution.row()) } }
                }
            }
        }
    }
}

/// A name with its value.
fn fact(name: &str, value: impl maud::Render) -> Markup {
    html! { div { dt { (name) } dd { (value) } } }
}

impl Contribution {
    fn row(&self) -> Markup {
        let (class, trust) = if self.is_believed { ("good", "trusted") } else { ("bad", "not trusted") };
        html! {
            tr {
                td { (self.machine) }
                td.(class) { (trust) }
                @for number in [self.standing, self.counts, self.checks] { td.num { (grouped(number.into())) } }
                td.num.bad[self.wrong > 0] { (grouped(self.wrong.into())) }
                td.num { (span(self.cpu)) }
                td { (self.kernels.join(", ")) }
            }
        }
    }
}
