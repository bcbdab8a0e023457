//! What systemd's login manager knows of the users of a machine.
//!
//! Its idle hint is set when all sessions are idle: desktops report that after some minutes without input, and a terminal is
//! idle five minutes after the last input. A program that plays a film inhibits it.

use std::process::{Command, Stdio};

/// Whether a user is active; `None` without a login manager.
pub fn user_is_active() -> Option<bool> {
    // Without a session it shows the properties of the manager, which sums all sessions up.
    let shown = Command::new("loginctl")
        .args(["show-session", "--property=IdleHint"])
        .stdin(Stdio::null())
        .output()
        .ok()
        .filter(|shown| shown.status.success())?;
    is_active(&String::from_utf8_lossy(&shown.stdout))
}

fn is_active(properties: &str) -> Option<bool> {
    match properties.lines().find_map(|line| line.strip_prefix("IdleHint="))? {
        "yes" => Some(false),
        "no" => Some(true),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_hint_shows_whether_a_user_is_active() {
        assert_eq!(is_active("IdleHint=yes\n"), Some(false));
        assert_eq!(is_active("IdleHint=no\n"), Some(true));
        assert_eq!(is_active("IdleHint=\n"), None);
        assert_eq!(is_active(""), None);
    }
}
