//! The run directory: one n, one plan, one ledger.
//!
//! ```text
//! diadem-20/
//!   run.json              n, plan, version, when begun: written once, atomically
//!   ledger/000001.jsonl   records, one a line
//!   checkpoint            from where the run is resumed fast
//!   lock                  held by the one process that writes; names its pid
//!   certify.key, lease.key  its private keys
//!   notes.json            what no ledger can tell: terms met, why it is paused
//! ```

mod lease_key;

pub(crate) mod lock;
pub(crate) mod next_term;
pub mod notes;
pub mod run_file;
pub mod secret;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use queens::plan::{Fingerprint, Scheme};
use queens::{Board, Class, Classified, Plan, PlanError};
use thiserror::Error;

use crate::regular_file;
use crate::shard::Shard;
pub use lease_key::LeaseKey;
use run_file::{RUN_FILE, RunFile, RunFileError};

/// A run directory that cannot be used.
#[derive(Debug, Error)]
pub enum RunDirectoryError {
    /// There is no run.
    #[error("there is no run in {}: run.json is missing", .0.display())]
    NoRun(PathBuf),
    /// `run.json` is missing, but other files of the run exist.
    #[error(
        "{} holds a ledger or a checkpoint, but no run.json: restore that file from a copy of the run or \
         a follower, or choose another --run directory",
        .0.display()
    )]
    LostRunFile(PathBuf),
    /// There is no ledger any more.
    #[error(
        "{} holds a run.json, but no folder ledger: restore that folder from a copy of the run or a \
         follower",
        .0.display()
    )]
    LostLedger(PathBuf),
    /// The run counts another board.
    #[error("{} holds a run of n = {found}, not of n = {wanted}; choose another --run directory", .path.display())]
    OtherBoard {
        /// The directory.
        path: PathBuf,
        /// Its board.
        found: Board,
        /// The board asked for.
        wanted: Board,
    },
    /// The run counts another share of the plan.
    #[error(
        "{} holds {found}, not {wanted}; resume it with diadem count {}, or choose another --run directory",
        .path.display(),
        asked_for(*.found)
    )]
    OtherShard {
        /// The directory.
        path: PathBuf,
        /// The shard of the run.
        found: Shard,
        /// The requested shard.
        wanted: Shard,
    },
    /// The run is split otherwise, and cannot change.
    #[error(
        "{} holds a run that is split by {found}, not by {wanted}; leave out --families and --centre to \
         resume it, or choose another --run directory",
        .path.display()
    )]
    OtherScheme {
        /// The directory.
        path: PathBuf,
        /// How it is split.
        found: Scheme,
        /// How it should be.
        wanted: Scheme,
    },
    /// `run.json` is not readable as such.
    #[error("{} is not a diadem run: {what}", .path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The error in the file.
        what: RunFileError,
    },
    /// Another process writes.
    #[error("{} is in use by process {pid}; stop that process first, or choose another directory", .path.display())]
    InUse {
        /// The directory.
        path: PathBuf,
        /// The process, as the lock names it.
        pid: String,
    },
    /// The plan is not one that this build derives.
    #[error("{} cannot be continued: {source}", .path.display())]
    Plan {
        /// The directory.
        path: PathBuf,
        /// Why not.
        source: PlanError,
    },
    /// The build derives another plan from the same specification.
    #[error(
        "{} has plan {recorded}, but this build derives {derived}: unless its run.json was changed, \
         continue it with the build that began it, or count again in another directory",
        .path.display()
    )]
    OtherPlan {
        /// The directory.
        path: PathBuf,
        /// As in `run.json`.
        recorded: Fingerprint,
        /// As derived.
        derived: Fingerprint,
    },
    /// The disk would not do it.
    #[error("cannot {action} {}: {source}", .path.display())]
    Io {
        /// The attempted action.
        action: &'static str,
        /// On which file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
}

impl Classified for RunDirectoryError {
    fn class(&self) -> Class {
        match self {
            Self::OtherBoard { .. } | Self::OtherShard { .. } | Self::OtherScheme { .. } => Class::Usage,
            Self::LostRunFile(_)
            | Self::LostLedger(_)
            | Self::Malformed { .. }
            | Self::Plan { .. }
            | Self::OtherPlan { .. } => Class::Unsound,
            Self::NoRun(_) | Self::InUse { .. } | Self::Io { .. } => Class::Failed,
        }
    }
}

