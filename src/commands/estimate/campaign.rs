//! The cost of a count: work, days, energy, money, disk and memory.

use std::time::Duration;

use domain::counted;
use queens::{Plan, known};
use serde_json::{Map, Value, json};

use super::count_estimate::CountEstimate;
use crate::args::{EstimateArgs, Fleet};
use crate::measurement::speed::KernelSpeed;
use crate::output::span;

/// A unit in the ledger, with its share of the marks; and in the coordinator's memory (docs/performance.md).
const LEDGER_BYTES: u64 = 350;
const COORDINATOR_BYTES: u64 = 24;

/// Seconds of a day.
const DAY: f64 = 86_400.0;

/// The cost of a count.
pub struct Campaign {
    /// The units of the plan.
    pub units: u64,
    /// The final size of the ledger.
    pub ledger_bytes: u64,
    /// The memory of the coordinator.
    pub coordinator_bytes: u64,
    /// On one core, by kernel, the fastest first; on one card, by card and method.
    of_cores: Vec<KernelWork>,
    of_cards: Vec<KernelWork>,
    on_machines: Option<OnMachines>,
}

/// The work of one kernel.
struct KernelWork {
    kernel: String,
    seconds: f64,
    /// The relative standard error, if it is known.
    error: Option<f64>,
}

/// The cost on some machines.
struct OnMachines {
    machines: Fleet,
    days: f64,
    /// The relative standard error, if it is known.
    error: Option<f64>,
    kilowatt_hours: Option<f64>,
    cost: Option<f64>,
}

impl Campaign {
    /// From the measured kernels, and from the published number of solutions or else the estimate.
    pub fn new(
        plan: &Plan,
        estimate: Option<&CountEstimate>,
        speeds: &[KernelSpeed],
        args: &EstimateArgs,
    ) -> Self {
        let known = known::totals(plan.board()).map(|known| (known.solutions() as f64, 0.0));
        let solutions = known.or_else(|| estimate.map(|estimate| (estimate.value(), estimate.error)));
        let work = |speed: &KernelSpeed| {
            let (solutions, error) = solutions?;
            let (kernel, at_a_time) = match speed.card {
                Some(card) => (format!("gpu{card}/{}", speed.kernel.method), 1),
                None => (speed.kernel.to_string(), speed.at_a_time),
            };
            let seconds = solutions / 8.0 * speed.ns_per_solution * at_a_time as f64 / 1e9;
            Some(KernelWork { kernel, seconds, error: speed.error.map(|own| own.hypot(error)) })
        };
        let sorted = |is_card: bool| {
            let measured = speeds.iter().filter(|speed| speed.card.is_some() == is_card);
            let mut sorted: Vec<_> = measured.filter_map(work).collect();
            sorted.sort_unstable_by(|a, b| a.seconds.total_cmp(&b.seconds));
            sorted
        };
        let [of_cores, of_cards] = [false, true].map(sorted);
        let on_machines = args.machines.zip(of_cores.first());
        let on_machines = on_machines.map(|(machines, work)| OnMachines::new(machines, work, args));
        Self {
            units: plan.units(),
            ledger_bytes: plan.units() * LEDGER_BYTES,
            coordinator_bytes: plan.units() * COORDINATOR_BYTES,
            of_cores,
            of_cards,
            on_machines,
        }
    }

    /// As text. `why` is the reason if too little was measured.
    pub fn lines(&self, why: &str) -> Vec<String> {
        let mib = |bytes: u64| bytes.div_ceil(1 << 20);
        let mut lines = vec![format!(
            "{} in the plan; the ledger grows to {} MiB, the coordinator keeps {} MiB in memory",
            counted(self.units, "unit"),
            mib(self.ledger_bytes),
            mib(self.coordinator_bytes)
        )];
        let line = |whose: &'static str| {
            move |work: &KernelWork| {
                let KernelWork { kernel, seconds, error } = work;
                let time = Duration::try_from_secs_f64(*seconds);
                let time = time.map_or_else(|_| format!("{seconds:.1e} s"), span);
                format!(
                    "work of one {whose} like this one's: {time} with {kernel}, {}",
                    standard_error(*error)
                )
            }
        };
        lines.extend(self.of_cores.iter().map(line("core")));
        lines.extend(self.of_cards.iter().map(line("card")));
        if self.of_cores.is_empty() && self.units > 0 {
            lines.push(format!("too little was measured to estimate that work: {why}"));
        }
        lines.extend(self.on_machines.as_ref().map(OnMachines::line));
        lines
    }

    /// Seconds of one core by kernel, seconds of one card by card and method, and their relative standard
    /// errors (null if unknown).
    pub fn work_json(&self) -> Map<String, Value> {
        let of_kind = |(name, works): (&str, &[KernelWork])| {
            let errors = format!("{name}_relative_error");
            [
                (name.to_owned(), by_kernel(works, |work| json!(work.seconds))),
                (errors, by_kernel(works, |work| json!(work.error))),
            ]
        };
        let kinds = [("core_seconds", &*self.of_cores), ("gpu_seconds", &*self.of_cards)];
        kinds.into_iter().flat_map(of_kind).collect()
    }

    /// The cost on the machines; null without machines.
    pub fn machines_json(&self) -> Value {
        self.on_machines.as_ref().map_or(Value::Null, |on| {
            json!({
                "machines": on.machines.count,
                "cores": on.machines.cores,
                "days": on.days,
                "relative_error": on.error,
                "kilowatt_hours": on.kilowatt_hours,
                "cost": on.cost,
            })
        })
    }
}

fn by_kernel(works: &[KernelWork], value: impl Fn(&KernelWork) -> Value) -> Value {
    works.iter().map(|work| (work.kernel.clone(), value(work))).collect::<Map<_, _>>().into()
}

impl OnMachines {
    fn new(machines: Fleet, &KernelWork { seconds, error, .. }: &KernelWork, args: &EstimateArgs) -> Self {
        let count = f64::from(machines.count);
        let days = seconds / (count * f64::from(machines.cores)) / DAY;
        let kilowatt_hours = args.watts.map(|watts| watts * count * days * 24.0 / 1000.0);
        let cost = kilowatt_hours.zip(args.price).map(|(energy, price)| energy * price);
        Self { machines, days, error, kilowatt_hours, cost }
    }

    fn line(&self) -> String {
        let Self { machines: Fleet { count, cores }, days, error, kilowatt_hours, cost } = self;
        let energy = kilowatt_hours.map(|energy| format!(", {energy:.0} kWh")).unwrap_or_default();
        let cost = cost.map(|cost| format!(", which cost {cost:.0}")).unwrap_or_default();
        let error = standard_error(*error);
        format!("on {count} x {cores} cores: {days:.1} days, {error}{energy}{cost}")
    }
}

/// The standard error as text. A single position gives no error.
fn standard_error(error: Option<f64>) -> String {
    error.map_or_else(
        || "standard error unknown".to_owned(),
        |error| format!("standard error {:.1} %", 100.0 * error),
    )
}
