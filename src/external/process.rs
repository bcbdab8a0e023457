//! One running external program, which is asked for one count at a time.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use humantime::format_duration;
use queens::Position;
use thiserror::Error;

use super::protocol::{EXAMPLE, answer, request};
use crate::args::ExternalCommand;
use crate::host;

/// A longer line is no answer, in bytes.
const LONGEST_LINE: usize = 1000;

/// Lines that wait to be read: a program that writes more of them has to wait.
const LINES_AHEAD: usize = 4;

/// Between two looks whether the count is still wanted.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// How long a program may take to end that closes its output, or whose input was closed.
const END_TIMEOUT: Duration = Duration::from_secs(5);

/// A program that does not do what docs/external.md says.
#[derive(Debug, Error)]
pub enum ExternalError {
    /// It cannot be started.
    #[error("cannot start the external program {program}: {why}")]
    Start {
        /// The program.
        program: String,
        /// The system's reason.
        why: std::io::Error,
    },
    /// It hangs, or is slow.
    #[error(
        "unit {unit}: the external program has not answered within {}; allow more with --external-timeout",
        format_duration(*.limit)
    )]
    Late {
        /// The unit.
        unit: u64,
        /// How long it had.
        limit: Duration,
    },
    /// It has ended.
    #[error("unit {unit}: the external program ended without an answer ({how}); {last_words}")]
    Ended {
        /// The unit.
        unit: u64,
        /// Its exit status.
        how: String,
        /// What it last wrote to stderr, in words.
        last_words: String,
    },
    /// It wrote something else.
    #[error("unit {unit}: the external program wrote {line:?}; an answer is a line such as {EXAMPLE}")]
    NoAnswer {
        /// The unit.
        unit: u64,
        /// The line.
        line: String,
    },
    /// It wrote more than an answer can have.
    #[error(
        "unit {unit}: the external program wrote a line of more than {LONGEST_LINE} bytes; an answer is a line such as \
         {EXAMPLE}"
    )]
    TooLong {
        /// The unit.
        unit: u64,
    },
    /// It answered another question.
    #[error("unit {unit}: the external program answered for unit {answered}")]
    OtherUnit {
        /// The unit.
        unit: u64,
        /// The unit that its answer names.
        answered: u64,
    },
    /// It wrote a line too many.
    #[error(
        "the external program wrote {line:?} unasked; it must write one line for each line that it reads"
    )]
    Unasked {
        /// The line.
        line: String,
    },
}

/// A line of the program's output.
enum Line {
    Text(String),
    TooLong,
}

/// A running program. Dropping it ends it.
pub struct Process {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<Line>,
    /// The last line on stderr, once stderr is closed.
    last_words: Receiver<String>,
}

