//! `diadem gpus`: which graphics cards there are, and why one is not used.

use std::process::ExitCode;

use gpu::{Description, Device, GpuError, GpuSearch, devices};
use queens::self_test;
use serde_json::json;

use crate::args::GpusArgs;
use crate::output::print;

pub fn run(args: &GpusArgs) -> anyhow::Result<ExitCode> {
    let devices = match devices() {
        Err(GpuError::NoDevices) if args.json => Vec::new(),
        found => found?,
    };
    for device in devices {
        let why = why_not(&device);
        let text =
            if args.json { as_json(&device, why.as_deref()) } else { as_text(&device, why.as_deref()) };
        print(&text)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Why the device does not count, or counts wrong: found by having it count a known board.
fn why_not(device: &Device) -> Option<String> {
    let search = match GpuSearch::new(device.clone()) {
        Ok(search) => search,
        Err(error) => return Some(error.to_string()),
    };
    let tested = self_test::run(&search);
    search.failure().map(ToString::to_string).or_else(|| tested.err().map(|error| error.to_string()))
}

fn as_text(device: &Device, why: Option<&str>) -> String {
    let Description { name, vendor, driver, version, kind, units, megahertz, memory, .. } =
        device.description();
    let gibibytes = *memory as f64 / f64::from(1 << 30);
    let used = why.unwrap_or("counts a known board right");
    format!(
        "{}: {name} ({vendor})\n   {kind}, {units} units at {megahertz} MHz, {gibibytes:.1} GiB\n   \
         {version}, driver {driver}\n   {used}",
        device.number()
    )
}

fn as_json(device: &Device, why: Option<&str>) -> String {
    let Description { name, vendor, driver, version, kind, units, megahertz, memory, local_memory, .. } =
        device.description();
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
        "usable": why.is_none(),
        "why_not": why,
    })
    .to_string()
}
