//! A system whose service manager gets no messages.

use std::time::Duration;

use tracing::trace;

use super::Message;

/// None: there is no watchdog.
pub fn watchdog_timeout() -> Option<Duration> {
    None
}

/// Sends nothing. A trace shows the status.
pub fn notify(message: Message<'_>) {
    if let Message::Status(line) = message {
        trace!("{line}");
    }
}