impl Process {
    /// Starts the program.
    pub fn start(command: &ExternalCommand) -> Result<Self, ExternalError> {
        let failed = |why| ExternalError::Start { program: command.program.clone(), why };
        let mut process = Command::new(&command.program);
        process.args(&command.arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        host::group_apart(&mut process);
        let mut child = process.spawn().map_err(failed)?;
        let (input, output, errors) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (to_lines, lines) = sync_channel(LINES_AHEAD);
        let (to_last_words, last_words) = sync_channel(1);
        let process = Self { child, input, lines, last_words };
        let reader = |name: &str| thread::Builder::new().name(name.into());
        let spawned = reader("external-out").spawn(move || {
            output.into_iter().for_each(|output| read_lines(output, &to_lines));
        });
        spawned.map_err(failed)?;
        let spawned = reader("external-err").spawn(move || {
            to_last_words.send(errors.map(last_line).unwrap_or_default()).ok();
        });
        spawned.map_err(failed)?;
        Ok(process)
    }

    /// Asks for the completions of a position. `None` if the count is no longer wanted; the program may still count then.
    pub fn count(
        &mut self,
        unit: u64,
        position: &Position,
        limit: Duration,
        is_wanted: &dyn Fn() -> bool,
    ) -> Result<Option<u64>, ExternalError> {
        if let Ok(line) = self.lines.try_recv() {
            return Err(unasked(line));
        }
        let line = request(unit, position);
        let written =
            self.input.as_mut().map(|input| input.write_all(line.as_bytes()).and_then(|()| input.flush()));
        if !matches!(written, Some(Ok(()))) {
            return Err(self.ended(unit));
        }
        let asked = Instant::now();
        loop {
            match self.lines.recv_timeout(LOOK_EVERY) {
                Ok(Line::Text(line)) => return read_answer(unit, line).map(Some),
                Ok(Line::TooLong) => return Err(ExternalError::TooLong { unit }),
                Err(RecvTimeoutError::Disconnected) => return Err(self.ended(unit)),
                Err(RecvTimeoutError::Timeout) if !is_wanted() => return Ok(None),
                Err(RecvTimeoutError::Timeout) if asked.elapsed() >= limit => {
                    return Err(ExternalError::Late { unit, limit });
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    /// Closes the program's input, which ends it. It must not have written anything that nobody asked for.
    pub fn finish(mut self) -> Result<(), ExternalError> {
        self.input = None;
        match self.lines.recv_timeout(END_TIMEOUT) {
            Ok(line) => Err(unasked(line)),
            Err(_) => Ok(()),
        }
    }

    /// The error of a program that has closed its input or its output.
    fn ended(&mut self, unit: u64) -> ExternalError {
        let line = self.last_words.recv_timeout(END_TIMEOUT).unwrap_or_default();
        let until = Instant::now() + END_TIMEOUT;
        let status = loop {
            match self.child.try_wait() {
                Ok(None) if Instant::now() < until => thread::sleep(LOOK_EVERY),
                Ok(status) => break status,
                Err(_) => break None,
            }
        };
        let how = status.map_or_else(|| "it closed its output".to_owned(), |status| status.to_string());
        let last_words = match &*line {
            "" => "it wrote nothing to stderr".to_owned(),
            line => format!("its last line on stderr: {line:?}"),
        };
        ExternalError::Ended { unit, how, last_words }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        host::kill(&mut self.child);
    }
}

fn read_answer(unit: u64, line: String) -> Result<u64, ExternalError> {
    match answer(&line) {
        Some((id, count)) if id == unit => Ok(count),
        Some((answered, _)) => Err(ExternalError::OtherUnit { unit, answered }),
        None => Err(ExternalError::NoAnswer { unit, line }),
    }
}

fn unasked(line: Line) -> ExternalError {
    match line {
        Line::Text(line) => ExternalError::Unasked { line },
        Line::TooLong => ExternalError::Unasked { line: format!("more than {LONGEST_LINE} bytes") },
    }
}

/// Sends each line, up to the first that is too long.
fn read_lines(output: ChildStdout, lines: &SyncSender<Line>) {
    let mut output = BufReader::new(output);
    loop {
        let mut line = Vec::new();
        let most = LONGEST_LINE as u64 + 1;
        let read = (&mut output).take(most).read_until(b'\n', &mut line);
        if !matches!(read, Ok(1..)) {
            return;
        }
        let is_too_long = line.len() > LONGEST_LINE;
        let text = String::from_utf8_lossy(&line).trim_end().to_owned();
        if lines.send(if is_too_long { Line::TooLong } else { Line::Text(text) }).is_err() || is_too_long {
            return;
        }
    }
}

/// Reads to the end. Returns the last line that is not empty, or the last part of it that is no longer than a line may be.
fn last_line(errors: ChildStderr) -> String {
    let (mut errors, mut last, mut line) = (BufReader::new(errors), String::new(), Vec::new());
    while let Ok(1..) = (&mut errors).take(LONGEST_LINE as u64).read_until(b'\n', &mut line) {
        let text = String::from_utf8_lossy(&line);
        if !text.trim().is_empty() {
            text.trim().clone_into(&mut last);
        }
        line.clear();
    }
    last
}
