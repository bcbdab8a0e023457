//! Something that takes a while and does not know how long: it is said that it goes on.

use std::io;
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::log::{paint_below, say};
use crate::output::span;
use crate::terminal::repaints;

/// Nobody wonders sooner.
const FIRST: Duration = Duration::from_secs(2);

/// Between two looks at the clock on a terminal, and between two plain lines elsewhere.
const EVERY: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(30)];

/// Does the work, and says that it goes on, as in `sorting the solutions`.
pub fn during<T>(what: &'static str, work: impl FnOnce() -> T) -> T {
    let _waiting = Waiting::until_done(what);
    work()
}

/// Until it is dropped it is said on stderr what goes on, and since when.
struct Waiting {
    end: Option<SyncSender<()>>,
    teller: Option<JoinHandle<()>>,
}

impl Waiting {
    /// Says from now on that this goes on, as in `sorting the solutions`.
    fn until_done(what: &'static str) -> Self {
        let (end, ended) = sync_channel(1);
        let is_painted = repaints(&io::stderr());
        let every = EVERY[usize::from(!is_painted)];
        let tell = move || {
            let begun = Instant::now();
            let mut wait = if is_painted { FIRST } else { every };
            while ended.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
                let text = format!("{what}: {} so far", span(Duration::from_secs(begun.elapsed().as_secs())));
                if is_painted {
                    paint_below(Some(text))
                } else {
                    say(format_args!("diadem: {text}"))
                }
                wait = every;
            }
            if is_painted {
                paint_below(None);
            }
        };
        // Without a thread for it nothing is said.
        Self { end: Some(end), teller: thread::Builder::new().name("waiting".into()).spawn(tell).ok() }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(teller) = self.teller.take() {
            teller.join().ok();
        }
    }
}
