//! The journal: the keeper's files on disk. It holds ledger, checkpoint and notes of the run directory, or nothing for
//! a run in memory.

use std::time::{Duration, UNIX_EPOCH};

use domain::{RunId, Term};
use records::PublishedHead;
use records::ledger::{CommitMark, LedgerPosition, LineHash, Record};
use records::run_directory::RunDirectory;
use records::standing::Standing;
use records::store::Store;
use tokio::sync::watch;
use tracing::{Level, error, warn};

use super::inbox::CallError;
use super::other_coordinator::OtherCoordinator;
use crate::event::Event;

/// Minimum time between two saves of the checkpoint.
const SAVE_INTERVAL: Duration = Duration::from_secs(5);

/// The same after a save that failed.
const RETRY_INTERVAL: Duration = Duration::from_mins(5);

/// The run directory of a keeper, open for writing.
#[derive(Debug)]
pub(super) struct Journal {
    /// None for a run in memory.
    store: Option<Store>,
    /// The end of the ledger, for followers.
    ends: watch::Sender<LedgerPosition>,
    /// Elapsed time and peak threads of earlier processes.
    earlier: CommitMark,
    /// The error of the disk while it takes no records.
    trouble: Option<String>,
    /// When the next checkpoint is due.
    next_save: Duration,
}

impl Journal {
    pub fn new(store: Option<Store>) -> Self {
        let in_memory = || LedgerPosition::beginning(LineHash::of(b"in memory"));
        let (ends, _) = watch::channel(store.as_ref().map_or_else(in_memory, |store| store.end().clone()));
        let earlier = store.as_ref().map(Store::mark).unwrap_or_default();
        Self { store, ends, earlier, trouble: None, next_save: SAVE_INTERVAL }
    }

    /// The end of the ledger, from now on.
    pub fn ends(&self) -> watch::Receiver<LedgerPosition> {
        self.ends.subscribe()
    }

    /// True for a run in memory.
    pub fn is_in_memory(&self) -> bool {
        self.store.is_none()
    }

    /// The run directory and the end of its ledger.
    pub fn ledger(&self) -> Option<(&RunDirectory, &LedgerPosition)> {
        self.store.as_ref().map(|store| (store.directory(), store.end()))
    }

    /// The head of the ledger's hash chain at this time, as it is published.
    pub fn head(&self, unix_time: u64) -> Option<String> {
        let (directory, end) = self.ledger()?;
        Some(PublishedHead::at(directory, end).line(directory, UNIX_EPOCH + Duration::from_secs(unix_time)))
    }

    /// The number of records in the ledger.
    pub fn records(&self) -> u64 {
        self.store.as_ref().map_or(0, |store| store.mark().records)
    }

    /// The time that earlier processes worked on the run.
    pub fn earlier(&self) -> Duration {
        self.earlier.elapsed()
    }

    /// Which run this is.
    pub fn run(&self) -> Option<RunId> {
        let store = self.store.as_ref()?;
        Some(RunId(u128::from_be_bytes(store.directory().run().hash().bytes())))
    }

    /// The term of this process.
    pub fn term(&self) -> Option<Term> {
        self.store.as_ref().map(Store::term)
    }

    /// The record of this process's term.
    pub fn term_record(&self, unix_time: u64) -> Option<Record> {
        self.store.as_ref().map(|store| store.term_record(unix_time))
    }

    /// The reason for this process to stop, if a caller has met this term. A term without proof is ignored.
    pub fn other_coordinator(&self, met: &Term) -> Option<OtherCoordinator> {
        let store = self.store.as_ref()?;
        let is_proven = store.lease_key().has_proven(store.directory().run().hash(), met);
        OtherCoordinator::between(store.term(), *met).filter(|_| is_proven)
    }

    /// Notes that the other coordinator serves the run.
    pub fn note_other(&mut self, other: &Term) {
        if let Some(store) = &mut self.store {
            store.note_other(other);
        }
    }

    /// Puts records on disk. Returns the event to report as well, if the disk stops or resumes taking records.
    pub fn write(
        &mut self,
        records: &[Record],
        elapsed: Duration,
        threads: u32,
    ) -> (Result<(), CallError>, Option<Event>) {
        let Some(store) = self.store.as_mut().filter(|_| !records.is_empty()) else { return (Ok(()), None) };
        let Err(error) = store.commit(records, elapsed, threads) else {
            self.ends.send_replace(store.end().clone());
            let had_trouble = self.trouble.take().is_some();
            let event = || Event::frequent(Level::INFO, "writable", "records can be written again");
            return (Ok(()), had_trouble.then(event));
        };
        let trouble = format!("nothing is recorded: {error}");
        let is_news = self.trouble.as_ref() != Some(&trouble);
        self.trouble = Some(trouble.clone());
        let event = is_news.then(|| Event::frequent(Level::ERROR, "unwritable", trouble.clone()));
        (Err(CallError::NotRecorded(trouble)), event)
    }

    /// The error of the disk while it takes no records.
    pub fn trouble(&self) -> Option<&str> {
        self.trouble.as_deref()
    }

    /// Notes the operator's reason for a pause, or the end of the pause.
    pub fn pause(&mut self, reason: Option<&String>) -> Result<(), CallError> {
        let Some(store) = &mut self.store else { return Ok(()) };
        store.change_notes(|notes| notes.paused = reason.cloned()).map_err(|error| {
            let directory = store.directory().path().display();
            CallError::NotRecorded(format!("cannot write the pause in {directory}: {error}"))
        })
    }

    /// Saves the checkpoint if it is due, or at the close.
    pub fn save(&mut self, standing: &Standing, now: Duration, is_closing: bool) {
        let Some(store) = self.store.as_mut().filter(|_| is_closing || now >= self.next_save) else { return };
        let interval = match store.save(standing) {
            Ok(interval) => interval.max(SAVE_INTERVAL),
            Err(why) => {
                warn!("cannot save the checkpoint (the ledger is up to date): {why}");
                RETRY_INTERVAL
            }
        };
        self.next_save = now + interval;
    }

    /// When the next checkpoint is due.
    #[cfg(test)]
    pub fn next_save(&self) -> Duration {
        self.next_save
    }

    /// Saves the checkpoint at the next opportunity.
    pub fn save_soon(&mut self) {
        self.next_save = Duration::ZERO;
    }

    /// Moves the checkpoint out of the way: the next start reads the ledger.
    pub fn distrust_checkpoint(&mut self, since_1970: Duration) {
        if let Some(store) = &mut self.store
            && let Err(why) = store.distrust_checkpoint(since_1970)
        {
            error!("remove the checkpoint by hand, so that the next start reads the ledger: {why}");
        }
    }

    /// Unlocks the run directory.
    pub fn close(&mut self) {
        drop(self.store.take());
    }
}
