//! Where a run stands, as metrics in the text format of Prometheus.
//!
//! Nothing is kept between two scrapes. Labels are bounded: machines that did most have series of their own, all others one
//! together.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use proto::{MachineStatus, Phase, RunStatus};

/// The media type of the format.
pub const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// So many machines have series of their own.
const MACHINES: usize = 100;

/// The machines that have none, together.
const OTHERS: &str = "other";

/// Labels with their values.
type Labels<'a, const N: usize> = [(&'static str, &'a str); N];

/// What is said of a machine: a metric, its help, its value.
type OfMachine = (&'static str, &'static str, fn(&MachineStatus) -> f64);

const OF_MACHINE: [OfMachine; 7] = [
    ("machine_workers", "Workers of a machine that are there.", |machine| machine.workers as f64),
    ("machine_threads", "Units that the workers of a machine count at a time.", |machine| {
        machine.threads as f64
    }),
    ("machine_units_done", "Units on record that a machine counted.", |machine| machine.counts as f64),
    (
        "machine_units_verified",
        "Counts and checks of a machine that agreed with another's, also of units taken back since.",
        |machine| machine.verified as f64,
    ),
    ("machine_units_wrong", "Counts of a machine that two others proved wrong.", |machine| {
        machine.wrong as f64
    }),
    ("machine_believed", "1 where a machine is believed; of the others together, how many are.", |machine| {
        f64::from(u8::from(machine.is_believed))
    }),
    (
        "machine_speed_ratio",
        "Expected work that a machine does in a second, in seconds of the core that the plan was measured on.",
        |machine| machine.speed,
    ),
];

/// The metrics as text.
pub fn text(status: &RunStatus) -> String {
    let mut scrape = Scrape { text: String::new() };
    scrape.run(status);
    scrape.units(status);
    scrape.checks(status);
    scrape.there(status);
    scrape.machines(&status.machines);
    scrape.text
}

/// What is given to one scrape.
struct Scrape {
    text: String,
}

impl Scrape {
    fn gauge(&mut self, name: &str, help: &str, value: f64) {
        self.metric(name, help, "gauge", [([], value)]);
    }

    /// A gauge with labels.
    fn gauges<'a, const N: usize>(
        &mut self,
        name: &str,
        help: &str,
        values: impl IntoIterator<Item = (Labels<'a, N>, f64)>,
    ) {
        self.metric(name, help, "gauge", values);
    }

    fn counter(&mut self, name: &str, help: &str, value: f64) {
        self.metric(name, help, "counter", [([], value)]);
    }

    fn metric<'a, const N: usize>(
        &mut self,
        name: &str,
        help: &str,
        kind: &str,
        values: impl IntoIterator<Item = (Labels<'a, N>, f64)>,
    ) {
        self.text += &format!("# HELP diadem_{name} {help}\n# TYPE diadem_{name} {kind}\n");
        for (labels, value) in values {
            let labels = labels.map(|(label, value)| format!("{label}=\"{}\"", escaped(value)));
            let labels = if N == 0 { String::new() } else { format!("{{{}}}", labels.join(",")) };
            self.text += &format!("diadem_{name}{labels} {value}\n");
        }
    }

    fn run(&mut self, status: &RunStatus) {
        let board = status.board.n().to_string();
        let plan = status.fingerprint.to_string();
        let labels = [
            ("board", board.as_str()),
            ("plan", &plan),
            ("release", &status.release),
            ("double_check", &status.double_check),
        ];
        self.gauges("run_info", "The run.", [(labels, 1.0)]);
        let phases = [Phase::Counting, Phase::Auditing, Phase::Complete, Phase::Withheld];
        let phases = phases.map(|phase| (phase.to_string(), f64::from(u8::from(phase == status.phase))));
        let phases = phases.iter().map(|(name, is)| ([("phase", name.as_str())], *is));
        self.gauges("phase", "1 for the phase that the run is in.", phases);
        let is = |so: bool| f64::from(u8::from(so));
        self.gauge(
            "trouble",
            "1 where something keeps the run from its end.",
            is(!status.trouble.is_empty()),
        );
        self.gauge(
            "paused",
            "1 where the operator wishes that nothing is lent.",
            is(status.paused.is_some()),
        );
        self.counter(
            "worked_seconds_total",
            "How long the run has been worked on, over all its sessions.",
            status.elapsed.as_secs_f64(),
        );
        self.gauge("progress_ratio", "Share of the expected work that is done.", status.progress);
        self.gauge("work_core_seconds", "Expected work of all units.", status.work.total);
        self.gauge("work_done_core_seconds", "Expected work of the units on record.", status.work.done);
        self.gauge("solutions", "Solutions that were found so far.", status.totals.solutions() as f64);
        if let Some(left) = status.left {
            let bounds = [("expected", left.expected), ("low", left.low), ("high", left.high)];
            let bounds = bounds.map(|(bound, time)| ([("bound", bound)], time.as_secs_f64()));
            let help =
                "Expected time until all is counted, and the range in which it lies four times in five.";
            self.gauges("left_seconds", help, bounds);
        }
    }

