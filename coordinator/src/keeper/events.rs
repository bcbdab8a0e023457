//! The last events of a run, for those who look in the morning: what happens often is told together, and nothing that
//! happens often makes what is rare go.

use std::collections::HashMap;
use std::collections::VecDeque;

use proto::Event;

use crate::happening::Happening;

/// At most so many events.
const MOST: usize = 50;

/// What happens again within so many seconds is told together.
const TOGETHER: u64 = 60;

/// The longest text, in characters.
const LONGEST: usize = 200;

/// The last events, oldest first.
#[derive(Debug, Default)]
pub struct Events(VecDeque<Entry>);

/// What has happened once or several times.
#[derive(Debug)]
struct Entry {
    /// Seconds since 1970 (UTC) of the first time and the last.
    first: u64,
    last: u64,
    times: u64,
    what: Happening,
}

impl Events {
    /// That has happened, so many seconds after 1970 began (UTC).
    pub fn add(&mut self, at: u64, what: Happening) {
        let is_told_together = |entry: &Entry| {
            what.is_frequent() && entry.what.kind() == what.kind() && at.abs_diff(entry.first) < TOGETHER
        };
        let times = what.times();
        let former = self.0.iter().rposition(is_told_together).and_then(|place| self.0.remove(place));
        let (first, before) = former.map_or((at, 0), |entry| (entry.first, entry.times));
        self.0.push_back(Entry { first, last: at, times: before.saturating_add(times), what });
        if self.0.len() > MOST {
            self.drop_one();
        }
    }

    /// The oldest goes of what there is most of.
    fn drop_one(&mut self) {
        let mut kinds = HashMap::new();
        for entry in &self.0 {
            *kinds.entry(entry.what.kind()).or_insert(0usize) += 1;
        }
        let most = kinds.values().max().copied();
        let place = self.0.iter().position(|entry| kinds.get(&entry.what.kind()).copied() == most);
        place.and_then(|place| self.0.remove(place));
    }

    /// The events as they are told.
    pub fn list(&self) -> Vec<Event> {
        let tell =
            |entry: &Entry| Event { at: entry.last, text: one_line(&entry.what.sentence(entry.times)) };
        self.0.iter().map(tell).collect()
    }
}

/// The text in one line of bounded length, without what would be seen as something else than it is.
fn one_line(text: &str) -> String {
    let is_plain = |c: &char| matches!(c, '"' | '\'' | '\\') || c.escape_debug().count() == 1;
    let escape = |c: char| if is_plain(&c) { c.to_string() } else { c.escape_unicode().to_string() };
    let mut line: String = text.chars().take(LONGEST + 1).map(escape).collect();
    if let Some((end, _)) = line.char_indices().nth(LONGEST) {
        line.truncate(end);
        line.push_str(" ...");
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use queens::UnitId;

    fn texts(events: &Events) -> Vec<String> {
        events.list().into_iter().map(|event| event.text).collect()
    }

    #[test]
    fn a_thousand_workers_that_join_are_one_event() {
        let mut events = Events::default();
        events.add(100, Happening::Began(Some(3)));
        for k in 0..1000 {
            events.add(101 + k / 100, Happening::Joined(format!("w-{k}")));
        }
        events.add(150, Happening::Quarantined("liar".into()));
        events.add(155, Happening::Joined("late".into()));
        assert_eq!(
            texts(&events),
            [
                "the coordinator began term 3",
                "machine liar is quarantined",
                "1001 workers joined, late the last"
            ]
        );
        events.add(161, Happening::Joined("next minute".into()));
        assert_eq!(texts(&events)[3], "worker next minute joined");
        assert_eq!(events.list()[2].at, 155);
    }

    #[test]
    fn workers_that_come_and_go_for_days_drive_out_nothing_that_is_rare() {
        let mut events = Events::default();
        events.add(0, Happening::Disputed(UnitId(7)));
        events.add(0, Happening::Unsound("line 3".into()));
        for second in (0..500_000).step_by(10) {
            events.add(second, Happening::Joined("flaky".into()));
            events.add(second + 5, Happening::Left("flaky".into()));
        }
        let told = texts(&events);
        assert_eq!(told.len(), MOST);
        assert_eq!(told[..2], ["unit 7 is in dispute: its counts differ", "the audit failed: line 3"]);
        assert_eq!(told.last().unwrap(), "2 workers left, flaky the last");
    }

    #[test]
    fn counts_are_added_up_and_what_is_said_once_is_not() {
        let mut events = Events::default();
        events.add(0, Happening::TakenBack(1000));
        events.add(1, Happening::TakenBack(234));
        for reason in ["one", "two"] {
            events.add(2, Happening::Retracted { what: "unit 5".into(), reason: reason.into() });
        }
        assert_eq!(
            texts(&events),
            [
                "1234 counts of quarantined machines were taken back",
                "the operator takes back unit 5: one",
                "the operator takes back unit 5: two"
            ]
        );
    }

    #[test]
    fn a_clock_that_steps_back_has_events_in_the_order_in_which_they_came() {
        let mut events = Events::default();
        events.add(1000, Happening::Left("a".into()));
        events.add(10, Happening::Left("b".into()));
        assert_eq!(texts(&events), ["worker a left", "worker b left"]);
    }

    #[test]
    fn texts_are_one_plain_line_of_bounded_length() {
        let mut events = Events::default();
        let name = "a\u{202e}b\u{1b}[31m\nc\"d\u{e9}";
        events.add(0, Happening::Joined(name.into()));
        events.add(0, Happening::Withheld("x".repeat(1000)));
        events.add(0, Happening::Unsound("\u{202e}".repeat(1000)));
        let told = texts(&events);
        assert_eq!(told[0], "worker a\\u{202e}b\\u{1b}[31m\\u{a}c\"d\u{e9} joined");
        assert!(told.iter().all(|text| text.chars().count() <= LONGEST + 4), "{told:?}");
    }
}
