//! The device's code, built for one device.

use opencl3::context::Context;
use opencl3::program::Program;

use crate::device::Device;
use crate::error::GpuError;

/// What the sources need of the language that they are compiled as.
const DIALECT: &str = include_str!("kernels/dialect.h");

/// The row-by-row search.
const SEARCH: &str = include_str!("kernels/search.cl");

/// How many work items a group has: what the local memory is divided by.
pub const GROUP: usize = 64;

/// Builds the code for the device. Drivers keep what they have built, so that the next start is quicker.
pub fn build(device: &Device) -> Result<(Context, Program), GpuError> {
    if let Some(why) = &device.description().unusable {
        return Err(GpuError::Unusable { device: device.title(), why: why.clone() });
    }
    let context = Context::from_device(&opencl3::device::Device::new(device.id()))
        .map_err(device.failed("making a context"))?;
    let options = format!("-cl-std=CL1.2 -DGROUP={GROUP}");
    let source = format!("{DIALECT}\n{SEARCH}");
    let program = Program::create_and_build_from_source(&context, &source, &options)
        .map_err(|log| GpuError::Build { device: device.title(), log: one_line(&log) })?;
    Ok((context, program))
}

/// The beginning of what a compiler says, in one line.
fn one_line(log: &str) -> String {
    let words: Vec<&str> = log.split_whitespace().collect();
    words.join(" ").chars().take(500).collect()
}
