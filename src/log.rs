//! What is said on stderr: the log that the libraries tell through tracing, and sentences of the commands.
//!
//! It goes through one queue to one thread that writes. A log that cannot be written, because the disk is full or the
//! pipe closed, ends nothing; one that nobody reads holds nothing up: lines are left out then, and counted.

use std::borrow::Cow;
use std::env;
use std::fmt::Arguments;
use std::io::{self, Write};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::thread;
use std::time::Duration;

use parking_lot::Mutex;
use proto::seen;
use serde_json::json;
use tracing::Level;
use tracing_subscriber::filter::{LevelFilter, ParseError, Targets};
use tracing_subscriber::fmt::{self, MakeWriter};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::args::LogFormat;
use crate::terminal::{self, cut, has_colours};

/// At most so many lines wait to be written.
const WAITING: usize = 4096;

/// A longer line is cut.
const LONGEST: usize = 8 << 10;

/// At the end so long is waited for a reader of what is left; and for the thread that writes, which a busy machine may give no turn for
/// a while.
const LAST_WORDS: Duration = Duration::from_secs(3);

/// To the start of the line, and away with what stands on it.
const CLEAR: &str = "\r\x1b[K";

/// The way to the thread that writes; none where the system gives no thread.
static QUEUE: OnceLock<Option<SyncSender<LogEntry>>> = OnceLock::new();

/// How many lines were left out since the last that was written.
static LEFT_OUT: AtomicU64 = AtomicU64::new(0);

/// The answer for which [`finish`] has waited in vain.
static UNANSWERED: Mutex<Option<Receiver<()>>> = Mutex::new(None);

static FORMAT: OnceLock<LogFormat> = OnceLock::new();

enum LogEntry {
    Line(Vec<u8>),
    /// The line below all others says so now; without a text it is gone.
    Below(Option<String>),
    /// All before this has been written.
    End(SyncSender<()>),
}

/// Starts the log. `DIADEM_LOG` sets another level, as in `DIADEM_LOG=debug`, or one for each library, as in
/// `DIADEM_LOG=warn,coordinator=debug`.
pub fn start(level: Level) {
    let usual = Targets::new().with_default(Level::WARN).with_targets(
        ["diadem", "coordinator", "records", "serving", "worker"].map(|library| (library, level)),
    );
    let (shown, mistake) = match asked() {
        Ok(asked) => (asked.unwrap_or(usual), None),
        Err(mistake) => (usual, Some(mistake)),
    };
    let lines = fmt::layer().with_writer(Lines).with_target(false);
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

/// What `DIADEM_LOG` asks for, if anything. Warnings of libraries that it does not name are told all the same.
fn asked() -> Result<Option<Targets>, String> {
    let asked = env::var("DIADEM_LOG").unwrap_or_default();
    if asked.is_empty() {
        return Ok(None);
    }
    // Alone it would be taken for a library, and silence all others.
    let is_no_level = |part: &&str| !part.contains('=') && part.parse::<LevelFilter>().is_err();
    if let Some(part) = asked.split(',').find(is_no_level) {
        return Err(format!("{part:?} is no level"));
    }
    let targets: Targets = asked.parse().map_err(|error: ParseError| error.to_string())?;
    let has_default = targets.default_level().is_some();
    Ok(Some(if has_default { targets } else { targets.with_default(Level::WARN) }))
}

/// What the log looks like from now on.
pub fn set_format(format: LogFormat) {
    FORMAT.set(format).ok();
}

fn format() -> LogFormat {
    FORMAT.get().copied().unwrap_or_default()
}

/// Says a sentence, with a line end after it.
pub fn say(sentence: Arguments<'_>) {
    put(line(sentence));
}

/// The text with every character escaped that is not seen, but line ends and tabs: names in a ledger or from a peer may hold what a
/// terminal obeys, or look like another's.
pub fn plain(text: &str) -> Cow<'_, str> {
    seen(text, &['\n', '\t'])
}

/// A sentence as a line of the log.
fn line(sentence: Arguments<'_>) -> Vec<u8> {
    let line = match format() {
        LogFormat::Text => plain(&sentence.to_string()).into_owned(),
        LogFormat::Json => json!({ "message": sentence.to_string() }).to_string(),
    };
    (line + "\n").into_bytes()
}

