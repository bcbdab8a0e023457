//! Kernels for graphics cards; each is a [`Kernel`](queens::kernel::Kernel) like any other.
//!
//! ```text
//! device    which devices there are, what is known of each, and why one is not used
//! program   the device's code, from `kernels/*.cl`, built for one device
//! session   a device that counts: its code, queues and memory, waiting for it, and what has gone wrong with it
//! room      memory of a device that is kept, and grows
//! lanes     what one count at a time uses of a device, kept for the next one
//! launcher  what a method does with a device
//! kernel    either method on a device, as a kernel
//! choice    the method that is the faster one for a plan's units
//! search    the row-by-row search on a device, which goes on from few states of the host's
//! meet      two halves that meet on a device
//! ```
//!
//! OpenCL is loaded when it is first used; without OpenCL there are no devices.

mod choice;
mod device;
mod error;
mod kernel;
mod lanes;
mod launcher;
mod meet;
mod program;
#[allow(unsafe_code, reason = "copies to and from the device's memory while the host continues")]
mod room;
#[allow(unsafe_code, reason = "launches what was compiled for the device")]
mod search;
#[allow(unsafe_code, reason = "makes the device's memory, and copies to and from it")]
mod session;

pub use choice::kernel_for;
pub use device::{Description, Device, devices, is_driver_loaded};
pub use error::GpuError;
pub use kernel::GpuKernel;
pub use program::DeviceKind;
