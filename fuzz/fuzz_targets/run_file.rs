//! `run.json`, with all plans and shards that it may name.

#![no_main]

use libfuzzer_sys::fuzz_target;
use queens::{Plan, PlanSpec, UnitId};
use records::run_directory::run_file::RunFile;

/// Larger boards take their time.
const LARGEST: u8 = 6;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(run) = serde_json::from_slice::<RunFile>(bytes) {
        let text = serde_json::to_string(&run).unwrap();
        assert_eq!(serde_json::from_str::<RunFile>(&text).unwrap(), run);
        run.hash();
        derive(run.plan);
    }
    if let Ok(spec) = serde_json::from_slice(bytes) {
        derive(spec);
    }
});

fn derive(spec: PlanSpec) {
    if spec.n.n() > LARGEST {
        return;
    }
    let Ok(plan) = Plan::derive(spec) else { return };
    let units: u64 = plan.unit_ranges().map(|range| range.units.end - range.units.start).sum();
    assert_eq!(units, plan.units());
    for unit in (0..plan.units().min(3)).chain(plan.units().checked_sub(1)).map(UnitId) {
        assert_eq!(plan.unit(unit).summand, plan.summand(unit));
    }
}
