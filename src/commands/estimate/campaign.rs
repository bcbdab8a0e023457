//! The cost of a count: work, days, energy, money, disk and memory.

use coordinator::core::checks_by_other_method;
use dashboard::words;
use domain::counted;
use queens::kernel::Method;
use queens::{Board, Plan, known};
use records::DoubleCheck;
use serde_json::{Map, Value, json};

use super::count_estimate::CountEstimate;
use super::rounded::{error_text, rounded, time};
use crate::args::{Equipment, EstimateArgs, Fleet, Price, WrongCommand};
use crate::measurement::speed::KernelSpeed;

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
    /// The work with its checks, relative to the work without.
    pub factor: f64,
    double_check: DoubleCheck,
    /// On one core, by kernel, the fastest first; on one card, by card and method.
    of_cores: Vec<KernelWork>,
    of_cards: Vec<KernelWork>,
    /// The expected work, in seconds of one reference core.
    reference_seconds: f64,
    on_machines: Option<OnMachines>,
}

/// The work of one kernel.
struct KernelWork {
    kernel: String,
    method: Method,
    seconds: f64,
    /// The relative standard error, if it is known.
    error: Option<f64>,
}

/// The cost on some machines.
struct OnMachines {
    machines: Vec<Fleet>,
    seconds: f64,
    /// The relative standard error, if it is known.
    error: Option<f64>,
    kilowatt_hours: Option<f64>,
    cost: Option<(f64, Price)>,
}

/// Refuses machines that cannot be estimated for this board.
pub fn check(board: Board, args: &EstimateArgs) -> Result<(), WrongCommand> {
    let (watts, machines) = (args.watts.len(), args.machines.len());
    if watts > 1 && watts != machines {
        return Err(WrongCommand::WattsOfOthers { watts, machines });
    }
    for fleet in &args.machines {
        if let Equipment::Card(card) = fleet.each
            && card.seconds(board, 1.0).is_none()
        {
            return Err(WrongCommand::UnmeasuredBoard { card: card.name, board, boards: card.boards() });
        }
    }
    Ok(())
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
            let method = speed.kernel.method;
            let (kernel, at_a_time) = match speed.card {
                Some(card) => (format!("gpu{card}/{}", speed.kernel.method), 1),
                None => (speed.kernel.to_string(), speed.at_a_time),
            };
            let seconds = solutions / 8.0 * speed.ns_per_solution * at_a_time as f64 / 1e9;
            Some(KernelWork { kernel, method, seconds, error: speed.error.map(|own| own.hypot(error)) })
        };
        let sorted = |is_card: bool| {
            let measured = speeds.iter().filter(|speed| speed.card.is_some() == is_card);
            let mut sorted: Vec<_> = measured.filter_map(work).collect();
            sorted.sort_unstable_by(|a, b| a.seconds.total_cmp(&b.seconds));
            sorted
        };
        let [of_cores, of_cards] = [false, true].map(sorted);
        let reference_seconds = plan.total_weight() as f64 / 1e9;
        let unit_seconds = reference_seconds / plan.units().max(1) as f64;
        let factor = 1.0 + share(args.double_check) * check_work(&of_cores, unit_seconds);
        let on_machines = of_cores
            .first()
            .zip(solutions)
            .and_then(|(work, solutions)| OnMachines::new(plan.board(), solutions, work, factor, args));
        Self {
            units: plan.units(),
            ledger_bytes: plan.units() * LEDGER_BYTES,
            coordinator_bytes: plan.units() * COORDINATOR_BYTES,
            factor,
            double_check: args.double_check,
            of_cores,
            of_cards,
            reference_seconds,
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
            move |KernelWork { kernel, seconds, error, .. }: &KernelWork| {
                let (unit, name) = words::unit_of_work(*seconds);
                let (work, error) = (rounded(seconds / unit, *error), error_text(*error));
                let name = name.replace("core", whose);
                format!("work: about {work} {name} ({error}) with {kernel}, on {whose}s like this one's")
            }
        };
        lines.extend(self.of_cores.iter().map(line("core")));
        lines.extend(self.of_cards.iter().map(line("card")));
        lines.extend(self.of_cores.first().and_then(|best| self.checks_line(best)));
        lines.extend(self.of_cores.first().map(|best| self.reference_line(best)));
        if self.of_cores.is_empty() && self.units > 0 {
            lines.push(format!("too little was measured to estimate that work: {why}"));
        }
        lines.extend(self.on_machines.as_ref().map(OnMachines::line));
        lines
    }

    /// The work with its checks.
    fn checks_line(&self, best: &KernelWork) -> Option<String> {
        let seconds = self.factor * best.seconds;
        let (unit, name) = words::unit_of_work(seconds);
        let (work, error) = (rounded(seconds / unit, best.error), error_text(best.error));
        let policy = self.double_check;
        (self.factor > 1.0).then(|| format!("with --double-check {policy}: about {work} {name} ({error})"))
    }

    /// What a core here is worth, and the work as the page and the status show it.
    fn reference_line(&self, best: &KernelWork) -> String {
        let (unit, name) = words::unit_of_work(self.reference_seconds);
        let expected = words::figures(self.reference_seconds / unit);
        let worth = rounded(self.reference_seconds / best.seconds, best.error);
        format!(
            "a core here is worth about {worth} reference cores, by which the page shows {expected} {name}"
        )
    }

    /// Seconds of one reference core, and how many of these a core here is worth; null if nothing was measured.
    pub fn reference_json(&self) -> Map<String, Value> {
        let worth = self.of_cores.first().map(|best| self.reference_seconds / best.seconds);
        Map::from_iter([
            ("reference_core_seconds".to_owned(), json!(self.reference_seconds)),
            ("reference_cores".to_owned(), json!(worth)),
        ])
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
        let kind = |fleet: &Fleet| match fleet.each {
            Equipment::Cores(cores) => json!({ "machines": fleet.count, "cores": cores }),
            Equipment::Card(card) => json!({ "machines": fleet.count, "card": card.name }),
        };
        self.on_machines.as_ref().map_or(Value::Null, |on| {
            json!({
                "kinds": on.machines.iter().map(kind).collect::<Vec<_>>(),
                "days": on.seconds / DAY,
                "relative_error": on.error,
                "kilowatt_hours": on.kilowatt_hours,
                "cost": on.cost.as_ref().map(|(cost, _)| cost),
                "currency": on.cost.as_ref().map(|(_, price)| &price.currency),
            })
        })
    }
}

