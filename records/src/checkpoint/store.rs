//! The sled store of a checkpoint: how it is written, and how it is read from a copy.
//!
//! sled 0.34.7 has traps, and this file stands on the safe side of each:
//!
//! | trap | answer |
//! |---|---|
//! | a damaged file makes it panic, also in threads of its own | it runs in a thread; a thread that ends without an answer is an error |
//! | a failed disk makes `flush` and even `drop` hang | the caller waits for the thread with a limit, then leaves it |
//! | opening a store changes it | only stores of this process are opened in place; all others are opened as a temporary copy |
//! | after an error the store refuses everything | it is dropped, and the next save writes a new one |
//! | it keeps its files open for seconds after it is dropped | where no such folder can be renamed, a new store is written in place |
//! | files grow without bound | a store much larger than its content is written anew |

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use sled::{Batch, Db};

use super::entries::{Entries, seal};
use super::{CheckpointError, NoCheckpoint};
use crate::run_directory::LeaseKey;
use crate::system::MOVES_OPEN_FOLDERS;

const CACHE_BYTES: u64 = 8 << 20;

/// A store with more bytes than this is rewritten once it is `BLOAT` times as large as its content.
const LARGE_BYTES: u64 = 64 << 20;
const BLOAT: u64 = 4;

/// Files with more bytes in all are no checkpoint. A run of 10^7 units and 10^5 machines has 40 MB.
const MAX_FILE_BYTES: u64 = 1 << 30;

/// Entries with more bytes in all are no checkpoint.
const MAX_ENTRY_BYTES: usize = 1 << 28;

/// Opening and reading take less, at 10^7 units and on a slow disk.
const READ_TIME: Duration = Duration::from_secs(30);

/// A new store has this added to its name until it is complete, and one that it replaces the other.
pub const DRAFT: &str = "new";
pub const OLD: &str = "old";

const THREAD: &str = "checkpoint";

/// True in a thread that runs sled: its panics end nothing, and the caller reports them as errors.
pub fn is_checkpoint_thread() -> bool {
    thread::current().name().is_some_and(|name| name == THREAD || name.starts_with("sled-io"))
}

/// The thread that writes the store of a run.
#[derive(Debug)]
pub(super) struct StoreThread {
    saves: Sender<Save>,
    /// Disconnected when the thread has closed the store.
    closed: Receiver<()>,
}

struct Save {
    entries: Entries,
    /// How long it took.
    done: SyncSender<Result<Duration, CheckpointError>>,
}

impl StoreThread {
    /// Starts the thread. Its first save makes a new store at `path`; `key` seals every save.
    ///
    /// # Errors
    /// The system gives no thread.
    pub fn start(path: PathBuf, key: LeaseKey) -> io::Result<Self> {
        let (saves, received) = channel::<Save>();
        let (open, closed) = channel();
        thread::Builder::new().name(THREAD.into()).spawn(move || {
            let _open: Sender<()> = open;
            let mut store = CheckpointStore { path, state: StoreState::Unwritten, saved: Entries::new() };
            for Save { mut entries, done } in received {
                let begun = Instant::now();
                seal(&mut entries, &key);
                let result = store.save(entries).map(|()| begun.elapsed());
                if result.is_err() {
                    store.state = StoreState::Unwritten;
                }
                done.send(result).ok();
            }
        })?;
        Ok(Self { saves, closed })
    }

    /// Begins a save; none if the thread has ended.
    pub fn save(&self, entries: Entries) -> Option<Receiver<Result<Duration, CheckpointError>>> {
        let (done, result) = sync_channel(1);
        self.saves.send(Save { entries, done }).ok()?;
        Some(result)
    }

    /// Closes the store, and waits for that at most this long.
    pub fn close(self, limit: Duration) {
        drop(self.saves);
        self.closed.recv_timeout(limit).ok();
    }
}

/// The store that this process writes.
struct CheckpointStore {
    path: PathBuf,
    state: StoreState,
    /// The entries of the last save.
    saved: Entries,
}

enum StoreState {
    /// The next save writes a new store: there is none of this process, or it failed, or it is too large.
    Unwritten,
    /// This process has written it. A short run saves once, and never opens it again.
    Closed,
    Open(Db),
}

