//! The last events of a run. Frequent events share one entry, so they do not displace rare events.

use std::collections::HashMap;
use std::collections::VecDeque;

use crate::event::Event;

/// Maximum number of entries.
const MAX_ENTRIES: usize = 50;

/// Events of one kind within this many seconds share an entry.
const MERGE_SECONDS: u64 = 60;

/// The longest text, in characters.
const MAX_TEXT_LENGTH: usize = 200;

/// The last events, oldest first.
#[derive(Debug, Default)]
pub struct Events(VecDeque<Entry>);

/// One event, or several events of one kind.
#[derive(Debug)]
struct Entry {
    /// Seconds since 1970 (UTC) of the first time and the last.
    first: u64,
    last: u64,
    times: u64,
    event: Event,
}

impl Events {
    /// Adds an event at this time, in seconds since 1970 (UTC).
    pub fn add(&mut self, at: u64, event: Event) {
        let is_told_together = |entry: &Entry| {
            event.is_frequent()
                && entry.event.kind() == event.kind()
                && at.abs_diff(entry.first) < MERGE_SECONDS
        };
        let times = event.times();
        let former = self.0.iter().rposition(is_told_together).and_then(|place| self.0.remove(place));
        let (first, before) = former.map_or((at, 0), |entry| (entry.first, entry.times));
        self.0.push_back(Entry { first, last: at, times: before.saturating_add(times), event });
        if self.0.len() > MAX_ENTRIES {
            self.drop_one();
        }
    }

    /// Removes the oldest entry of the most frequent kind.
    fn drop_one(&mut self) {
        let mut kinds = HashMap::new();
        for entry in &self.0 {
            *kinds.entry(entry.event.kind()).or_insert(0usize) += 1;
        }
        let most = kinds.values().max().copied();
        let place = self.0.iter().position(|entry| kinds.get(&entry.event.kind()).copied() == most);
        place.and_then(|place| self.0.remove(place));
    }

    /// The events as the status lists them.
    pub fn list(&self) -> Vec<domain::Event> {
        let text = |entry: &Entry| one_line(&entry.event.sentence(entry.times));
        self.0.iter().map(|entry| domain::Event { at: entry.last, text: text(entry) }).collect()
    }
}

/// The text as one line of limited length, without invisible or misleading characters.
fn one_line(text: &str) -> String {
    let is_plain = |c: &char| matches!(c, '"' | '\'' | '\\') || c.escape_debug().count() == 1;
    let escape = |c: char| if is_plain(&c) { c.to_string() } else { c.escape_unicode().to_string() };
    let mut line: String = text.chars().take(MAX_TEXT_LENGTH + 1).map(escape).collect();
    if let Some((end, _)) = line.char_indices().nth(MAX_TEXT_LENGTH) {
        line.truncate(end);
        line.push_str(" ...");
    }
    line
}

#[cfg(test)]
mod tests {
    use tracing::Level;

    use super::*;

    fn rare(kind: &'static str, text: &str) -> Event {
        Event::new(Level::INFO, kind, text)
    }

    fn joined(name: &str) -> Event {
        Event::counted_by_name(Level::INFO, "workers joined", name, format!("worker {name} joined"))
    }

    fn left(name: &str) -> Event {
        Event::counted_by_name(Level::INFO, "workers left", name, format!("worker {name} left"))
    }

    fn texts(events: &Events) -> Vec<String> {
        events.list().into_iter().map(|event| event.text).collect()
    }

    #[test]
    fn thousand_registrations_are_one_event() {
        let mut events = Events::default();
        events.add(100, rare("began", "the coordinator began term 3"));
        for k in 0..1000 {
            events.add(101 + k / 100, joined(&format!("w-{k}")));
        }
        events.add(150, rare("quarantined", "machine liar is quarantined"));
        events.add(155, joined("late"));
        assert_eq!(
            texts(&events),
            [
                "the coordinator began term 3",
                "machine liar is quarantined",
                "1001 workers joined, late the last"
            ]
        );
        events.add(161, joined("next minute"));
        assert_eq!(texts(&events)[3], "worker next minute joined");
        assert_eq!(events.list()[2].at, 155);
    }

    #[test]
    fn frequent_events_keep_rare_ones_listed() {
        let mut events = Events::default();
        events.add(0, rare("disputed", "unit 7 is in dispute"));
        events.add(0, rare("unsound", "the audit failed: line 3"));
        for second in (0..500_000).step_by(10) {
            events.add(second, joined("flaky"));
            events.add(second + 5, left("flaky"));
        }
        let told = texts(&events);
        assert_eq!(told.len(), MAX_ENTRIES);
        assert_eq!(told[..2], ["unit 7 is in dispute", "the audit failed: line 3"]);
        assert_eq!(told.last().unwrap(), "2 workers left, flaky the last");
    }

    #[test]
    fn repeated_events_are_added_and_rare_ones_are_not() {
        let mut events = Events::default();
        events.add(0, Event::repeated(Level::WARN, "counts were taken back", 1000));
        events.add(1, Event::repeated(Level::WARN, "counts were taken back", 234));
        for reason in ["one", "two"] {
            events.add(2, rare("retracted", reason));
        }
        assert_eq!(texts(&events), ["1234 counts were taken back", "one", "two"]);
    }

    #[test]
    fn events_after_clock_steps_back_keep_their_order() {
        let mut events = Events::default();
        events.add(1000, left("a"));
        events.add(10, left("b"));
        assert_eq!(texts(&events), ["worker a left", "worker b left"]);
    }

    #[test]
    fn texts_are_one_plain_line_of_bounded_length() {
        let mut events = Events::default();
        let name = "a\u{202e}b\u{1b}[31m\nc\"d\u{e9}";
        events.add(0, joined(name));
        events.add(0, rare("withheld", &"x".repeat(1000)));
        events.add(0, rare("unsound", &"\u{202e}".repeat(1000)));
        let told = texts(&events);
        assert_eq!(told[0], "worker a\\u{202e}b\\u{1b}[31m\\u{a}c\"d\u{e9} joined");
        assert!(told.iter().all(|text| text.chars().count() <= MAX_TEXT_LENGTH + 4), "{told:?}");
    }
}
