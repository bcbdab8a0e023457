//! The protocol of systemd.

use std::time::Duration;

use sd_notify::NotifyState;

use super::Message;

/// How long the watchdog waits for the next sign of life, if there is one.
pub fn watchdog_timeout() -> Option<Duration> {
    sd_notify::watchdog_enabled()
}

/// Sends a message. A service manager that does not listen is not missed.
pub fn notify(message: Message<'_>) {
    let state = match message {
        Message::Ready => NotifyState::Ready,
        Message::Stopping => NotifyState::Stopping,
        Message::Alive => NotifyState::Watchdog,
        Message::Status(line) => NotifyState::Status(line),
    };
    sd_notify::notify(&[state]).ok();
}
