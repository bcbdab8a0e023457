//! The threads of a measurement, as who watches them sees them.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use queens::kernel::Stop;

/// What a thread counts, since when, and how it is stopped.
#[derive(Default)]
pub struct Running(Mutex<Option<(Instant, Arc<Stop>)>>);

impl Running {
    /// From now on something is counted, which the flag stops.
    pub fn begin(&self) -> Arc<Stop> {
        let stop = Arc::new(Stop::new());
        *locked(&self.0) = Some((Instant::now(), Arc::clone(&stop)));
        stop
    }

    pub fn end(&self) {
        *locked(&self.0) = None;
    }

    pub fn stop_if(&self, is_over: impl Fn(&Instant) -> bool) {
        if let Some((since, stop)) = &*locked(&self.0)
            && is_over(since)
        {
            stop.stop();
        }
    }
}

/// What it guards; nothing that a thread does here leaves it half done.
pub fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
