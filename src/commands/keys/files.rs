//! The files of a folder of keys: private, and written whole or not at all.

use std::fs::{DirBuilder, File, TryLockError};
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

use anyhow::{Context, bail};
use records::regular_file;

use super::renewal::Renewal;
use crate::access::{self, JOIN, TokenName};

/// The text of a file.
pub fn read(file: &Path) -> anyhow::Result<String> {
    regular_file::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))
}

/// The text of a file, or none where it is not there.
pub fn read_if_there(file: &Path) -> anyhow::Result<String> {
    Ok(access::read_if_there(file)?.unwrap_or_default())
}

pub fn make_folder(folder: &Path) -> anyhow::Result<()> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.with_context(|| format!("cannot create {}", folder.display()))
}

/// Nobody else changes the keys in that folder until the value is dropped, or the process ends. Where there is no such
/// folder, the command says what is missing of it.
pub fn alone_in(keys: &Path) -> anyhow::Result<Option<File>> {
    if !keys.is_dir() {
        return Ok(None);
    }
    let Ok(folder) = File::open(keys) else { return Ok(None) };
    match folder.try_lock() {
        Err(TryLockError::WouldBlock) => {
            bail!("another diadem keys is at work in {}; try again when it has ended", keys.display())
        }
        // Where folders cannot be locked, as on NFS, whoever makes keys sees to it.
        Ok(()) | Err(TryLockError::Error(_)) => Ok(Some(folder)),
    }
}

/// Writes a file that nobody else can read, whole or not at all.
pub fn write_private(file: &Path, text: &str) -> anyhow::Result<()> {
    regular_file::replace(file, text.as_bytes(), 0o600)
        .with_context(|| format!("cannot write {}", file.display()))
}

/// Makes a token for that folder. The coordinator takes it, those that a renewal says still hold, and those that bear names.
pub fn write_token(
    keys: &Path,
    folder: &str,
    name: TokenName,
    renewal: Option<&Renewal>,
) -> anyhow::Result<()> {
    let (file, known) = (keys.join(folder).join(name.file), keys.join("coordinator").join(name.file));
    let now = read_if_there(&file)?;
    let known_before = read_if_there(&known)?;
    let named = known_before.lines().filter(|line| line.split_whitespace().count() > 1);
    let token = new_token();
    let still = renewal.map(|renewal| renewal.still_hold(folder, now.trim())).unwrap_or_default();
    let lines = [token.as_str()].into_iter().chain(still).chain(named).filter(|line| !line.is_empty());
    write_private(&known, &(lines.collect::<Vec<_>>().join("\n") + "\n"))?;
    write_private(&file, &format!("{token}\n"))
}

/// Makes a token that bears a name, and lets take part. The coordinator takes it besides those that it knows.
pub fn write_named_token(keys: &Path, folder: &Path, name: &str) -> anyhow::Result<()> {
    let known = keys.join("coordinator").join(JOIN.file);
    let (token, before) = (new_token(), read_if_there(&known)?);
    let separator = if before.is_empty() || before.ends_with('\n') { "" } else { "\n" };
    write_private(&known, &format!("{before}{separator}{token} {name}\n"))?;
    write_private(&folder.join(JOIN.file), &format!("{token}\n"))
}

fn new_token() -> String {
    format!("{:032x}{:032x}", rand::random::<u128>(), rand::random::<u128>())
}
