//! Tells the operator what a run needs: events, found in the snapshots of the run, go to a command or a webhook. A receiver that
//! fails or hangs holds nothing up.

mod alarms;
mod receiver;

use std::io;
use std::time::{Duration, Instant, SystemTime};

use coordinator::Snapshot;
use domain::RunStatus;
use serde_json::json;
use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;
use tokio::time::{interval, sleep};
use tracing::warn;

use crate::args::ExternalCommand;
use alarms::{Alarms, Notice};
use receiver::{Receiver, Target};

/// Time between two looks at a run that publishes nothing.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);

/// How long the receivers may take for the last events when the coordinator ends.
const CLOSE_TIME: Duration = Duration::from_secs(2);

/// How long it takes to end a command that has not ended by then.
const KILL_TIME: Duration = Duration::from_millis(500);

/// The task that watches a run for events.
pub struct Notifier {
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl Notifier {
    /// Watches the snapshots, and sends each event to the command and to the URL.
    ///
    /// # Errors
    /// The system cannot start a thread.
    pub fn start(
        command: Option<ExternalCommand>,
        url: Option<String>,
        snapshots: watch::Receiver<Snapshot>,
    ) -> io::Result<Self> {
        let targets = [command.map(Target::Command), url.map(Target::Url)];
        let receivers: Vec<Receiver> =
            targets.into_iter().flatten().map(Receiver::start).collect::<io::Result<_>>()?;
        let (stop, stopped) = oneshot::channel();
        Ok(Self { stop, task: tokio::spawn(notify(receivers, snapshots, stopped)) })
    }

    /// Sends the events of the last snapshot, and waits a moment until the receivers have all events.
    pub async fn close(self) {
        self.stop.send(()).ok();
        self.task.await.ok();
    }
}

/// Sends the events of the run until it is stopped.
async fn notify(
    receivers: Vec<Receiver>,
    mut snapshots: watch::Receiver<Snapshot>,
    mut stopped: oneshot::Receiver<()>,
) {
    if receivers.is_empty() {
        return;
    }
    let begun = Instant::now();
    let mut alarms = Alarms::new(&snapshots.borrow_and_update().status);
    let mut looks = interval(LOOK_INTERVAL);
    let mut is_stopped = false;
    while !is_stopped {
        is_stopped = tokio::select! {
            _ = &mut stopped => true,
            _ = looks.tick() => false,
            Ok(()) = snapshots.changed() => false,
        };
        let lines: Vec<String> = {
            let snapshot = snapshots.borrow_and_update();
            let notices = alarms.look(&snapshot.status, snapshot.is_disk_trouble, begun.elapsed());
            notices.iter().map(|notice| line(notice, &snapshot.status)).collect()
        };
        for line in &lines {
            receivers.iter().for_each(|receiver| receiver.send(line));
        }
    }
    let until = Instant::now() + CLOSE_TIME;
    let closing: Vec<_> = receivers.into_iter().map(|receiver| receiver.close(until)).collect();
    while closing.iter().any(|delivery| !delivery.is_finished()) {
        if Instant::now() > until + KILL_TIME {
            warn!("--notify-url has not answered at the end: the last events may be lost");
            return;
        }
        sleep(Duration::from_millis(5)).await;
    }
}

/// The event as a line of JSON.
fn line(notice: &Notice, status: &RunStatus) -> String {
    json!({
        "event": notice.alarm.name(),
        "time": humantime::format_rfc3339_seconds(SystemTime::now()).to_string(),
        "run": status.run.map(|run| format!("{:032x}", run.0)),
        "n": status.board.n(),
        "text": notice.text,
    })
    .to_string()
}
