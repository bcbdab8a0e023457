//! Whether a machine runs on its battery.

use starship_battery::{Manager, State};

/// True if a battery of the machine is discharged. A machine without batteries has another source.
pub fn is_on_battery() -> bool {
    let Ok(batteries) = Manager::new().and_then(|manager| manager.batteries()) else { return false };
    batteries.flatten().any(|battery| battery.state() == State::Discharging)
}
