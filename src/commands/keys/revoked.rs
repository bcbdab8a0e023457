//! The list of revoked owners.

use std::path::{Path, PathBuf};

use super::files::{read_if_there, write_private};
use crate::access::REVOKED;

/// The file that names whose keys have been revoked.
pub fn list_of_revoked(keys: &Path) -> PathBuf {
    keys.join("coordinator").join(REVOKED)
}

/// The names of the revoked owners.
pub fn revoked(keys: &Path) -> anyhow::Result<Vec<String>> {
    Ok(read_if_there(&list_of_revoked(keys))?.split_whitespace().map(str::to_owned).collect())
}

/// Writes the list.
pub fn write_revoked(keys: &Path, names: &[String]) -> anyhow::Result<()> {
    let lines = names.iter().map(|name| format!("{name}\n"));
    write_private(&list_of_revoked(keys), &lines.collect::<String>())
}
