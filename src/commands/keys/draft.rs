//! A draft of new keys: a folder within the folder of keys, until all keys are written. The folder of keys
//! may be a mount point, or have a parent that is not writable. A process killed half-way leaves nothing that
//! passes for keys or blocks new keys.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use records::regular_file::sync_folder;

use super::files::make_folder;

/// The folder within the folder of keys.
const NAME: &str = ".draft";

/// The file that is moved last: keys are complete if it exists.
const LAST: &str = "ca.key";

/// All other files of new keys.
const OTHERS: [&str; 8] =
    ["clients", "coordinator", "worker", "status", "follower", "admin", "hosts", "ca.pem"];

/// New keys that are not complete.
#[derive(Debug)]
pub struct KeysDraft<'a> {
    keys: &'a Path,
    path: PathBuf,
}

impl<'a> KeysDraft<'a> {
    /// New keys for that folder; the caller holds its lock. Removes the remains of an interrupted command.
    ///
    /// # Errors
    /// The folder holds something else, or cannot be written.
    pub fn begin(keys: &'a Path) -> anyhow::Result<Self> {
        let path = keys.join(NAME);
        if is_unfinished(keys) {
            // Remove the draft last: without it the other files would look like finished keys.
            let mut left = OTHERS.iter().map(|name| keys.join(name)).chain([path.clone()]);
            left.try_for_each(|path| remove(&path))
                .with_context(|| format!("cannot write {}", keys.display()))?;
        }
        if fs::read_dir(keys).is_ok_and(|mut entries| entries.next().is_some()) {
            bail!(
                "{} is not empty: renew its keys with diadem keys renew, or name another folder",
                keys.display()
            );
        }
        make_folder(&path)?;
        Ok(Self { keys, path })
    }

    /// The folder of the draft.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Moves the finished files to their places.
    ///
    /// # Errors
    /// The disk would not do it.
    pub fn finish(self) -> anyhow::Result<()> {
        self.put_in_place().with_context(|| format!("cannot write {}", self.keys.display()))
    }

    fn put_in_place(&self) -> io::Result<()> {
        for folder in OTHERS.iter().map(|name| self.path.join(name)).filter(|path| path.is_dir()) {
            sync_folder(&folder)?;
        }
        sync_folder(&self.path)?;
        OTHERS.iter().try_for_each(|name| self.put(name))?;
        sync_folder(self.keys)?;
        self.put(LAST)?;
        sync_folder(self.keys)?;
        fs::remove_dir(&self.path)
    }

    fn put(&self, name: &str) -> io::Result<()> {
        fs::rename(self.path.join(name), self.keys.join(name))
    }
}

/// Says that there are no keys yet where they were made half-way only.
///
/// # Errors
/// They were.
pub fn expect_finished(keys: &Path) -> anyhow::Result<()> {
    if is_unfinished(keys) {
        bail!("making the keys in {} was interrupted: make them again with diadem keys init", keys.display());
    }
    // A command that was killed at the very end leaves the empty folder.
    fs::remove_dir(keys.join(NAME)).ok();
    Ok(())
}

fn is_unfinished(keys: &Path) -> bool {
    keys.join(NAME).is_dir() && !keys.join(LAST).exists()
}

fn remove(path: &Path) -> io::Result<()> {
    let removed = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    removed.or_else(|error| if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A draft with all that belongs in it, each with that text.
    fn made<'a>(keys: &'a Path, text: &str) -> KeysDraft<'a> {
        let draft = KeysDraft::begin(keys).unwrap();
        for name in OTHERS.iter().chain([&LAST]) {
            fs::write(draft.path().join(name), text).unwrap();
        }
        draft
    }

    #[test]
    fn new_keys_replace_an_unfinished_draft_only() {
        for moved in 0..=OTHERS.len() {
            let folder = tempfile::tempdir().unwrap();
            let keys = folder.path();
            let left = made(keys, "old");
            OTHERS[..moved].iter().for_each(|name| left.put(name).unwrap());
            assert!(expect_finished(keys).is_err(), "{moved} were in their places");
            made(keys, "new").finish().unwrap();
            assert_eq!(fs::read_dir(keys).unwrap().count(), OTHERS.len() + 1);
            for name in OTHERS.iter().chain([&LAST]) {
                assert_eq!(fs::read_to_string(keys.join(name)).unwrap(), "new");
            }
            expect_finished(keys).unwrap();
            assert!(KeysDraft::begin(keys).is_err());
        }
    }

    #[test]
    fn keys_with_a_leftover_draft_folder_are_complete() {
        let folder = tempfile::tempdir().unwrap();
        made(folder.path(), "old").finish().unwrap();
        fs::create_dir(folder.path().join(NAME)).unwrap();
        assert!(KeysDraft::begin(folder.path()).is_err());
        assert_eq!(fs::read_to_string(folder.path().join(LAST)).unwrap(), "old");
        expect_finished(folder.path()).unwrap();
        assert!(!folder.path().join(NAME).exists());
    }

    #[test]
    fn foreign_files_beside_a_draft_stay() {
        let folder = tempfile::tempdir().unwrap();
        made(folder.path(), "old");
        fs::write(folder.path().join("notes"), "mine").unwrap();
        assert!(KeysDraft::begin(folder.path()).is_err());
        assert_eq!(fs::read_to_string(folder.path().join("notes")).unwrap(), "mine");
    }
}
