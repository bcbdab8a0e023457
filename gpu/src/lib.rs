//! Kernels for graphics cards: what counts on one is a [`Kernel`](queens::kernel::Kernel) like any other.
//!
//! ```text
//! device    which devices there are, what is known of each, and why one is not used
//! program   the device's code, from `kernels/*.cl`, built for one device
//! expand    the first levels of a search, on the host: the states that the device goes on from
//! search    the row-by-row search on a device
//! ```
//!
//! OpenCL is loaded when it is asked for; where there is none, there are no devices.

mod device;
mod error;
mod expand;
mod program;
#[allow(unsafe_code, reason = "launches what was compiled for the device, and copies to and from its memory")]
mod search;

pub use device::{Description, Device, devices};
pub use error::GpuError;
pub use search::GpuSearch;