    fn units(&mut self, status: &RunStatus) {
        self.gauge("units", "Units of the run.", status.units as f64);
        self.gauge("units_done", "Units on record.", status.done as f64);
        self.gauge(
            "units_leased",
            "Units lent that are not counted yet; checks are not in it.",
            status.leased as f64,
        );
        self.gauge("units_disputed", "Units whose counts differ.", status.disputed as f64);
        self.gauge("units_set_aside", "Units lost with too many workers.", status.set_aside_total as f64);
        self.gauge("units_per_second", "Units put on record in a second, lately.", status.rate);
    }

    fn checks(&mut self, status: &RunStatus) {
        let assurance = &status.assurance;
        let levels = [
            ("two_owners", assurance.on_two_owners),
            ("two_machines", assurance.on_two_machines),
            ("one_machine", assurance.on_one_machine),
        ];
        let levels = levels.map(|(level, units)| ([("on", level)], units as f64));
        self.gauges("units_checked", "Units counted twice, by how far apart.", levels);
        let kinds = assurance.on_two_kinds as f64;
        self.gauge("units_checked_across_hardware", "Units counted on two kinds of hardware.", kinds);
        self.gauge("checks_pending", "Counts that are still to be checked.", assurance.pending as f64);
        self.gauge("conflicts", "Counts on record that contradicted others.", assurance.conflicts as f64);
        let (machines, owners) = (assurance.quarantined.len(), assurance.expelled.len());
        self.gauge("machines_quarantined", "Machines that are not believed.", machines as f64);
        self.gauge("owners_expelled", "Owners who are not believed.", owners as f64);
        if let Some(share) = assurance.wrong_at_most {
            let help = "At most this share of the units is wrong, with 95 % confidence.";
            self.gauge("wrong_at_most_ratio", help, share);
        }
    }

    fn there(&mut self, status: &RunStatus) {
        let (workers, threads) = status.there();
        self.gauge("workers", "Workers that are there.", workers as f64);
        self.gauge("threads", "Units that they count at a time.", threads as f64);
        self.gauge("followers", "Followers that are there.", f64::from(status.followers));
        let help = "Followers that must have a record before it is acknowledged.";
        self.gauge("replicas_required", help, f64::from(status.replicas));
        if let Some(term) = status.term {
            self.gauge("term", "The coordinator's term.", term.number as f64);
        }
    }

    /// The machines that did most, each by itself, and the others together. No series comes twice, whatever machines are called:
    /// a scrape in which one does is refused as a whole.
    fn machines(&mut self, machines: &[MachineStatus]) {
        let mut machines: Vec<&MachineStatus> = machines.iter().collect();
        machines.sort_unstable_by_key(|machine| (Reverse(machine.counts), &machine.owner, &machine.name));
        let mut series: BTreeMap<(&str, &str), Vec<&MachineStatus>> = BTreeMap::new();
        for (index, machine) in machines.into_iter().enumerate() {
            let key =
                if index < MACHINES { (machine.owner.name(), machine.name.as_str()) } else { ("", OTHERS) };
            series.entry(key).or_default().push(machine);
        }
        for (name, help, value) in OF_MACHINE {
            let values = series.iter().map(|((owner, machine), machines)| {
                (
                    [("owner", *owner), ("machine", *machine)],
                    machines.iter().map(|machine| value(machine)).sum(),
                )
            });
            self.gauges(name, help, values);
        }
    }
}

/// A label's value as it is written between quotation marks.
fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
