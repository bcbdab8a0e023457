//! When the user last touched keyboard or mouse.

use system_idle_time::get_idle_time;

use super::IDLE_AFTER;

/// Whether the user is active; `None` if the system does not tell.
pub fn user_is_active() -> Option<bool> {
    get_idle_time().ok().map(|idle| idle < IDLE_AFTER)
}
