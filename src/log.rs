//! Everything that diadem writes to stderr: the log of all crates, the sentences of commands, and the painted progress line.
//!
//! One thread writes it, behind a bounded queue. A log that cannot be written ends no command, and an unread
//! log blocks no command: lines that do not fit into the queue are dropped and counted.

use std::borrow::Cow;
use std::env;
use std::fmt::Arguments;
use std::io::{self, Write};
use std::sync::{LazyLock, OnceLock};
use std::time::Duration;

use domain::seen;
use indicatif::{ProgressBar, ProgressStyle};
use parking_lot::{Condvar, Mutex};
use serde_json::json;
use tracing::Level;
use tracing_appender::non_blocking::{NonBlocking, NonBlockingBuilder};
use tracing_subscriber::filter::{LevelFilter, ParseError, Targets};
use tracing_subscriber::fmt;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::args::LogFormat;
use crate::terminal::{has_colours, told};

/// The queue holds at most this many lines.
const QUEUE_LINES: usize = 4096;

/// [`finish`] waits this long for the reader of stderr.
const FINISH_TIMEOUT: Duration = Duration::from_secs(3);

/// An entry of the queue that begins so is the painted line; without a text it removes that line.
const PAINT: char = '\r';

/// An entry of the queue that begins so is the number of a [`finish`]; all other entries are lines of the log.
const FINISH: char = '\0';

/// The queue, with its thread. The guard of the queue is never dropped, because it would print to stdout if
/// the log is unread.
static QUEUE: LazyLock<NonBlocking> = LazyLock::new(|| {
    let queue = NonBlockingBuilder::default().buffered_lines_limit(QUEUE_LINES).thread_name("log");
    let (queue, guard) = queue.finish(Screen::default());
    std::mem::forget(guard);
    queue
});

static FINISHES: Mutex<Finishes> = Mutex::new(Finishes { asked: 0, reached: 0, timed_out: false });

static FINISH_REACHED: Condvar = Condvar::new();

static FORMAT: OnceLock<LogFormat> = OnceLock::new();

/// How far the thread that writes is.
struct Finishes {
    /// How many times [`finish`] was called.
    asked: u64,
    /// The last call whose entry was reached.
    reached: u64,
    /// Whether the last call timed out, and nothing was written since.
    timed_out: bool,
}

/// Starts the log. `DIADEM_LOG` sets another level, as in `DIADEM_LOG=debug`, or one for each library, as in
/// `DIADEM_LOG=warn,coordinator=debug`.
pub fn start(level: Level) {
    let usual = Targets::new()
        .with_default(Level::WARN)
        .with_targets(["diadem", "coordinator", "records", "worker"].map(|library| (library, level)));
    let (shown, mistake) = match requested_levels() {
        Ok(asked) => (asked.unwrap_or(usual), None),
        Err(mistake) => (usual, Some(mistake)),
    };
    let lines = fmt::layer().with_writer(QUEUE.clone()).with_target(false);
    let registry = tracing_subscriber::registry().with(shown);
    match format() {
        LogFormat::Text => registry.with(lines.with_ansi(has_colours(&io::stderr()))).init(),
        LogFormat::Json => registry.with(lines.json().flatten_event(true).with_current_span(false)).init(),
    }
    if let Some(mistake) = mistake {
        tracing::warn!(
            "DIADEM_LOG is not understood, write it like \"debug\" or \"warn,coordinator=debug\": {mistake}"
        );
    }
}

/// The filter in `DIADEM_LOG`, if set. Warnings of libraries without a filter are always logged.
fn requested_levels() -> Result<Option<Targets>, String> {
    let asked = env::var("DIADEM_LOG").unwrap_or_default();
    if asked.is_empty() {
        return Ok(None);
    }
    // A word that is no level would name a library, and silence all others.
    let is_no_level = |part: &&str| !part.contains('=') && part.parse::<LevelFilter>().is_err();
    if let Some(part) = asked.split(',').find(is_no_level) {
        return Err(format!("{part:?} is no level"));
    }
    let targets: Targets = asked.parse().map_err(|error: ParseError| error.to_string())?;
    let has_default = targets.default_level().is_some();
    Ok(Some(if has_default { targets } else { targets.with_default(Level::WARN) }))
}

/// Sets the format of the log from now on.
pub fn set_format(format: LogFormat) {
    FORMAT.set(format).ok();
}

fn format() -> LogFormat {
    FORMAT.get().copied().unwrap_or_default()
}

/// Writes a sentence and a line end.
pub fn say(sentence: Arguments<'_>) {
    put(&line(sentence));
}

