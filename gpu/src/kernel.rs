//! A kernel on a device: either method, and what becomes of it when the device fails.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};

use queens::Position;
use queens::kernel::{Count, Isa, Kernel, KernelName, Method, Stop};

use crate::device::{Description, Device};
use crate::error::GpuError;
use crate::launcher::Launcher;
use crate::meet::MeetLauncher;
use crate::program::DeviceKind;
use crate::search::SearchLauncher;
use crate::session::Session;

/// A kernel on one device.
pub struct GpuKernel {
    method: Method,
    kind: DeviceKind,
    session: Arc<Session>,
    launcher: Arc<dyn Launcher>,
    /// Why there is no kernel of the other method, where its driver does not build that, or it has failed by that.
    lacks_other: OnceLock<GpuError>,
}

impl GpuKernel {
    /// The kernel of that method for that device.
    ///
    /// # Errors
    /// The device cannot be used, or its driver does not build the code.
    pub fn new(device: Device, method: Method) -> Result<Self, GpuError> {
        let kind = DeviceKind::of(&device);
        Self::as_kind(device, method, kind)
    }

    /// The same with launches of this kind. A processor can run launches made for cards, slowly.
    ///
    /// # Errors
    /// The device cannot be used, or its driver does not build the code.
    pub fn as_kind(device: Device, method: Method, kind: DeviceKind) -> Result<Self, GpuError> {
        let launcher = launcher(device.description(), method, kind);
        let session = Arc::new(Session::new(device, &launcher.source())?);
        Ok(Self { method, kind, session, launcher, lacks_other: OnceLock::new() })
    }

    /// The kernel of another method on the same device.
    pub(crate) fn beside(&self, method: Method) -> Result<Self, GpuError> {
        let launcher = launcher(self.device().description(), method, self.kind);
        let session = Arc::new(self.session.beside(&launcher.source())?);
        Ok(Self { method, kind: self.kind, session, launcher, lacks_other: OnceLock::new() })
    }

    /// A new kernel of the same method, after the device has failed by the other method. The new kernel
    /// offers no other method.
    ///
    /// # Errors
    /// The device cannot be used any more.
    pub(crate) fn without_other(&self, failure: GpuError) -> Result<Self, GpuError> {
        let kernel = Self::as_kind(self.device().clone(), self.method, self.kind)?;
        kernel.lacks_other.set(failure).ok();
        Ok(kernel)
    }

    /// The device.
    pub fn device(&self) -> &Device {
        self.session.device()
    }

    /// The failure of the device, if any; after a failure every count is broken off.
    pub fn failure(&self) -> Option<&GpuError> {
        self.session.failure()
    }

    /// Why the kernel of the other method is unavailable, if it was requested and failed.
    pub fn lacks_other(&self) -> Option<&GpuError> {
        self.lacks_other.get()
    }

    /// Works with the device. The wrapper of OpenCL panics where a driver answers an error to what never fails.
    fn guarded<T>(&self, work: impl FnOnce() -> Result<T, GpuError>) -> Result<T, GpuError> {
        catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
            let (device, what) = (self.device().title(), "a call that never fails");
            Err(GpuError::Failed { device, what, code: "its driver is broken".into() })
        })
    }

    /// Marks the device as failed, before its driver reports a failure.
    pub fn fail(&self, error: GpuError) {
        self.session.fail(error);
    }
}

/// The launcher of the method for a device with this description.
pub(crate) fn launcher(about: &Description, method: Method, kind: DeviceKind) -> Arc<dyn Launcher> {
    match method {
        Method::Search => Arc::new(SearchLauncher::new(about, kind)),
        Method::Meet => Arc::new(MeetLauncher::new(about, kind)),
    }
}

impl Drop for GpuKernel {
    /// A failed device is never released: its driver may hang, and the OpenCL wrapper panics if a release
    /// fails.
    fn drop(&mut self) {
        if self.failure().is_some() {
            std::mem::forget((Arc::clone(&self.session), Arc::clone(&self.launcher)));
        }
    }
}

impl Kernel for GpuKernel {
    fn name(&self) -> KernelName {
        KernelName { method: self.method, isa: Isa::OpenCl }
    }

    fn count(&self, position: &Position, stop: &Stop) -> Option<Count> {
        if self.failure().is_some() {
            return None;
        }
        self.guarded(|| self.launcher.count(&self.session, position, stop)).unwrap_or_else(|error| {
            self.fail(error);
            None
        })
    }

    fn is_on_processor(&self) -> bool {
        self.device().description().is_processor()
    }

    fn other(&self) -> Option<Arc<dyn Kernel>> {
        if self.lacks_other().is_some() {
            return None;
        }
        match self.guarded(|| self.beside(self.name().other().method)) {
            Ok(other) => Some(Arc::new(other)),
            // A driver may build one method and not the other.
            Err(error @ GpuError::Build { .. }) => {
                self.lacks_other.set(error).ok();
                None
            }
            Err(error) => {
                self.fail(error);
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::devices;

    #[test]
    fn memory_of_failed_device_is_never_released() {
        let Ok(devices) = devices() else {
            assert!(std::env::var_os("DIADEM_TEST_TOOLS").is_none(), "there is no OpenCL");
            println!("skipped: there is no OpenCL");
            return;
        };
        for device in devices.into_iter().filter(|device| device.unusable().is_none()) {
            for failure in [None, Some(GpuError::NoDevices)] {
                let kernel = GpuKernel::new(device.clone(), Method::Search).unwrap();
                let (session, launcher) = (Arc::downgrade(&kernel.session), Arc::downgrade(&kernel.launcher));
                let is_failed = failure.is_some();
                failure.into_iter().for_each(|failure| kernel.fail(failure));
                drop(kernel);
                let is_kept = [session.upgrade().is_some(), launcher.upgrade().is_some()];
                assert_eq!(is_kept, [is_failed; 2]);
            }
        }
    }
}
