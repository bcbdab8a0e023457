//! What a service manager hears through `NOTIFY_SOCKET`.

use std::collections::BTreeSet;
use std::os::unix::net::UnixDatagram;
use std::time::Duration;

use crate::harness::{Folder, Running, until};

/// A socket in the folder on which a service manager hears.
struct Manager(UnixDatagram);

impl Manager {
    fn new(folder: &Folder, name: &str) -> Self {
        let socket = UnixDatagram::bind(folder.path().join(name)).unwrap();
        socket.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
        Self(socket)
    }

    /// Starts a service of it, with a watchdog that waits for half a second.
    fn start(folder: &Folder, args: &str, name: &str) -> (Self, Running) {
        let manager = Self::new(folder, name);
        let mut command = folder.diadem(args);
        command.env("NOTIFY_SOCKET", folder.path().join(name)).env("WATCHDOG_USEC", "500000");
        let service = folder.start_command(&mut command, &format!("{name}.log"));
        (manager, service)
    }

    /// Waits for messages that begin with each of these texts.
    fn hears(&self, wanted: &[&str]) {
        let mut missing: BTreeSet<&str> = wanted.iter().copied().collect();
        let mut message = [0; 4096];
        until(&format!("the service manager hears {wanted:?}"), || {
            if let Ok(length) = self.0.recv(&mut message) {
                let message = String::from_utf8_lossy(&message[..length]);
                missing.retain(|wanted| !message.starts_with(wanted));
            }
            missing.is_empty()
        });
    }
}

#[test]
fn service_manager_hears_of_readiness_status_and_end() {
    let folder = Folder::new();
    let serve = "coordinator --n 18 --method search --run run --listen 127.0.0.1:0";
    let (of_coordinator, mut coordinator) = Manager::start(&folder, serve, "coordinator");
    of_coordinator.hears(&["READY=1", "STATUS=n = 18: ", "WATCHDOG=1"]);
    let url = format!("http://{}", coordinator.address());
    let join = format!("worker --coordinator {url} --threads 1 --drain 0s");
    let (of_worker, worker) = Manager::start(&folder, &join, "worker");
    of_worker.hears(&["READY=1", "STATUS=", "WATCHDOG=1"]);
    let (of_follower, follower) = Manager::start(&folder, &format!("follow {url} --run copy"), "follower");
    of_follower.hears(&["READY=1", "WATCHDOG=1"]);
    follower.kill();
    worker.terminate();
    of_worker.hears(&["STOPPING=1"]);
    assert_eq!(worker.end().code, Some(0));
    coordinator.terminate();
    of_coordinator.hears(&["STOPPING=1"]);
    assert_eq!(coordinator.end().code, Some(143));
}