fn by_kernel(works: &[KernelWork], value: impl Fn(&KernelWork) -> Value) -> Value {
    works.iter().map(|work| (work.kernel.clone(), value(work))).collect::<Map<_, _>>().into()
}

/// The share of counts that are made a second time.
fn share(policy: DoubleCheck) -> f64 {
    policy.strength().min(1.0)
}

/// The work of a check, relative to the work of a count. Some checks use the other method, which takes as long as
/// it was measured to take, or as long as the coordinator expects.
fn check_work(of_cores: &[KernelWork], unit_seconds: f64) -> f64 {
    let Some(best) = of_cores.first() else { return 1.0 };
    let (others, times) = checks_by_other_method(best.method, unit_seconds);
    let other = of_cores.iter().find(|work| work.method != best.method);
    let times = other.map_or(times, |other| other.seconds / best.seconds);
    1.0 + others * (times - 1.0)
}

impl OnMachines {
    fn new(
        board: Board,
        (solutions, error_of_solutions): (f64, f64),
        of_core: &KernelWork,
        factor: f64,
        args: &EstimateArgs,
    ) -> Option<Self> {
        // For each kind: boards a second, and the error of that.
        let speed = |fleet: &Fleet| {
            let count = f64::from(fleet.count);
            match fleet.each {
                Equipment::Cores(cores) => Some((count * f64::from(cores) / of_core.seconds, of_core.error)),
                Equipment::Card(card) => {
                    let (seconds, error) = card.seconds(board, solutions)?;
                    Some((count / seconds, Some(error.hypot(error_of_solutions))))
                }
            }
        };
        let speeds: Option<Vec<_>> = args.machines.iter().map(speed).collect();
        let speeds = speeds.filter(|speeds| !speeds.is_empty())?;
        let all: f64 = speeds.iter().map(|(speed, _)| speed).sum();
        let error = |(speed, error): &(f64, Option<f64>)| error.map(|error| (speed / all * error).powi(2));
        let error = speeds.iter().map(error).sum::<Option<f64>>().map(f64::sqrt);
        let seconds = factor / all;
        let watts = args.watts.iter().cycle().zip(&args.machines);
        let watts: f64 = watts.map(|(watts, fleet)| watts * f64::from(fleet.count)).sum();
        let kilowatt_hours = (!args.watts.is_empty()).then(|| watts * seconds / 3_600_000.0);
        let cost =
            kilowatt_hours.zip(args.price.clone()).map(|(energy, price)| (energy * price.amount, price));
        Some(Self { machines: args.machines.clone(), seconds, error, kilowatt_hours, cost })
    }