impl CheckpointStore {
    fn save(&mut self, entries: Entries) -> Result<(), CheckpointError> {
        if let StoreState::Closed = self.state {
            // sled holds its lock on a store for seconds after the store is dropped. A short run does not wait for that.
            self.state = open(&self.path).map_or(StoreState::Unwritten, StoreState::Open);
        }
        if let StoreState::Open(db) = &self.state {
            let mut batch = Batch::default();
            let removed = self.saved.keys().filter(|key| !entries.contains_key(*key));
            removed.for_each(|key| batch.remove(&key[..]));
            let changed = entries.iter().filter(|(key, value)| self.saved.get(*key) != Some(value));
            changed.for_each(|(key, value)| batch.insert(&key[..], &value[..]));
            db.apply_batch(batch)?;
            db.flush()?;
            let size = db.size_on_disk()?;
            let content: usize = entries.iter().map(|(key, value)| key.len() + value.len()).sum();
            if size > LARGE_BYTES && size > BLOAT * content as u64 {
                self.state = StoreState::Unwritten;
            }
        } else {
            write_anew(&self.path, &entries)?;
            self.state = StoreState::Closed;
        }
        self.saved = entries;
        Ok(())
    }
}

/// Puts a new store with these entries in place of the one at `path`, if there is one.
fn write_anew(path: &Path, entries: &Entries) -> Result<(), CheckpointError> {
    if !MOVES_OPEN_FOLDERS {
        // A store that a crash left incomplete has no valid seal, and is rebuilt from the ledger.
        remove(path)?;
        return write_draft(path, entries);
    }
    let [draft, old] = [DRAFT, OLD].map(|extension| path.with_added_extension(extension));
    remove(&draft)?;
    if let Err(error) = write_draft(&draft, entries) {
        // A full disk needs the room.
        remove(&draft).ok();
        return Err(error);
    }
    remove(&old)?;
    if path.symlink_metadata().is_ok() {
        fs::rename(path, &old)?;
    }
    fs::rename(&draft, path)?;
    Ok(remove(&old)?)
}

fn write_draft(draft: &Path, entries: &Entries) -> Result<(), CheckpointError> {
    let db = open(draft)?;
    let mut batch = Batch::default();
    entries.iter().for_each(|(key, value)| batch.insert(&key[..], &value[..]));
    db.apply_batch(batch)?;
    db.flush()?;
    Ok(())
}

fn remove(path: &Path) -> io::Result<()> {
    let removed = match path.symlink_metadata() {
        Ok(metadata) if metadata.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) => Err(error),
    };
    removed.or_else(|error| if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) })
}

fn open(path: &Path) -> Result<Db, CheckpointError> {
    Ok(sled::Config::new().path(path).cache_capacity(CACHE_BYTES).flush_every_ms(None).open()?)
}

/// The entries of the store at `path`, read from a temporary copy.
///
/// # Errors
/// There is no store, or it cannot be copied, opened or read in time.
pub(super) fn read(path: &Path) -> Result<Entries, NoCheckpoint> {
    if path.symlink_metadata().is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
        return Err(NoCheckpoint::Missing);
    }
    let (done, result) = sync_channel(1);
    let path = path.to_owned();
    let read = move || done.send(read_copy(&path).map_err(|error| error.to_string())).ok();
    let unreadable = |reason: &str| NoCheckpoint::Unreadable(reason.to_owned());
    thread::Builder::new().name(THREAD.into()).spawn(read).map_err(|error| unreadable(&error.to_string()))?;
    match result.recv_timeout(READ_TIME) {
        Ok(read) => read.map_err(NoCheckpoint::Unreadable),
        Err(RecvTimeoutError::Timeout) => Err(unreadable("the disk does not answer")),
        Err(RecvTimeoutError::Disconnected) => Err(unreadable("its files are damaged")),
    }
}

fn read_copy(path: &Path) -> Result<Entries, CheckpointError> {
    let copy = tempfile::tempdir()?;
    copy_files(path, copy.path(), MAX_FILE_BYTES)?;
    let db = open(copy.path())?;
    let (mut entries, mut bytes) = (Entries::new(), 0);
    for entry in db.iter() {
        let (key, value) = entry?;
        bytes += key.len() + value.len();
        if bytes > MAX_ENTRY_BYTES {
            return Err(too_large());
        }
        entries.insert(key.to_vec(), value.to_vec());
    }
    Ok(entries)
}

/// Copies the files of a store. Returns the rest of the byte limit.
fn copy_files(from: &Path, to: &Path, limit: u64) -> Result<u64, CheckpointError> {
    let mut left = limit;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (kind, to) = (entry.file_type()?, to.join(entry.file_name()));
        if kind.is_dir() {
            fs::create_dir(&to)?;
            left = copy_files(&entry.path(), &to, left)?;
        } else if kind.is_file() {
            left = left.checked_sub(entry.metadata()?.len()).ok_or_else(too_large)?;
            fs::copy(entry.path(), &to)?;
        } else {
            return Err(io::Error::other(format!("{} is not a file", entry.path().display())).into());
        }
    }
    Ok(left)
}

fn too_large() -> CheckpointError {
    io::Error::other("it is larger than any checkpoint").into()
}
