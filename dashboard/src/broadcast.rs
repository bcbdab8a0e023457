//! The updates for all viewers. Each changed section is written once for all of them.
//!
//! No data is queued for a viewer. A slow viewer misses intermediate updates and gets the newest data when it reads.
//! Each message has a limited number of bytes and starts with the most important sections; the rest follows in the next
//! message.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use domain::RunStatus;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout};
use tokio_stream::{Stream, StreamExt};

use crate::public::{PUBLIC_EVERY, document};
use crate::sections::SECTIONS;

/// The successive states of a run.
pub type Statuses = Pin<Box<dyn Stream<Item = RunStatus> + Send>>;

/// Maximum size of a message to a viewer, except the first message.
const UPDATE_BYTES: usize = 19 << 10;

/// Minimum time between two updates of the sections.
const PUBLISH_EVERY: Duration = Duration::from_secs(1);

#[derive(Clone, Debug)]
struct SentSection {
    /// Counts the changes.
    version: u64,
    written: Instant,
    text: Bytes,
}

/// All sections as they are sent.
type Messages = [SentSection; SECTIONS.len()];

/// The state of the run, for single requests and for viewers.
#[derive(Clone, Debug)]
pub struct Broadcast {
    /// The latest status of the run.
    pub status: watch::Receiver<Arc<RunStatus>>,
    messages: watch::Receiver<Messages>,
    /// The document for everybody, if the run is public.
    pub document: Option<watch::Receiver<Bytes>>,
}

/// The writer of the sections.
#[derive(Debug)]
pub struct Announcer {
    status: watch::Sender<Arc<RunStatus>>,
    messages: watch::Sender<Messages>,
    public: Option<PublicWriter>,
}

/// The writer of the document for everybody.
#[derive(Debug)]
struct PublicWriter {
    /// None before the second document: the first status of a run is not complete.
    written: Option<Instant>,
    document: watch::Sender<Bytes>,
}

impl PublicWriter {
    /// Writes the document anew, if it is due or at the close.
    fn publish(&mut self, status: &RunStatus, closing: bool) {
        if closing || self.written.is_none_or(|written| written.elapsed() >= PUBLIC_EVERY) {
            self.written = Some(Instant::now());
            self.document.send_replace(document(status));
        }
    }
}

impl Broadcast {
    /// Begins with where the run stands.
    pub fn begin(status: RunStatus, is_public: bool) -> (Announcer, Self) {
        let messages = SECTIONS.map(|section| SentSection {
            version: 1,
            written: Instant::now(),
            text: written(section.name, &(section.say)(&status)),
        });
        let (public, document) = is_public
            .then(|| watch::channel(document(&status)))
            .map(|(document, receiver)| (PublicWriter { written: None, document }, receiver))
            .unzip();
        let (status, status_receiver) = watch::channel(Arc::new(status));
        let (messages, messages_receiver) = watch::channel(messages);
        let broadcast = Self { status: status_receiver, messages: messages_receiver, document };
        (Announcer { status, messages, public }, broadcast)
    }

    /// A viewer that has seen nothing yet.
    pub fn viewer(&self) -> Viewer {
        Viewer { messages: self.messages.clone(), seen: [0; SECTIONS.len()], has_more: false }
    }
}

impl Announcer {
    /// Publishes each new status, until the run ends.
    pub async fn tell(mut self, mut statuses: Statuses) {
        loop {
            match timeout(PUBLISH_EVERY, statuses.next()).await {
                Ok(Some(status)) => self.publish(status, false),
                Ok(None) => break,
                // Sections that were not due then may be now.
                Err(_) => self.publish(self.last(), false),
            }
            sleep(PUBLISH_EVERY).await;
        }
        self.publish(self.last(), true);
    }

    fn last(&self) -> RunStatus {
        RunStatus::clone(&self.status.borrow())
    }

    /// Writes the sections that have changed and are due, or at the close all that have changed.
    fn publish(&mut self, status: RunStatus, closing: bool) {
        let now = Instant::now();
        if let Some(public) = &mut self.public {
            public.publish(&status, closing);
        }
        self.messages.send_if_modified(|messages| {
            let mut any = false;
            for (message, section) in messages.iter_mut().zip(SECTIONS) {
                if !closing && now < message.written + section.every {
                    continue;
                }
                let text = written(section.name, &(section.say)(&status));
                if text != message.text {
                    *message = SentSection { version: message.version + 1, written: now, text };
                    any = true;
                }
            }
            any
        });
        self.status.send_replace(Arc::new(status));
    }
}

/// A section as an event of a stream of events: JSON has no line ends.
fn written(name: &str, value: &serde_json::Value) -> Bytes {
    format!("event: {name}\ndata: {value}\n\n").into()
}

/// A viewer of the run.
#[derive(Debug)]
pub struct Viewer {
    messages: watch::Receiver<Messages>,
    /// The version of each section that it was sent; 0 for none.
    seen: [u64; SECTIONS.len()],
    /// Whether there is more than it was sent.
    has_more: bool,
}

impl Viewer {
    /// The next message to the viewer; none at the end of the run.
    pub async fn next(&mut self) -> Option<Bytes> {
        if self.seen == [0; SECTIONS.len()] {
            return Some(self.unseen(usize::MAX));
        }
        loop {
            if self.has_more {
                // Sent with the next update, if there is one.
                timeout(3 * PUBLISH_EVERY, self.messages.changed()).await.ok();
            } else {
                self.messages.changed().await.ok()?;
            }
            let text = self.unseen(UPDATE_BYTES);
            if !text.is_empty() {
                return Some(text);
            }
        }
    }

    /// The sections that the viewer has not seen, up to the size limit. A larger section is sent alone.
    fn unseen(&mut self, most: usize) -> Bytes {
        let messages = self.messages.borrow_and_update();
        let mut text = Vec::new();
        self.has_more = false;
        for (message, seen) in messages.iter().zip(&mut self.seen) {
            if message.version > *seen {
                if text.is_empty() || text.len() + message.text.len() <= most {
                    text.extend_from_slice(&message.text);
                    *seen = message.version;
                } else {
                    self.has_more = true;
                }
            }
        }
        text.into()
    }
}
