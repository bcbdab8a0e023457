//! The threads of a measurement, as seen by their supervisor.

use std::sync::Arc;
use std::time::Instant;

use parking_lot::Mutex;
use queens::kernel::Stop;

/// The count of a thread: its start, and how to stop it.
#[derive(Default)]
pub struct ThreadCount(Mutex<Option<(Instant, Arc<Stop>)>>);

impl ThreadCount {
    /// From now on something is counted, which the flag stops.
    pub fn begin(&self) -> Arc<Stop> {
        let stop = Arc::new(Stop::new());
        *self.0.lock() = Some((Instant::now(), Arc::clone(&stop)));
        stop
    }

    pub fn end(&self) {
        *self.0.lock() = None;
    }

    pub fn stop_if(&self, is_over: impl Fn(&Instant) -> bool) {
        if let Some((since, stop)) = &*self.0.lock()
            && is_over(since)
        {
            stop.stop();
        }
    }
}