    fn line(&self) -> String {
        let Self { machines, seconds, error, kilowatt_hours, cost } = self;
        let machines: Vec<_> = machines.iter().map(ToString::to_string).collect();
        let about = |number: f64| rounded(number, *error);
        let energy = kilowatt_hours.map_or_else(String::new, |energy| format!(", {} kWh", about(energy)));
        let cost = cost
            .as_ref()
            .map_or_else(String::new, |(cost, price)| format!(", {} {}", about(*cost), price.currency));
        let (machines, time) = (machines.join(" and "), time(*seconds, *error));
        format!("on {machines}: about {time} ({}){energy}{cost}", error_text(*error))
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::args::{Args, Command};

    fn args(line: &str) -> EstimateArgs {
        let words = format!("diadem estimate {line}");
        let Command::Estimate(args) = Args::parse_from(words.split(' ')).command else { panic!("{line}") };
        args
    }

    fn work(method: Method, seconds: f64) -> KernelWork {
        KernelWork { kernel: method.to_string(), method, seconds, error: Some(0.1) }
    }

    #[test]
    fn checks_of_large_units_add_a_seventh() {
        let works = [work(Method::Meet, 1e9), work(Method::Search, 1e10)];
        assert!((check_work(&works, 60.0) - (1.0 + 9.0 / 64.0)).abs() < 1e-12);
        assert!((check_work(&works[..1], 60.0) - (1.0 + 9.0 / 64.0)).abs() < 1e-12, "not measured");
        assert!((check_work(&works, 0.1) - (1.0 + 9.0 / 8.0)).abs() < 1e-12);
        assert!((share("1%".parse().unwrap()) - 0.01).abs() < 1e-12);
        assert!((share(DoubleCheck::All) - 1.0).abs() < 1e-12 && share(DoubleCheck::None) < 1e-12);
    }

    #[test]
    fn machines_of_several_kinds_share_the_work() {
        let board = Board::new(27).unwrap();
        let solutions = known::totals(board).unwrap().solutions() as f64;
        let of_core = work(Method::Meet, 3.156e8);
        let on = |line: &str, factor: f64| {
            OnMachines::new(board, (solutions, 0.0), &of_core, factor, &args(line)).unwrap()
        };
        let cores = on("27 --machines 50x64 --watts 900 --price 0.3EUR", 1.0);
        assert!((cores.seconds - 3.156e8 / 3200.0).abs() < 1.0);
        assert_eq!(cores.line(), "on 50 x 64 cores: about 27 hours (± 10 %), 1,200 kWh, 370 EUR");
        let cards = on("27 --machines 4xH200", 1.0);
        let both = on("27 --machines 50x64 --machines 4xH200 --watts 900 --watts 700", 2.0);
        assert!((2.0 / both.seconds - (1.0 / cores.seconds + 1.0 / cards.seconds)).abs() < 1e-9);
        assert!(both.error.unwrap() < 0.1 && cards.error.unwrap() > 0.2);
        let watts = both.kilowatt_hours.unwrap() * 3.6e6 / both.seconds;
        assert!((watts - (50.0 * 900.0 + 4.0 * 700.0)).abs() < 1e-6);
    }

    #[test]
    fn unmeasured_board_and_superfluous_watts_are_refused() {
        let refused = |n: u8, line: &str| check(Board::new(n).unwrap(), &args(line)).unwrap_err().to_string();
        assert!(refused(19, "19 --machines 1xH200").contains("a board from 20 to 28"));
        assert!(refused(27, "27 --machines 1x2 --watts 5 --watts 6").contains("2 times for 1 kinds"));
    }
}
