//! The devices that OpenCL knows of.

use std::sync::atomic::{AtomicBool, Ordering};

use opencl3::device::{
    CL_DEVICE_TYPE_ACCELERATOR, CL_DEVICE_TYPE_ALL, CL_DEVICE_TYPE_CPU, CL_DEVICE_TYPE_GPU,
};
use opencl3::error_codes::ClError;
use opencl3::platform::get_platforms;
use opencl3::types::cl_device_id;
use parking_lot::Mutex;

use crate::error::GpuError;

/// The local memory that the kernels need, in bytes.
pub(crate) const LOCAL_BYTES: u64 = 32 << 10;

/// A device, by its number in the order in which OpenCL lists them.
#[derive(Clone, Debug)]
pub struct Device {
    number: usize,
    id: Id,
    description: Description,
}

/// The driver's handle of a device.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Id(pub cl_device_id);

#[allow(unsafe_code, reason = "a handle of the driver is a pointer that is never followed here")]
mod handle {
    use super::Id;
    // SAFETY: OpenCL's calls may be made from any thread (but for clSetKernelArg on one kernel object, which a device's
    // user keeps to one thread at a time), and a root device lives as long as the process.
    unsafe impl Send for Id {}
    // SAFETY: as for Send: the handle is only copied and passed to the driver.
    unsafe impl Sync for Id {}
}

/// The properties of a device, from its driver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    /// The model.
    pub name: String,
    /// Its vendor's name.
    pub vendor: String,
    /// The version of the driver.
    pub driver: String,
    /// OpenCL's version as the device has it.
    pub version: String,
    /// The kind of device: `gpu`, `cpu` (OpenCL on the processor, as in PoCL), `accelerator`.
    pub kind: &'static str,
    /// Compute units: multiprocessors, cores.
    pub units: u32,
    /// Their clock in MHz.
    pub megahertz: u32,
    /// Bytes of memory.
    pub memory: u64,
    /// Whether that is the machine's own memory, as with graphics in the processor's chip.
    pub shares_memory: bool,
    /// Bytes that one buffer may have.
    pub largest_buffer: u64,
    /// Bytes of a compute unit's own fast memory.
    pub local_memory: u64,
    /// Whether 32 work items each are in lockstep and its compiler understands NVIDIA's assembler.
    pub has_warps: bool,
    /// Why it is not used, if it is not.
    pub unusable: Option<String>,
}

/// An extension that only NVIDIA's own driver has.
const NVIDIA_EXTENSION: &str = "cl_nv_device_attribute_query";

/// The first major number of its cards that have all instructions which the kernels name; older ones count as other cards do.
const MAXWELL_MAJOR: u32 = 5;

/// Set before the first call to OpenCL, which loads the drivers.
static DRIVER_LOADED: AtomicBool = AtomicBool::new(false);

/// Whether a driver may be loaded. From then on the process must end without C exit handlers: those of a driver destroy what its
/// threads still use.
pub fn is_driver_loaded() -> bool {
    DRIVER_LOADED.load(Ordering::Relaxed)
}

/// All devices, those that cannot be used included.
///
/// # Errors
/// There is no OpenCL, or it has no devices.
pub fn devices() -> Result<Vec<Device>, GpuError> {
    // Some loaders find no platform while another thread searches.
    static ENUMERATION: Mutex<()> = Mutex::new(());
    let _alone = ENUMERATION.lock();
    DRIVER_LOADED.store(true, Ordering::Relaxed);
    let platforms = get_platforms().map_err(GpuError::of_discovery)?;
    let mut devices = Vec::new();
    for platform in platforms {
        // A platform with a broken driver has no devices; the other platforms remain usable.
        for id in platform.get_devices(CL_DEVICE_TYPE_ALL).unwrap_or_default() {
            let description = describe(id).unwrap_or_else(|error| Description::broken(&error));
            devices.push(Device { number: devices.len(), id: Id(id), description });
        }
    }
    if devices.is_empty() { Err(GpuError::NoDevices) } else { Ok(devices) }
}

