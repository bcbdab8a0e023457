//! Notifies a service manager such as systemd that a service is ready, how far it is, that it is alive, and that it
//! stops. Sends nothing without `NOTIFY_SOCKET`.

#[cfg(not(unix))]
mod none;
#[cfg(unix)]
mod systemd;

use std::time::Duration;

use coordinator::Snapshot;
use tokio::sync::watch;
use tokio::time::{interval, sleep};

use crate::progress::describe;
#[cfg(not(unix))]
use none::{notify, watchdog_timeout};
#[cfg(unix)]
use systemd::{notify, watchdog_timeout};

/// A message to the service manager.
#[derive(Clone, Copy, Debug)]
enum Message<'a> {
    Ready,
    Stopping,
    /// The watchdog learns that the service is alive.
    Alive,
    Status(&'a str),
}

/// A new status is sent this often at most.
pub const STATUS_EVERY: Duration = Duration::from_secs(10);

/// The service is ready. Its runtime tells the watchdog from now on that it is alive.
pub fn ready() {
    notify(Message::Ready);
    let Some(timeout) = watchdog_timeout() else { return };
    tokio::spawn(async move {
        let mut ticks = interval(timeout / 2);
        loop {
            ticks.tick().await;
            notify(Message::Alive);
        }
    });
}

/// The service stops.
pub fn stopping() {
    notify(Message::Stopping);
}

/// How far the service is, in one line.
pub fn status(line: &str) {
    notify(Message::Status(line));
}

/// Shows the snapshots as they come, until the sender is gone or this is dropped.
pub async fn show(mut snapshots: watch::Receiver<Snapshot>) {
    loop {
        status(&describe(&snapshots.borrow_and_update().status, usize::MAX));
        sleep(STATUS_EVERY).await;
        if snapshots.changed().await.is_err() {
            break;
        }
    }
}
