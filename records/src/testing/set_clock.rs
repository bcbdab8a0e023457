use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::clock::Clock;

/// A clock that a test sets. Both times equal the sum of all advances.
#[derive(Clone, Debug, Default)]
pub struct SetClock(Arc<Mutex<Duration>>);

impl SetClock {
    /// Lets time pass.
    pub fn advance(&self, by: Duration) {
        *self.0.lock().unwrap() += by;
    }
}

impl Clock for SetClock {
    fn now(&self) -> Duration {
        *self.0.lock().unwrap()
    }

    fn since_1970(&self) -> Duration {
        self.now()
    }
}
