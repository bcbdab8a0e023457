//! Errors of devices, in one sentence each.

use opencl3::error_codes::{CL_PLATFORM_NOT_FOUND_KHR, ClError, DLOPEN_RUNTIME_LOAD_FAILED};
use queens::{Class, Classified};
use thiserror::Error;

/// What loads the driver of a card.
const LOADER: &str =
    if cfg!(windows) { "which brings OpenCL.dll" } else { "and the package ocl-icd-libopencl1 or its like" };

/// An error of a device: it is missing, unusable, or a call to it failed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum GpuError {
    /// The system has no OpenCL at all.
    #[error("there is no OpenCL on this machine: install the driver of the card, {}", LOADER)]
    NoOpenCl,
    /// The program loads no libraries, whatever the system has.
    #[error(
        "this diadem is a static binary, which loads no driver: for graphics cards use the release for Linux with glibc, or build it from source"
    )]
    StaticBinary,
    /// There is OpenCL, and it has no devices.
    #[error("OpenCL finds no device on this machine: install the driver of the card")]
    NoDevices,
    /// There are fewer.
    #[error("there is no graphics card {number}: {}", counted(*.there))]
    NoSuchDevice {
        /// The requested number.
        number: usize,
        /// How many there are.
        there: usize,
    },
    /// It cannot be used.
    #[error("{device} cannot be used: {why}")]
    Unusable {
        /// The title of the device.
        device: String,
        /// The reason.
        why: String,
    },
    /// Its driver does not compile the kernels.
    #[error(
        "the driver of {device} cannot build the kernels; update it, or leave this card out of --gpu: {log}"
    )]
    Build {
        /// The title of the device.
        device: String,
        /// The message of the driver.
        log: String,
    },
    /// A call to the driver has failed.
    #[error("{device} has failed: {what} ({code}); restart the machine, or leave this card out of --gpu")]
    Failed {
        /// The title of the device.
        device: String,
        /// The failed call.
        what: &'static str,
        /// OpenCL's name of the error.
        code: String,
    },
    /// A count does not fit into its memory.
    #[error(
        "{device} has too little memory: {mebibytes} MiB for the half boards of one set of rows are not enough; --method search needs little"
    )]
    TooSmall {
        /// The title of the device.
        device: String,
        /// How much it has.
        mebibytes: u64,
    },
    /// It does not answer.
    #[error(
        "{device} hangs: work of less than a second has not ended for {seconds} s; restart the machine, \
         or leave this card out of --gpu"
    )]
    Hangs {
        /// The title of the device.
        device: String,
        /// How long it was waited for.
        seconds: u64,
    },
}

impl Classified for GpuError {
    fn class(&self) -> Class {
        match self {
            Self::NoSuchDevice { .. } => Class::Usage,
            _ => Class::Failed,
        }
    }
}

fn counted(devices: usize) -> String {
    if devices == 1 {
        "the only card has the number 0".into()
    } else {
        format!("the cards have the numbers 0 to {}", devices - 1)
    }
}

impl GpuError {
    /// The error of a search for platforms.
    pub(crate) fn of_discovery(error: ClError) -> Self {
        if error.0 == DLOPEN_RUNTIME_LOAD_FAILED {
            return if cfg!(target_feature = "crt-static") { Self::StaticBinary } else { Self::NoOpenCl };
        }
        if error.0 == CL_PLATFORM_NOT_FOUND_KHR {
            return Self::NoDevices;
        }
        Self::Failed { device: "OpenCL".into(), what: "looking for devices", code: error.to_string() }
    }
}
