//! Notifies a service manager such as systemd that a service is ready, how far it is, that it is alive, and that it
//! stops. Sends nothing without `NOTIFY_SOCKET`.

use std::time::Duration;

use coordinator::Snapshot;
use sd_notify::{NotifyState, notify, watchdog_enabled};
use tokio::sync::watch;
use tokio::time::{interval, sleep};

use crate::progress::describe;

/// A new status is sent this often at most.
pub const STATUS_EVERY: Duration = Duration::from_secs(10);

/// The service is ready. Its runtime tells the watchdog from now on that it is alive.
pub fn ready() {
    send(NotifyState::Ready);
    let Some(timeout) = watchdog_enabled() else { return };
    tokio::spawn(async move {
        let mut ticks = interval(timeout / 2);
        loop {
            ticks.tick().await;
            send(NotifyState::Watchdog);
        }
    });
}

/// The service stops.
pub fn stopping() {
    send(NotifyState::Stopping);
}

/// How far the service is, in one line.
pub fn status(line: &str) {
    send(NotifyState::Status(line));
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

/// A service manager that does not listen is not missed.
fn send(state: NotifyState<'_>) {
    notify(&[state]).ok();
}