impl Device {
    /// Its number in `--gpu`, from 0.
    pub fn number(&self) -> usize {
        self.number
    }

    /// Its properties, from the driver.
    pub fn description(&self) -> &Description {
        &self.description
    }

    /// Why it is not used, if it is not.
    pub fn unusable(&self) -> Option<GpuError> {
        let why = self.description.unusable.clone()?;
        Some(GpuError::Unusable { device: self.title(), why })
    }

    /// Its name in messages: `gpu0 (NVIDIA H200)`.
    pub fn title(&self) -> String {
        format!("gpu{} ({})", self.number, self.description.name)
    }

    pub(crate) fn id(&self) -> cl_device_id {
        self.id.0
    }

    /// The error of a call to its driver.
    pub(crate) fn failed(&self, what: &'static str) -> impl FnOnce(ClError) -> GpuError + use<> {
        let device = self.title();
        move |error| GpuError::Failed { device, what, code: error.to_string() }
    }
}

/// The part of a device's memory that one buffer may take: there are five for each of two counts at a time.
const PART_OF_CARD: u64 = 16;

/// The part if the device shares the machine's memory, which other programs need.
const PART_OF_HOST: u64 = 64;

/// Indices of words have 32 bits.
const MOST_WORDS: u64 = 1 << 31;

impl Description {
    /// How many words of 64 bits a buffer of a card may have, and one behind them.
    pub(crate) fn room(&self) -> usize {
        let part = if self.shares_memory { PART_OF_HOST } else { PART_OF_CARD };
        let bytes = (self.memory / part).min(self.largest_buffer);
        (bytes / 8).saturating_sub(1).min(MOST_WORDS) as usize
    }

    /// Whether it is no card but the machine's processor, by a driver such as PoCL.
    pub fn is_processor(&self) -> bool {
        self.kind == "cpu"
    }

    fn broken(error: &ClError) -> Self {
        Self { unusable: Some(format!("its driver does not report its type ({error})")), ..Self::unknown() }
    }

    /// A description without any properties.
    pub(crate) fn unknown() -> Self {
        Self {
            name: "unknown".into(),
            vendor: String::new(),
            driver: String::new(),
            version: String::new(),
            kind: "unknown",
            units: 0,
            megahertz: 0,
            memory: 0,
            shares_memory: false,
            largest_buffer: 0,
            local_memory: 0,
            has_warps: false,
            unusable: None,
        }
    }
}

fn describe(id: cl_device_id) -> Result<Description, ClError> {
    let device = opencl3::device::Device::new(id);
    let kind = match device.dev_type()? {
        CL_DEVICE_TYPE_GPU => "gpu",
        CL_DEVICE_TYPE_CPU => "cpu",
        CL_DEVICE_TYPE_ACCELERATOR => "accelerator",
        _ => "other",
    };
    let local_memory = device.local_mem_size()?;
    let unusable = if !device.available()? {
        Some("it is not available".to_owned())
    } else if !device.compiler_available()? {
        Some("its driver has no compiler".to_owned())
    } else if local_memory < LOCAL_BYTES {
        Some(format!("it has {local_memory} bytes of local memory and {LOCAL_BYTES} are needed"))
    } else {
        None
    };
    Ok(Description {
        name: device.name()?.trim().to_owned(),
        vendor: device.vendor()?.trim().to_owned(),
        driver: device.driver_version()?,
        version: device.version()?,
        kind,
        units: device.max_compute_units()?,
        megahertz: device.max_clock_frequency()?,
        memory: device.global_mem_size()?,
        // Deprecated by OpenCL 2.0: not every driver knows it.
        shares_memory: device.host_unified_memory().unwrap_or(false),
        largest_buffer: device.max_mem_alloc_size()?,
        local_memory,
        has_warps: kind == "gpu"
            && device.extensions()?.contains(NVIDIA_EXTENSION)
            && device.compute_capability_major_nv().is_ok_and(|major| major >= MAXWELL_MAJOR),
        unusable,
    })
}
