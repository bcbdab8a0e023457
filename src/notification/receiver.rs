//! A receiver of events: a command or a webhook. Each has a thread and a bounded queue.

use std::io::{self, Write};
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, SyncSender, sync_channel};
use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use tracing::{info, warn};
use ureq::Agent;
use ureq::tls::TlsConfig;

use crate::args::ExternalCommand;
use crate::host;

/// Events that wait for a slow receiver. Others are dropped.
const MAX_WAITING: usize = 16;

/// How long a receiver may take for one event.
const DELIVERY_TIMEOUT: Duration = Duration::from_secs(10);

/// Between two looks whether a command has ended.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// Where events go.
pub enum Target {
    /// To the input of a command, which is started for each.
    Command(ExternalCommand),
    /// To a URL, as the body of a POST.
    Url(String),
}

impl Target {
    fn option(&self) -> &'static str {
        match self {
            Self::Command(_) => "--notify",
            Self::Url(_) => "--notify-url",
        }
    }
}

/// A running receiver.
pub struct Receiver {
    queue: SyncSender<String>,
    thread: JoinHandle<()>,
    /// When the last delivery must have ended, once the coordinator ends.
    end: Arc<OnceLock<Instant>>,
}

impl Receiver {
    /// Starts the thread of a receiver.
    ///
    /// # Errors
    /// The system cannot start it.
    pub fn start(target: Target) -> io::Result<Self> {
        let (queue, waiting) = sync_channel(MAX_WAITING);
        let end = Arc::new(OnceLock::new());
        let delivery = Delivery { option: target.option(), end: Arc::clone(&end), is_failing: false };
        let thread = thread::Builder::new().name("notify".into());
        Ok(Self { queue, end, thread: thread.spawn(move || delivery.deliver_all(&target, &waiting))? })
    }

    /// Sends a line, or drops it if too many wait: then the log already has a warning about the receiver.
    pub fn send(&self, line: &str) {
        self.queue.try_send(line.to_owned()).ok();
    }

    /// Lets the receiver have the waiting lines until that time. Its thread then ends.
    pub fn close(self, until: Instant) -> JoinHandle<()> {
        self.end.set(until).ok();
        self.thread
    }
}

/// Delivers lines, and logs when that begins to fail and when it works again.
struct Delivery {
    option: &'static str,
    end: Arc<OnceLock<Instant>>,
    is_failing: bool,
}

impl Delivery {
    fn deliver_all(mut self, target: &Target, waiting: &mpsc::Receiver<String>) {
        let agent = agent();
        for line in waiting {
            if self.end().is_some_and(|end| Instant::now() > end) {
                return;
            }
            let delivered = match target {
                Target::Command(command) => self.run(command, &line),
                Target::Url(url) => post(&agent, url, line),
            };
            match &delivered {
                Ok(()) if self.is_failing => info!("{} works again", self.option),
                Err(error) if !self.is_failing => warn!(
                    "an event was not delivered by {}: {error:#}. The run continues; further failures are not logged until one \
                     is delivered",
                    self.option
                ),
                _ => {}
            }
            self.is_failing = delivered.is_err();
        }
    }

    /// When the last delivery must have ended.
    fn end(&self) -> Option<Instant> {
        self.end.get().copied()
    }

    /// Runs the command with the line on its input, and ends it if it takes too long.
    fn run(&self, command: &ExternalCommand, line: &str) -> anyhow::Result<()> {
        let mut process = Command::new(&command.program);
        process.args(&command.arguments).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        host::group_apart(&mut process);
        let limit = Instant::now() + DELIVERY_TIMEOUT;
        let mut child = process.spawn().with_context(|| format!("cannot start {}", command.program))?;
        // The line fits the buffer of a pipe, and a command need not read it.
        child.stdin.take().and_then(|mut input| writeln!(input, "{line}").ok());
        loop {
            if let Some(status) = child.try_wait()? {
                ensure!(status.success(), "{} failed ({status})", command.program);
                return Ok(());
            }
            if Instant::now() > self.end().map_or(limit, |end| limit.min(end)) {
                host::kill(&mut child);
                bail!("{} took too long and was ended", command.program);
            }
            thread::sleep(LOOK_EVERY);
        }
    }
}

/// The client of a webhook. It trusts Mozilla's list of authorities: a container has none of its own, and the system's
/// list on macOS links only with Apple's SDK.
fn agent() -> Agent {
    let tls = TlsConfig::builder()
        .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .build();
    Agent::config_builder()
        .timeout_global(Some(DELIVERY_TIMEOUT))
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .tls_config(tls)
        .user_agent(concat!("diadem/", env!("CARGO_PKG_VERSION")))
        .build()
        .new_agent()
}

/// Posts the line. Errors do not contain the URL, which may be a secret.
fn post(agent: &Agent, url: &str, line: String) -> anyhow::Result<()> {
    let answer = agent.post(url).content_type("application/json").send(line)?;
    ensure!(answer.status().is_success(), "it answered {}", answer.status());
    Ok(())
}
