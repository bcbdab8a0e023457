//! A disk for tests. It counts the writer's steps, fails or stops at a chosen step, and loses unsynced data at a power
//! cut.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use rand::{Rng, RngExt};

use crate::ledger::{Disk, DiskFile, SystemDisk};

/// Bytes that reach the disk or do not, together.
const BLOCK: usize = 64;

/// The fault at a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The step and the given number of further steps fail with this system error. Then the disk works again.
    Error {
        /// The error's number.
        errno: i32,
        /// How many steps fail.
        steps: u64,
    },
    /// Half of the data is appended, then the step fails once with this error.
    Short {
        /// The error's number.
        errno: i32,
    },
    /// The process ends half way through the step.
    Crash,
}

/// A disk that can be looked at while a writer uses it.
#[derive(Clone, Debug, Default)]
pub struct FaultyDisk(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    steps: u64,
    faults: Vec<(u64, Fault)>,
    crashed: bool,
    /// The content of each written file after a power cut, if the file still exists.
    durable: BTreeMap<PathBuf, Option<Vec<u8>>>,
    watcher: Option<Watcher>,
}

struct Watcher(Box<dyn FnMut(u64) + Send>);

impl std::fmt::Debug for Watcher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Watcher")
    }
}

impl FaultyDisk {
    /// A disk to which that happens at the steps of these numbers, from 0.
    pub fn with_faults(faults: &[(u64, Fault)]) -> Self {
        let disk = Self::default();
        disk.state().faults = faults.to_vec();
        disk
    }

    /// A disk that tells the number of every step before it is done.
    pub fn watched(watcher: impl FnMut(u64) + Send + 'static) -> Self {
        let disk = Self::default();
        disk.state().watcher = Some(Watcher(Box::new(watcher)));
        disk
    }

    /// How many steps there have been.
    pub fn steps(&self) -> u64 {
        self.state().steps
    }

    /// Gives the files a possible state after a power cut: each block is as last synced or as last written.
    pub fn cut_power(&self, random: &mut impl Rng) {
        for (path, durable) in &self.state().durable {
            let written = fs::read(path).ok();
            let left = match (durable, written) {
                (None, _) | (_, None) if random.random() => None,
                (durable, None) => durable.clone(),
                (durable, Some(written)) => {
                    Some(mixed(durable.as_deref().unwrap_or_default(), &written, random))
                }
            };
            match left {
                Some(bytes) => fs::write(path, bytes).unwrap(),
                None => fs::remove_file(path).unwrap_or(()),
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap()
    }

    /// Counts a step. An error contains the failure, and whether half of the step is done first.
    fn step(&self) -> Result<(), (io::Error, bool)> {
        let mut state = self.state();
        let step = state.steps;
        state.steps += 1;
        if let Some(Watcher(watch)) = &mut state.watcher {
            watch(step);
        }
        let crashed = || io::Error::other("the process has ended");
        if state.crashed {
            return Err((crashed(), false));
        }
        let fault = state.faults.iter().find(|(at, fault)| match fault {
            Fault::Error { steps, .. } => (*at..at + steps).contains(&step),
            Fault::Short { .. } | Fault::Crash => *at == step,
        });
        match fault.map(|(_, fault)| *fault) {
            None => Ok(()),
            Some(Fault::Error { errno, .. }) => Err((io::Error::from_raw_os_error(errno), false)),
            Some(Fault::Short { errno }) => Err((io::Error::from_raw_os_error(errno), true)),
            Some(Fault::Crash) => {
                state.crashed = true;
                Err((crashed(), true))
            }
        }
    }

    fn whole_step(&self) -> io::Result<()> {
        self.step().map_err(|(error, _)| error)
    }
}

/// Takes each block from the durable or the written data; zeros where the file grew without its data.
fn mixed(durable: &[u8], written: &[u8], random: &mut impl Rng) -> Vec<u8> {
    let len = if random.random() { durable.len() } else { written.len() };
    let mut bytes = vec![0; len];
    for (block, bytes) in bytes.chunks_mut(BLOCK).enumerate() {
        let source = if random.random() { durable } else { written };
        let from = source.get(block * BLOCK..).unwrap_or_default();
        let there = from.len().min(bytes.len());
        bytes[..there].copy_from_slice(&from[..there]);
    }
    bytes
}

impl Disk for FaultyDisk {
    fn open(&mut self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        self.whole_step()?;
        let before = fs::read(path).ok();
        self.state().durable.entry(path.to_owned()).or_insert(before);
        let file = SystemDisk.open(path)?;
        Ok(Box::new(FaultyFile { disk: self.clone(), path: path.to_owned(), file }))
    }

    fn keep(&mut self, path: &Path, from: u64, kept: &Path) -> io::Result<()> {
        self.whole_step()?;
        SystemDisk.keep(path, from, kept)
    }

    fn rename(&mut self, path: &Path, kept: &Path) -> io::Result<()> {
        self.whole_step()?;
        let before = fs::read(path).ok();
        self.state().durable.entry(path.to_owned()).or_insert(before);
        SystemDisk.rename(path, kept)
    }

    fn sync_folder(&mut self, folder: &Path) -> io::Result<()> {
        self.whole_step()?;
        for (path, durable) in &mut self.state().durable {
            if path.exists() {
                durable.get_or_insert_default();
            } else {
                *durable = None;
            }
        }
        SystemDisk.sync_folder(folder)
    }
}

#[derive(Debug)]
struct FaultyFile {
    disk: FaultyDisk,
    path: PathBuf,
    file: Box<dyn DiskFile>,
}

impl DiskFile for FaultyFile {
    fn cut(&mut self, len: u64) -> io::Result<()> {
        self.disk.whole_step()?;
        self.file.cut(len)
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.disk.step().or_else(|(error, half)| {
            if half {
                self.file.append(&bytes[..bytes.len() / 2])?;
            }
            Err(error)
        })?;
        self.file.append(bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.disk.whole_step()?;
        let bytes = fs::read(&self.path)?;
        self.disk.state().durable.insert(self.path.clone(), Some(bytes));
        Ok(())
    }
}