/// The text with all invisible characters escaped except newlines and tabs. Names in a ledger or from a peer
/// may hold terminal commands, or look like another name.
pub fn plain(text: &str) -> Cow<'_, str> {
    seen(text, &['\n', '\t'])
}

/// A sentence as a line of the log.
fn line(sentence: Arguments<'_>) -> String {
    let line = match format() {
        LogFormat::Text => plain(&sentence.to_string()).into_owned(),
        LogFormat::Json => json!({ "message": sentence.to_string() }).to_string(),
    };
    line + "\n"
}

/// Paints the text below the log, over the text painted before; an empty text removes that line.
pub fn paint(text: &str) {
    put(&format!("{PAINT}{}", seen(text, &[])));
}

/// Starts the thread that writes, and reports a panic in one sentence.
pub fn open() {
    // First: a queue that cannot start its thread panics.
    LazyLock::force(&QUEUE);
    std::panic::set_hook(Box::new(|panic| {
        // The checkpoint reports these as errors, and the run continues without it.
        if records::is_checkpoint_thread() {
            return;
        }
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        let what = panic.payload_as_str().unwrap_or("something impossible");
        say(format_args!("diadem: internal error at {place}: {what}; please report this"));
    }));
}

/// Waits until everything before this call is written, at most [`FINISH_TIMEOUT`]. While a terminal stays unread, only the first call
/// waits.
pub fn finish() {
    let mut finishes = FINISHES.lock();
    if finishes.timed_out {
        return;
    }
    finishes.asked += 1;
    let asked = finishes.asked;
    put(&format!("{FINISH}{asked}"));
    let wait = FINISH_REACHED.wait_while_for(&mut finishes, |now| now.reached < asked, FINISH_TIMEOUT);
    finishes.timed_out = wait.timed_out();
}

/// Puts an entry into the queue if there is room.
fn put(entry: &str) {
    QUEUE.clone().write_all(entry.as_bytes()).ok();
}

/// The target of the log thread.
#[derive(Default)]
struct Screen {
    /// The painted line, if any.
    painted: Option<ProgressBar>,
    /// How many lines of the log stderr has refused.
    refused: usize,
    /// How many of the lines that were left out the log has mentioned.
    mentioned: usize,
}

impl Screen {
    fn paint(&mut self, text: &str) {
        if text.is_empty() {
            self.painted.take().inspect(ProgressBar::finish_and_clear);
        } else {
            self.painted.get_or_insert_with(painted_line).set_message(text.to_owned());
        }
    }

    fn write_line(&mut self, text: &str) {
        let left_out = QUEUE.error_counter().dropped_lines() + self.refused;
        let notice = match left_out - self.mentioned {
            0 => String::new(),
            new => line(format_args!("diadem: {new} lines of the log were left out")),
        };
        let text = notice + text;
        let text = if format() == LogFormat::Text { told(&text, &io::stderr()) } else { text.into() };
        let write = || io::stderr().write_all(text.as_bytes());
        match self.painted.as_ref().map_or_else(write, |painted| painted.suspend(write)) {
            Ok(()) => self.mentioned = left_out,
            Err(_) => self.refused += 1,
        }
    }
}

impl Write for Screen {
    /// The queue passes on each entry as a whole.
    fn write_all(&mut self, entry: &[u8]) -> io::Result<()> {
        let entry = String::from_utf8_lossy(entry);
        let reached = entry.strip_prefix(FINISH).and_then(|number| number.parse().ok());
        match entry.strip_prefix(PAINT) {
            Some(text) => self.paint(text),
            None if reached.is_none() => self.write_line(&entry),
            None => {}
        }
        let mut finishes = FINISHES.lock();
        finishes.timed_out = false;
        finishes.reached = reached.unwrap_or(finishes.reached);
        FINISH_REACHED.notify_all();
        Ok(())
    }

    fn write(&mut self, entry: &[u8]) -> io::Result<usize> {
        self.write_all(entry).map(|()| entry.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A line that is cut at the width of the terminal.
fn painted_line() -> ProgressBar {
    let style = ProgressStyle::with_template("{wide_msg}").expect("the template is valid");
    ProgressBar::new_spinner().with_style(style)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped_except_newlines() {
        assert_eq!(plain("one\ntwo\tthree: 5 %"), "one\ntwo\tthree: 5 %");
        assert_eq!(plain("a\u{1b}[2K\r\u{9b}8m"), r"a\u{1b}[2K\u{d}\u{9b}8m");
    }
}
