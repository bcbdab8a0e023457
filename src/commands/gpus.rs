//! `diadem gpus`: which graphics cards there are, how fast they count a known board, and why one is not used.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use gpu::{Description, Device, GpuError, GpuKernel, devices};
use queens::kernel::Method;
use queens::{Board, self_test};
use serde_json::json;

use crate::args::GpusArgs;
use crate::output::print;

/// How long each method took for the known board, or why the device is not used.
type Tested = Result<[(Method, Duration); 2], String>;

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

/// Has the device count a known board by each method.
fn test(device: &Device) -> Tested {
    let [first, second] = Method::ALL;
    Ok([(first, test_method(device, first)?), (second, test_method(device, second)?)])
}

fn test_method(device: &Device, method: Method) -> Result<Duration, String> {
    let kernel = GpuKernel::new(device.clone(), method).map_err(|error| error.to_string())?;
    let begun = Instant::now();
    let tested = self_test::run(&kernel, Board::LARGEST);
    let failure = kernel.failure().map(ToString::to_string);
    match (failure, tested) {
        (Some(failure), _) => Err(failure),
        (None, tested) => tested.map(|_| begun.elapsed()).map_err(|error| error.to_string()),
    }
}

fn as_text(device: &Device, tested: &Tested) -> String {
    let Description { name, vendor, driver, version, kind, units, megahertz, memory, .. } =
        device.description();
    let gibibytes = *memory as f64 / f64::from(1 << 30);
    let used = match tested {
        Err(why) => why.clone(),
        Ok(times) => {
            let times = times.map(|(method, time)| format!("{method} in {} ms", time.as_millis()));
            format!("counts a known board right: {}", times.join(", "))
        }
    };
    format!(
        "{}: {name} ({vendor})\n   {kind}, {units} units at {megahertz} MHz, {gibibytes:.1} GiB\n   \
         {version}, driver {driver}\n   {used}",
        device.number()
    )
}

fn as_json(device: &Device, tested: &Tested) -> String {
    let Description { name, vendor, driver, version, kind, units, megahertz, memory, local_memory, .. } =
        device.description();
    let seconds = tested.as_ref().ok().map(|times| {
        let times = times.map(|(method, time)| (method.to_string(), time.as_secs_f64()));
        serde_json::Map::from_iter(times.map(|(method, seconds)| (method, seconds.into())))
    });
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
        "usable": tested.is_ok(),
        "why_not": tested.as_ref().err(),
        "seconds": seconds,
    })
    .to_string()
}
