//! The device's code, built for one device, and the shape of launches that suits it.

#[cfg(test)]
mod tests;

use opencl3::context::Context;
use opencl3::program::Program;

use crate::device::Device;
use crate::error::GpuError;

/// What the sources need of the language that they are compiled as.
const DIALECT: &str = include_str!("kernels/dialect.h");

/// A kernel's source.
pub struct KernelSource<'a> {
    /// Its text.
    pub text: &'a str,
    /// The macros it asks for.
    pub macros: Vec<(&'static str, usize)>,
}

impl KernelSource<'_> {
    /// All that is compiled.
    fn whole(&self) -> String {
        format!("{DIALECT}\n{}", self.text)
    }

    /// How it is compiled.
    fn options(&self) -> String {
        let macros = self.macros.iter().map(|(name, value)| format!(" -D{name}={value}"));
        format!("-cl-std=CL1.2{}", macros.collect::<String>())
    }
}

/// What kind of device launches are made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceKind {
    /// Many work items a group, which share what they read.
    Card,
    /// Few, each of which does as much as it can at a time.
    Processor,
}

impl DeviceKind {
    /// What suits the device.
    pub fn of(device: &Device) -> Self {
        if device.description().is_processor() { Self::Processor } else { Self::Card }
    }
}

/// What code for the device, its queues and its memory belong to, if it can be used.
pub fn context(device: &Device) -> Result<Context, GpuError> {
    if let Some(error) = device.unusable() {
        return Err(error);
    }
    Context::from_device(&opencl3::device::Device::new(device.id()))
        .map_err(device.failed("making a context"))
}

/// Builds the code for the device. Drivers keep what they have built, so that the next start is quicker.
pub fn build(device: &Device, context: &Context, source: &KernelSource<'_>) -> Result<Program, GpuError> {
    Program::create_and_build_from_source(context, &source.whole(), &source.options())
        .map_err(|log| GpuError::Build { device: device.title(), log: one_line(&log) })
}

/// The beginning of what a compiler says, in one line.
fn one_line(log: &str) -> String {
    let words: Vec<&str> = log.split_whitespace().collect();
    words.join(" ").chars().take(500).collect()
}
