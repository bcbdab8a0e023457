//! When the user last touched keyboard or mouse.

use std::time::Duration;

use system_idle_time::get_idle_time;

/// A user is active until so much time after the last input.
const IDLE_AFTER: Duration = Duration::from_mins(5);

/// Whether the user is active; `None` if the system does not tell.
pub fn user_is_active() -> Option<bool> {
    get_idle_time().ok().map(|idle| idle < IDLE_AFTER)
}
