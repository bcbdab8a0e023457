//! The files that a renewal replaces. They stay in the folder of keys, as private as the keys, until the next renewal, so
//! that a renewal can be undone.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use super::files::{make_folder, read_if_there, write_private};
use super::renewal::{FOLDERS, UNFINISHED};
use super::revoked::list_of_revoked;
use crate::access::read_if_there as existing;

/// The folder with the files of before the last renewal.
const KEPT: &str = "before";

/// The same of a renewal that has not finished.
const BEGUN: &str = ".before";

/// The certificate of the coordinator, its key, and the hosts that it names.
const CERTIFICATE: [&str; 3] = ["hosts", "coordinator/server.key", "coordinator/server.pem"];

/// The files that a renewal is about to replace.
#[derive(Debug)]
pub struct FormerFiles<'a> {
    keys: &'a Path,
}

impl<'a> FormerFiles<'a> {
    /// Keeps copies of the certificate and, if it goes as well, of all tokens. What an unfinished renewal has kept stays: it is from
    /// before that renewal.
    ///
    /// # Errors
    /// The disk would not do it; the keys are unchanged.
    pub fn keep(keys: &'a Path, with_tokens: bool) -> anyhow::Result<Self> {
        let kept = keys.join(BEGUN);
        make_folder(&kept)?;
        let tokens = if with_tokens { token_files() } else { Vec::new() };
        for file in CERTIFICATE.iter().map(PathBuf::from).chain(tokens) {
            let (from, to) = (keys.join(&file), kept.join(&file));
            let Some(text) = existing(&from)? else { continue };
            if !to.exists() {
                to.parent().map_or(Ok(()), make_folder)?;
                write_private(&to, &text)?;
            }
        }
        Ok(Self { keys })
    }

    /// The renewal has finished.
    ///
    /// # Errors
    /// The disk would not do it.
    pub fn finish(self) -> anyhow::Result<()> {
        let kept = self.keys.join(KEPT);
        let moved = remove(&kept).and_then(|()| fs::rename(self.keys.join(BEGUN), &kept));
        moved.with_context(|| format!("cannot write {}", kept.display()))
    }
}

/// The path of the files of before the last renewal, for messages.
pub fn kept_in(keys: &Path) -> PathBuf {
    keys.join(KEPT)
}

/// Puts the files of before the last renewal back, and returns their paths. Tokens that were made since hold as well, and whoever was
/// revoked before or since stays revoked.
///
/// # Errors
/// There is nothing to put back, or the disk would not do it; then the command may be repeated.
pub fn put_back(keys: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let Some(kept) = [BEGUN, KEPT].map(|name| keys.join(name)).into_iter().find(|kept| kept.is_dir()) else {
        bail!(
            "{} holds nothing of before a renewal: only the last renewal can be undone, and once",
            keys.display()
        );
    };
    let joined: Vec<PathBuf> = joined_files();
    let mut files = Vec::new();
    for file in CERTIFICATE.iter().map(PathBuf::from).chain(token_files()) {
        let Some(former) = existing(&kept.join(&file))? else { continue };
        let path = keys.join(&file);
        let text = if joined.contains(&file) { with_lines(&former, &read_if_there(&path)?) } else { former };
        write_private(&path, &text)?;
        files.push(path);
    }
    remove(&keys.join(UNFINISHED))
        .and_then(|()| remove(&kept))
        .with_context(|| format!("cannot write {}", keys.display()))?;
    Ok(files)
}

/// The files with tokens, and the list of the revoked owners.
fn token_files() -> Vec<PathBuf> {
    let own = FOLDERS.iter().map(|(folder, token)| Path::new(folder).join(token.file));
    own.chain(joined_files()).collect()
}

/// The files that grow between two renewals.
fn joined_files() -> Vec<PathBuf> {
    let known = FOLDERS.iter().map(|(_, token)| Path::new("coordinator").join(token.file));
    known.chain([list_of_revoked(Path::new(""))]).collect()
}

/// The text, and the lines of the other text that it lacks.
fn with_lines(text: &str, other: &str) -> String {
    let missing = other.lines().filter(|line| !text.lines().any(|own| own == *line));
    text.lines().chain(missing).flat_map(|line| [line, "\n"]).collect()
}

/// Removes a file or a folder, if it exists.
fn remove(path: &Path) -> io::Result<()> {
    let removed = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    removed.or_else(|error| if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(keys: &Path, file: &str, text: &str) {
        let path = keys.join(file);
        make_folder(path.parent().unwrap()).unwrap();
        write_private(&path, text).unwrap();
    }

    #[test]
    fn interrupted_renewal_keeps_the_oldest_files() {
        let folder = tempfile::tempdir().unwrap();
        let keys = folder.path();
        let read = |file: &str| fs::read_to_string(keys.join(file)).unwrap();
        put_back(keys).unwrap_err();
        write(keys, "hosts", "a\n");
        write(keys, "worker/join.token", "old\n");
        FormerFiles::keep(keys, false).unwrap();
        // The disk became full here, so the command is repeated.
        write(keys, "hosts", "half\n");
        let former = FormerFiles::keep(keys, true).unwrap();
        write(keys, "hosts", "b\n");
        write(keys, "worker/join.token", "new\n");
        former.finish().unwrap();
        assert_eq!(put_back(keys).unwrap(), [keys.join("hosts"), keys.join("worker/join.token")]);
        assert_eq!((read("hosts"), read("worker/join.token")), ("a\n".into(), "old\n".into()));
        put_back(keys).unwrap_err();
    }

    #[test]
    fn undone_renewal_keeps_later_tokens_and_revocations() {
        let folder = tempfile::tempdir().unwrap();
        let keys = folder.path();
        write(keys, "coordinator/join.token", "old\ntoken ada\n");
        write(keys, "coordinator/revoked", "join\n");
        FormerFiles::keep(keys, true).unwrap().finish().unwrap();
        write(keys, "coordinator/join.token", "new\nold\ntoken ada\ntoken bob\n");
        write(keys, "coordinator/revoked", "eve\n");
        put_back(keys).unwrap();
        let read = |file: &str| fs::read_to_string(keys.join("coordinator").join(file)).unwrap();
        assert_eq!(read("join.token"), "old\ntoken ada\nnew\ntoken bob\n");
        assert_eq!(read("revoked"), "join\neve\n");
    }
}
