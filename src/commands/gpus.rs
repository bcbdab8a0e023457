//! `diadem gpus`: which graphics cards there are, how fast they count a known board, and why one is not used.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use gpu::{Description, Device, GpuError, GpuKernel, devices};
use queens::kernel::Method;
use queens::{Board, self_test};
use serde_json::json;

use crate::args::GpusArgs;
use crate::output::print;

/// For each method the time for the known board, or the reason why the device does not count by it.
type Tested = Vec<(Method, anyhow::Result<Duration>)>;

pub fn run(args: &GpusArgs) -> anyhow::Result<ExitCode> {
    let devices = match devices() {
        Err(GpuError::NoDevices) if args.json => Vec::new(),
        found => found?,
    };
    for device in devices {
        let tested = test(&device);
        print(&if args.json { as_json(&device, &tested) } else { as_text(&device, &tested) })?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Counts a known board on the device by each method. A device that fails by only one method is used for the
/// other. A device that is unusable or hangs is not tested again.
fn test(device: &Device) -> Tested {
    let mut tested = Tested::new();
    for method in Method::ALL {
        tested.push((method, test_method(device, method)));
        let (_, last) = &tested[tested.len() - 1];
        let is_no_use = |error: &anyhow::Error| {
            matches!(error.downcast_ref(), Some(GpuError::Unusable { .. } | GpuError::Hangs { .. }))
        };
        if last.as_ref().is_err_and(is_no_use) {
            break;
        }
    }
    tested
}

fn test_method(device: &Device, method: Method) -> anyhow::Result<Duration> {
    let kernel = GpuKernel::new(device.clone(), method)?;
    let begun = Instant::now();
    let tested = self_test::run(&kernel, Board::LARGEST);
    match kernel.failure() {
        Some(failure) => Err(failure.clone().into()),
        None => Ok(tested.map(|_| begun.elapsed())?),
    }
}

fn as_text(device: &Device, tested: &Tested) -> String {
    let Description { name, vendor, driver, version, kind, units, megahertz, memory, .. } =
        device.description();
    let gibibytes = *memory as f64 / f64::from(1 << 30);
    let used = lines(tested).join("\n   ");
    format!(
        "{}: {name} ({vendor})\n   {kind}, {units} units at {megahertz} MHz, {gibibytes:.1} GiB\n   \
         {version}, driver {driver}\n   {used}",
        device.number()
    )
}

/// The results of the tests as text.
fn lines(tested: &Tested) -> Vec<String> {
    if let [(_, Err(why))] = &tested[..] {
        return vec![why.to_string()];
    }
    let took = |(method, tested): &(Method, anyhow::Result<Duration>)| {
        let time = tested.as_ref().ok()?;
        Some(format!("{method} in {} ms", time.as_millis()))
    };
    let times: Vec<String> = tested.iter().filter_map(took).collect();
    let mut lines = Vec::new();
    if !times.is_empty() {
        lines.push(format!("counts a known board right: {}", times.join(", ")));
    }
    for (method, tested) in tested {
        lines.extend(tested.as_ref().err().map(|why| format!("does not count by {method}: {why}")));
    }
    lines
}

fn as_json(device: &Device, tested: &Tested) -> String {
    let Description { name, vendor, driver, version, kind, units, megahertz, memory, local_memory, .. } =
        device.description();
    let (mut seconds, mut why_not) = (serde_json::Map::new(), serde_json::Map::new());
    for (method, tested) in tested {
        match tested {
            Ok(time) => seconds.insert(method.to_string(), time.as_secs_f64().into()),
            Err(why) => why_not.insert(method.to_string(), why.to_string().into()),
        };
    }
    json!({
        "number": device.number(),
        "name": name,
        "vendor": vendor,
        "driver": driver,
        "version": version,
        "kind": kind,
        "units": units,
        "megahertz": megahertz,
        "memory": memory,
        "local_memory": local_memory,
        "usable": !seconds.is_empty(),
        "why_not": why_not,
        "seconds": seconds,
    })
    .to_string()
}