/// Paints a line below all others over with that text; without a text it goes away. As with the log, a terminal that nobody
/// reads holds nothing up.
pub fn paint_below(text: Option<String>) {
    if let Some(queue) = queue() {
        queue.try_send(LogEntry::Below(text)).ok();
    }
}

/// Has a panic say one sentence.
pub fn quiet_panics() {
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

/// Waits until all is written that was said, but not for ever: and once only for a terminal that nobody reads, however many lines
/// of progress end on it.
pub fn finish() {
    let Some(Some(queue)) = QUEUE.get() else { return };
    let mut unanswered = UNANSWERED.lock();
    if unanswered.as_ref().is_some_and(|answer| answer.try_recv() == Err(TryRecvError::Empty)) {
        return;
    }
    let (written, answer) = sync_channel(1);
    if queue.try_send(LogEntry::End(written)).is_ok() {
        *unanswered = answer.recv_timeout(LAST_WORDS).is_err().then_some(answer);
    }
}

/// Puts a line into the queue, if there is room.
fn put(mut line: Vec<u8>) {
    // Half of a JSON object would be none.
    if line.len() > LONGEST && format() == LogFormat::Text {
        line.truncate(LONGEST);
        line.extend(" ...\n".as_bytes());
    }
    let is_waiting = queue().is_some_and(|queue| queue.try_send(LogEntry::Line(line)).is_ok());
    if !is_waiting {
        LEFT_OUT.fetch_add(1, Ordering::Relaxed);
    }
}

/// The way to the thread that writes, which is started when there is something to write; none where the system gives no thread.
fn queue() -> Option<&'static SyncSender<LogEntry>> {
    let started = || {
        let (queue, entries) = sync_channel(WAITING);
        thread::Builder::new().name("log".into()).spawn(move || write(&entries)).ok().map(|_| queue)
    };
    QUEUE.get_or_init(started).as_ref()
}

/// Writes what comes, as far as it can be written.
fn write(entries: &Receiver<LogEntry>) {
    let mut err = io::stderr();
    let mut below: Option<String> = None;
    for entry in entries {
        match entry {
            LogEntry::Line(text) => {
                let left_out = LEFT_OUT.swap(0, Ordering::Relaxed);
                let mut told = text;
                if left_out > 0 {
                    let sentence = format_args!("diadem: {left_out} lines of the log were left out");
                    told.splice(0..0, line(sentence));
                }
                let told = String::from_utf8_lossy(&told);
                let told = if format() == LogFormat::Text { terminal::told(&told, &err) } else { told };
                let told = match &below {
                    Some(below) => format!("{CLEAR}{told}{below}").into(),
                    None => told,
                };
                if err.write_all(told.as_bytes()).is_err() {
                    LEFT_OUT.fetch_add(left_out + 1, Ordering::Relaxed);
                }
            }
            LogEntry::Below(text) => {
                // In the last column some terminals go on to the next line.
                let text = text.map(|text| cut(&seen(&text, &[]), terminal::columns(&err) - 1));
                if below != text {
                    let painted = format!("{CLEAR}{}", text.as_deref().unwrap_or_default());
                    err.write_all(painted.as_bytes()).ok();
                    below = text;
                }
            }
            LogEntry::End(written) => {
                written.send(()).ok();
            }
        }
    }
}

/// Where tracing writes: each event is a line of its own.
struct Lines;

/// A line that is put into the queue when it is complete.
struct PendingLine(Vec<u8>);

impl<'a> MakeWriter<'a> for Lines {
    type Writer = PendingLine;

    fn make_writer(&'a self) -> PendingLine {
        PendingLine(Vec::new())
    }
}

impl Write for PendingLine {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for PendingLine {
    fn drop(&mut self) {
        if !self.0.is_empty() {
            put(std::mem::take(&mut self.0));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_escaped_and_lines_stay_lines() {
        assert_eq!(plain("one\ntwo\tthree: 5 %"), "one\ntwo\tthree: 5 %");
        assert_eq!(plain("a\u{1b}[2K\r\u{9b}8m"), r"a\u{1b}[2K\u{d}\u{9b}8m");
    }
}
