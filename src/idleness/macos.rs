//! What two programs of macOS tell of its battery and its user.
//!
//! Libraries link against Apple's frameworks, which only Apple's SDK has. These programs are part of every macOS.

#[cfg(target_os = "macos")]
use std::process::{Command, Stdio};
use std::time::Duration;

use super::IDLE_AFTER;

/// Whether the machine draws its power from a battery.
#[cfg(target_os = "macos")]
pub fn is_on_battery() -> bool {
    shown_by("/usr/bin/pmset", &["-g", "batt"]).is_some_and(|shown| draws_from_battery(&shown))
}

/// Whether the user is active; `None` if the system does not tell.
#[cfg(target_os = "macos")]
pub fn user_is_active() -> Option<bool> {
    is_active(&shown_by("/usr/sbin/ioreg", &["-c", "IOHIDSystem", "-d", "4"])?)
}

#[cfg(target_os = "macos")]
fn shown_by(program: &str, args: &[&str]) -> Option<String> {
    let shown = Command::new(program).args(args).stdin(Stdio::null()).output().ok()?;
    shown.status.success().then(|| String::from_utf8_lossy(&shown.stdout).into_owned())
}

fn draws_from_battery(shown: &str) -> bool {
    shown.lines().any(|line| line.trim() == "Now drawing from 'Battery Power'")
}

fn is_active(registry: &str) -> Option<bool> {
    let (_, since) = registry.lines().find_map(|line| line.split_once("\"HIDIdleTime\" = "))?;
    Some(Duration::from_nanos(since.trim().parse().ok()?) < IDLE_AFTER)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pmset_shows_whether_the_battery_is_in_use() {
        let battery = "Now drawing from 'Battery Power'\n -InternalBattery-0 (id=1)\t81%; discharging; 4:32 remaining\n";
        assert!(draws_from_battery(battery));
        assert!(!draws_from_battery(
            "Now drawing from 'AC Power'\n -InternalBattery-0 (id=1)\t100%; charged\n"
        ));
        assert!(!draws_from_battery(""));
    }

    #[test]
    fn ioreg_shows_when_the_user_last_touched_anything() {
        let idle_for = |nanos: &str| is_active(&format!("  | |   {{\n  | |     \"HIDIdleTime\" = {nanos}\n"));
        assert_eq!(idle_for("41666"), Some(true));
        assert_eq!(idle_for("300000000000"), Some(false));
        assert_eq!(idle_for("soon"), None);
        assert_eq!(is_active(""), None);
    }
}
