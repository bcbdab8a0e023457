//! An event of a run that an operator wants to see: a line of the log and an entry in the list of events.

use std::fmt::Display;

use tracing::{Level, error, info, warn};

/// One event. The place where it happens builds it, with its level and its sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    level: Level,
    kind: &'static str,
    text: String,
    times: u64,
    is_frequent: bool,
    /// The text after the number in a sentence about several events of this kind.
    several: Option<String>,
}

impl Event {
    /// An event with its own entry. `kind` names the kind of event.
    pub fn new(level: Level, kind: &'static str, text: impl Into<String>) -> Self {
        Self { level, kind, text: text.into(), times: 1, is_frequent: false, several: None }
    }

    /// A frequent event: several of its kind within a short time become one entry, with the text of the last one.
    pub fn frequent(level: Level, kind: &'static str, text: impl Into<String>) -> Self {
        Self { is_frequent: true, ..Self::new(level, kind, text) }
    }

    /// A frequent event whose kind describes several events: `12 followers left`.
    pub fn counted(level: Level, kind: &'static str, text: impl Into<String>) -> Self {
        Self { several: Some(kind.to_owned()), ..Self::frequent(level, kind, text) }
    }

    /// The same about something with a name: `12 workers joined, rack-7 the last`.
    pub fn counted_by_name(
        level: Level,
        kind: &'static str,
        name: impl Display,
        text: impl Into<String>,
    ) -> Self {
        Self { several: Some(format!("{kind}, {name} the last")), ..Self::frequent(level, kind, text) }
    }

    /// An event that happened `times` times at once: `1234 counts were taken back`.
    pub fn repeated(level: Level, kind: &'static str, times: usize) -> Self {
        Self { times: times as u64, ..Self::counted(level, kind, format!("{times} {kind}")) }
    }

    /// The kind of the event.
    pub fn kind(&self) -> &'static str {
        self.kind
    }

    /// True if several events of this kind share an entry.
    pub fn is_frequent(&self) -> bool {
        self.is_frequent
    }

    /// The number of times that it happened at once.
    pub fn times(&self) -> u64 {
        self.times
    }

    /// The sentence about this number of events of this kind. This event is the last of them.
    pub fn sentence(&self, times: u64) -> String {
        match &self.several {
            Some(several) if times > 1 => format!("{times} {several}"),
            _ => self.text.clone(),
        }
    }

    /// Writes the event to the log.
    pub fn log(&self) {
        let Self { text, .. } = self;
        match self.level {
            Level::ERROR => error!("{text}"),
            Level::WARN => warn!("{text}"),
            _ => info!("{text}"),
        }
    }
}
