//! The device's code, built for one device, and the shape of launches that suits it.

#[cfg(test)]
mod tests;

use opencl3::context::Context;
use opencl3::program::Program;

use crate::device::Device;
use crate::error::GpuError;

/// A file of `kernels/` as devices get it, without comments and indentation, which would only enlarge the
/// binary. Line numbers stay the same.
macro_rules! kernel_text {
    ($file:literal) => {{
        const FILE: &[u8] = include_bytes!($file);
        const LENGTH: usize = $crate::program::code_of(FILE, &mut [0; FILE.len()]);
        const TEXT: [u8; LENGTH] = {
            let mut text = [0; LENGTH];
            $crate::program::code_of(FILE, &mut text);
            text
        };
        match std::str::from_utf8(&TEXT) {
            Ok(text) => text,
            Err(_) => panic!("kernels are written in ASCII"),
        }
    }};
}
pub(crate) use kernel_text;

/// Writes a file without its comments and indentation, as far as there is room. Returns the length of the
/// result.
pub const fn code_of(file: &[u8], text: &mut [u8]) -> usize {
    let (mut at, mut length, mut is_comment, mut is_begun) = (0, 0, false, false);
    while at < file.len() {
        let follows = if at + 1 < file.len() { file[at + 1] } else { b'\n' };
        match (file[at], follows) {
            (b'/', b'*') | (b'*', b'/') => {
                is_comment = follows == b'*';
                at += 2;
            }
            (byte, _) => {
                is_begun = byte != b'\n' && (is_begun || byte != b' ');
                if is_begun && !is_comment || byte == b'\n' {
                    if length < text.len() {
                        text[length] = byte;
                    }
                    length += 1;
                }
                at += 1;
            }
        }
    }
    length
}

/// The definitions that adapt the sources to their language.
const DIALECT: &str = kernel_text!("kernels/dialect.h");

/// A kernel's source.
pub struct KernelSource<'a> {
    /// Its text.
    pub text: &'a str,
    /// The macros that the source needs.
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

/// The kind of device that launches are made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceKind {
    /// Many work items a group, which share what they read.
    Card,
    /// Few groups, each of which does as much as it can at a time.
    Processor,
}

impl DeviceKind {
    /// The kind that suits the device.
    pub fn of(device: &Device) -> Self {
        if device.description().is_processor() { Self::Processor } else { Self::Card }
    }
}

/// The context of code, queues and memory on the device, if it is usable.
pub fn context(device: &Device) -> Result<Context, GpuError> {
    if let Some(error) = device.unusable() {
        return Err(error);
    }
    Context::from_device(&opencl3::device::Device::new(device.id()))
        .map_err(device.failed("making a context"))
}

/// Builds the code for the device. Drivers cache the result, so the next start is faster.
pub fn build(device: &Device, context: &Context, source: &KernelSource<'_>) -> Result<Program, GpuError> {
    Program::create_and_build_from_source(context, &source.whole(), &source.options())
        .map_err(|log| GpuError::Build { device: device.title(), log: one_line(&log) })
}

/// The beginning of a compiler's message, in one line.
fn one_line(log: &str) -> String {
    let words: Vec<&str> = log.split_whitespace().collect();
    words.join(" ").chars().take(500).collect()
}
