//! The status of a run as metrics in the text format of Prometheus.
//!
//! Each scrape builds a registry from the newest status, so nothing is kept between scrapes. Labels are bounded: the machines
//! with most counts have series of their own, all others share one.

use std::cmp::Reverse;
use std::fmt::Debug;
use std::sync::atomic::AtomicU64;

use domain::{MachineStatus, Phase, RunStatus};
use prometheus_client::encoding::EncodeGaugeValue;
use prometheus_client::encoding::prometheus_text::encode;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::{Atomic, ConstGauge, Gauge};
use prometheus_client::registry::Registry;

pub use prometheus_client::encoding::prometheus_text::CONTENT_TYPE;

/// The most machines that have series of their own.
const MACHINES: usize = 100;

/// The name under which all other machines appear.
const OTHERS: &str = "other";

/// Labels with their values.
type Labels<const N: usize> = [(&'static str, String); N];

/// A metric of a machine: its name, its help, its value.
type OfMachine = (&'static str, &'static str, fn(&MachineStatus) -> u64);

const OF_MACHINE: [OfMachine; 6] = [
    ("machine_workers", "Connected workers of a machine", |machine| machine.workers),
    ("machine_threads", "Units that the workers of a machine count at a time", |machine| machine.threads),
    ("machine_units_done", "Units on record that a machine counted", |machine| machine.counts),
    (
        "machine_units_verified",
        "Counts and checks of a machine that agreed with another's, including units retracted since",
        |machine| machine.verified,
    ),
    ("machine_units_wrong", "Counts of a machine that two others proved wrong", |machine| machine.wrong),
    (
        "machine_believed",
        "1 if a machine is believed; for the other machines together, how many are",
        |machine| machine.is_believed.into(),
    ),
];

/// The metrics as text.
pub fn text(status: &RunStatus, has_disk_trouble: bool) -> String {
    let mut metrics = Metrics(Registry::with_prefix("diadem"));
    metrics.run(status);
    let help = "1 if the run's disk takes no records, because it is full for example, or hangs";
    metrics.gauge("disk_trouble", help, u64::from(has_disk_trouble));
    metrics.units(status);
    metrics.checks(status);
    metrics.connected(status);
    metrics.machines(&status.machines);
    let mut text = String::new();
    encode(&mut text, &metrics.0).expect("a string takes all that is written to it");
    text
}

/// The metrics of one scrape.
struct Metrics(Registry);

impl Metrics {
    fn gauge<V>(&mut self, name: &str, help: &str, value: V)
    where
        V: EncodeGaugeValue + Debug + Send + Sync + 'static,
    {
        self.0.register(name, help, ConstGauge::new(value));
    }

    /// A gauge with labels. It adds up values that have the same labels: Prometheus refuses a scrape with a duplicate series.
    fn gauges<V, const N: usize>(
        &mut self,
        name: &str,
        help: &str,
        values: impl IntoIterator<Item = (Labels<N>, V)>,
    ) where
        V: EncodeGaugeValue + Debug + Send + Sync + 'static,
        AtomicU64: Atomic<V>,
    {
        let family = Family::<Labels<N>, Gauge<V, AtomicU64>>::default();
        for (labels, value) in values {
            family.get_or_create(&labels).inc_by(value);
        }
        self.0.register(name, help, family);
    }

    fn run(&mut self, status: &RunStatus) {
        let labels = [
            ("board", status.board.to_string()),
            ("plan", status.fingerprint.to_string()),
            ("release", status.release.clone()),
            ("double_check", status.double_check.clone()),
        ];
        self.gauges("run_info", "The run", [(labels, 1u64)]);
        let phases = [Phase::Counting, Phase::Auditing, Phase::Complete, Phase::Withheld];
        let phases = phases.map(|phase| ([("phase", phase.to_string())], u64::from(phase == status.phase)));
        self.gauges("phase", "1 for the phase that the run is in", phases);
        let has_trouble = u64::from(!status.trouble.is_empty());
        self.gauge("trouble", "1 if something keeps the run from completing", has_trouble);
        let is_paused = u64::from(status.paused.is_some());
        self.gauge("paused", "1 if the operator paused the run", is_paused);
        self.0.register(
            "worked_seconds",
            "How long the run was worked on, over all its sessions",
            ConstCounter::new(status.elapsed.as_secs()),
        );
        self.gauge("progress_ratio", "Share of the expected work that is done", status.progress);
        self.gauge("work_core_seconds", "Expected work of all units", status.work.total);
        self.gauge("work_done_core_seconds", "Expected work of the units on record", status.work.done);
        self.gauge("solutions", "Solutions found so far", status.totals.solutions() as f64);
        if let Some(left) = status.left {
            let bounds = [("expected", left.expected), ("low", left.low), ("high", left.high)];
            let bounds = bounds.map(|(bound, time)| ([("bound", bound.to_owned())], time.as_secs()));
            let help =
                "Expected time until the run is complete, and the range in which it lies four times in five";
            self.gauges("left_seconds", help, bounds);
        }
    }

    fn units(&mut self, status: &RunStatus) {
        self.gauge("units", "Units of the run", status.units);
        self.gauge("units_done", "Units on record", status.done);
        self.gauge("units_leased", "Leased units without a count, excluding checks", status.leased);
        self.gauge("units_disputed", "Units whose counts differ", status.disputed);
        self.gauge("units_set_aside", "Units lost with too many workers", status.set_aside_total);
        self.gauge("units_per_second", "Units put on record per second, lately", status.rate);
    }

    fn checks(&mut self, status: &RunStatus) {
        let assurance = &status.assurance;
        let levels = [
            ("two_owners", assurance.on_two_owners),
            ("two_machines", assurance.on_two_machines),
            ("one_machine", assurance.on_one_machine),
        ];
        let levels = levels.map(|(level, units)| ([("on", level.to_owned())], units));
        let help = "Units counted twice, by the independence of the two counts";
        self.gauges("units_checked", help, levels);
        let kinds = assurance.on_two_kinds;
        self.gauge("units_checked_across_hardware", "Units counted on two kinds of hardware", kinds);
        let help = "Units that a program without diadem's code has also counted";
        self.gauge("units_checked_externally", help, assurance.by_external);
        self.gauge("checks_pending", "Counts that are still to be checked", assurance.pending);
        self.gauge("conflicts", "Counts on record that contradicted others", assurance.conflicts);
        let (machines, owners) = (assurance.quarantined.len() as u64, assurance.expelled.len() as u64);
        self.gauge("machines_quarantined", "Machines that are not believed", machines);
        self.gauge("owners_expelled", "Owners who are not believed", owners);
        if let Some(own) = &assurance.own_checks {
            self.gauge(
                "own_checks_made",
                "Units that the operator's own machines counted once more",
                own.made,
            );
            self.gauge("own_checks_pending", "Units that these machines are still to count", own.pending);
        }
        if let Some(share) = assurance.wrong_at_most {
            let help = "At most this share of the units is wrong, with 95 % confidence";
            self.gauge("wrong_at_most_ratio", help, share);
        }
    }

    fn connected(&mut self, status: &RunStatus) {
        let (workers, threads) = status.there();
        self.gauge("workers", "Connected workers", workers);
        self.gauge("threads", "Units that the connected workers count at a time", threads);
        self.gauge("followers", "Connected followers", status.followers);
        let help = "Followers that must have a record before it is acknowledged";
        self.gauge("replicas_required", help, status.replicas);
        if let Some(term) = status.term {
            self.gauge("term", "The coordinator's term", term.number);
        }
    }

    /// The machines with most counts, each by itself, and the others together.
    fn machines(&mut self, machines: &[MachineStatus]) {
        let mut machines: Vec<&MachineStatus> = machines.iter().collect();
        machines.sort_unstable_by_key(|machine| (Reverse(machine.counts), &machine.owner, &machine.name));
        let labelled: Vec<(Labels<2>, &MachineStatus)> = machines
            .into_iter()
            .enumerate()
            .map(|(index, machine)| {
                let (owner, name) =
                    if index < MACHINES { (machine.owner.name(), &*machine.name) } else { ("", OTHERS) };
                ([("owner", owner.to_owned()), ("machine", name.to_owned())], machine)
            })
            .collect();
        for (name, help, value) in OF_MACHINE {
            let values = labelled.iter().map(|(labels, machine)| (labels.clone(), value(machine)));
            self.gauges(name, help, values);
        }
        self.gauges(
            "machine_speed_ratio",
            "Expected work that a machine does per second, in seconds of the core that the plan was measured on",
            labelled.iter().map(|(labels, machine)| (labels.clone(), machine.speed)),
        );
    }
}