/// The options that select this share of the plan.
fn asked_for(shard: Shard) -> String {
    if shard.is_whole() { "without --shard".to_owned() } else { format!("--shard {}", shard.fraction()) }
}

/// The names of files and folders of a run directory.
const OWN: [&str; 10] = [
    "merging",
    RUN_FILE,
    "ledger",
    "checkpoint",
    "checkpoint.new",
    "checkpoint.old",
    "lock",
    "certify.key",
    "lease.key",
    notes::NAME,
];

pub(crate) fn io_error(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> RunDirectoryError {
    move |source| RunDirectoryError::Io { action, path: path.to_owned(), source }
}

/// A run directory.
#[derive(Clone, Debug)]
pub struct RunDirectory {
    path: PathBuf,
    run: RunFile,
    plan: Arc<Plan>,
}

impl RunDirectory {
    /// The run in `path`, for reading; locks nothing.
    ///
    /// # Errors
    /// The directory holds no run, it cannot be read, or this release cannot derive its plan.
    pub fn open(path: &Path) -> Result<Self, RunDirectoryError> {
        Self::open_beside(path, None)
    }

    /// The run in `path`, for reading. If its plan equals the plan of another run, the plan is not derived again.
    ///
    /// # Errors
    /// As with [`open`](Self::open).
    pub(crate) fn open_beside(path: &Path, known: Option<&Arc<Plan>>) -> Result<Self, RunDirectoryError> {
        let file = path.join(RUN_FILE);
        let text = match regular_file::read_to_string(&file) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(RunDirectoryError::NoRun(path.to_owned()));
            }
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                return Err(RunDirectoryError::Malformed { path: file, what: RunFileError::NotText });
            }
            Err(error) => return Err(io_error("read", &file)(error)),
        };
        let directory = Self::of_text(path, &text, known)?;
        // It is older than run.json.
        if directory.ledger().is_dir() {
            Ok(directory)
        } else {
            Err(RunDirectoryError::LostLedger(path.to_owned()))
        }
    }

    /// The run in `path` of which that is the `run.json`.
    fn of_text(path: &Path, text: &str, known: Option<&Arc<Plan>>) -> Result<Self, RunDirectoryError> {
        let malformed = |what| RunDirectoryError::Malformed { path: path.join(RUN_FILE), what };
        let run = RunFile::parse(text).map_err(malformed)?;
        let plan = match known.filter(|known| known.spec() == run.plan) {
            Some(known) => Arc::clone(known),
            None => Plan::derive(run.plan)
                .map(Arc::new)
                .map_err(|source| RunDirectoryError::Plan { path: path.to_owned(), source })?,
        };
        if *plan.fingerprint() != run.fingerprint {
            return Err(RunDirectoryError::OtherPlan {
                path: path.to_owned(),
                recorded: run.fingerprint,
                derived: plan.fingerprint().clone(),
            });
        }
        Ok(Self { path: path.to_owned(), run, plan })
    }

    /// Creates a run in `path` at this time since 1970 (UTC). The directory is created if it is missing, and must not
    /// hold a run.
    ///
    /// # Errors
    /// The directory has remains of a run, or the disk failed.
    pub fn begin(
        path: &Path,
        plan: Plan,
        shard: Shard,
        since_1970: Duration,
    ) -> Result<Self, RunDirectoryError> {
        Self::expect_nothing_left(path)?;
        let ledger = path.join("ledger");
        fs::create_dir_all(&ledger).map_err(io_error("create", &ledger))?;
        let begun = since_1970.as_millis().try_into().unwrap_or(u64::MAX);
        let run = RunFile { plan: plan.spec(), fingerprint: plan.fingerprint().clone(), shard, begun };
        let text = serde_json::to_string_pretty(&run).expect("a run file is plain data") + "\n";
        let write = regular_file::replace(&path.join(RUN_FILE), text.as_bytes(), 0o644);
        write.map_err(|source| io_error("create", &path.join(RUN_FILE))(source))?;
        Ok(Self { path: path.to_owned(), run, plan: Arc::new(plan) })
    }

    /// Refuses a directory that has a run's ledger or checkpoint: a new `run.json` would be none of theirs.
    ///
    /// # Errors
    /// It has.
    pub(crate) fn expect_nothing_left(path: &Path) -> Result<(), RunDirectoryError> {
        let has_files = |name| fs::read_dir(path.join(name)).is_ok_and(|mut files| files.next().is_some());
        if has_files("ledger") || has_files("checkpoint") || path.join("checkpoint").is_file() {
            return Err(RunDirectoryError::LostRunFile(path.to_owned()));
        }
        Ok(())
    }

    /// Starts a copy of a run in the existing directory `path`, which holds no run, with this text as its `run.json`.
    ///
    /// # Errors
    /// The text describes no run that this release can count, or the disk would not do it.
    pub(crate) fn copy(path: &Path, text: &[u8]) -> Result<Self, RunDirectoryError> {
        let copied = Self::of_text(path, &String::from_utf8_lossy(text), None)?;
        let write = regular_file::replace(&path.join(RUN_FILE), text, 0o644);
        write.map_err(|source| io_error("create", &path.join(RUN_FILE))(source))?;
        Ok(copied)
    }

    /// Whether the run is the one that this text of a `run.json` describes.
    ///
    /// # Errors
    /// It describes none.
    pub(crate) fn is_of(&self, text: &[u8]) -> Result<bool, RunDirectoryError> {
        let malformed = |what| RunDirectoryError::Malformed { path: self.path.join(RUN_FILE), what };
        RunFile::parse(&String::from_utf8_lossy(text)).map(|run| run == self.run).map_err(malformed)
    }

    /// Refuses a run of another board.
    ///
    /// # Errors
    /// It is one.
    pub fn of_board(self, wanted: Board) -> Result<Self, RunDirectoryError> {
        let found = self.plan.board();
        if found == wanted {
            Ok(self)
        } else {
            Err(RunDirectoryError::OtherBoard { path: self.path, found, wanted })
        }
    }

    /// Refuses a run of another share of the plan.
    ///
    /// # Errors
    /// It is one.
    pub fn of_shard(self, wanted: Shard) -> Result<Self, RunDirectoryError> {
        let found = self.run.shard;
        if found == wanted {
            Ok(self)
        } else {
            Err(RunDirectoryError::OtherShard { path: self.path, found, wanted })
        }
    }

    /// Refuses a run that is split otherwise.
    ///
    /// # Errors
    /// It is one.
    pub fn of_scheme(self, wanted: Scheme) -> Result<Self, RunDirectoryError> {
        let found = self.plan.spec().scheme;
        if found == wanted {
            Ok(self)
        } else {
            Err(RunDirectoryError::OtherScheme { path: self.path, found, wanted })
        }
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What `run.json` says.
    pub fn run(&self) -> &RunFile {
        &self.run
    }

    /// The plan of the run.
    pub fn plan(&self) -> &Arc<Plan> {
        &self.plan
    }

    /// The folder with the ledger's files.
    pub fn ledger(&self) -> PathBuf {
        self.path.join("ledger")
    }

    /// The folder of the checkpoint.
    pub fn checkpoint(&self) -> PathBuf {
        self.path.join("checkpoint")
    }

    /// The run directory to which this file belongs, according to its path. The file need not exist.
    pub fn of_file(file: &Path) -> Option<&Path> {
        let has_run = |folder: &Path| Self::exists(folder).is_ok_and(|there| there);
        let is_run = |folder: &Path| has_run(folder) && Self::expect_nothing_left(folder).is_err();
        let is_own = |folder: &Path| OWN.iter().any(|own| file.starts_with(folder.join(own)));
        file.ancestors().skip(1).find(|folder| is_own(folder) && is_run(folder))
    }

    /// Whether there is a run in `path`.
    ///
    /// # Errors
    /// The file cannot be inspected.
    pub fn exists(path: &Path) -> Result<bool, RunDirectoryError> {
        let file = path.join(RUN_FILE);
        file.try_exists().map_err(io_error("read", &file))
    }
}
