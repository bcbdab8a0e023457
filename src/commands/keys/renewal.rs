//! A renewal of the keys, until whoever asked for it knows that it has been made: were it to fail, the tokens of before still
//! hold after the next one.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;

use super::FOLDERS;
use super::files::{read, read_if_there, write_private};

/// The file in the folder of keys that tells of one.
const NAME: &str = "renewal";

/// The tokens that the folders had before it began, or before the one that failed: `FOLDER TOKEN` in each line.
pub struct Renewal {
    path: PathBuf,
    tokens: String,
}

impl Renewal {
    /// Begins one, or takes up the one that has failed.
    pub fn begin(keys: &Path) -> anyhow::Result<Self> {
        let path = keys.join(NAME);
        if path.exists() {
            return Ok(Self { tokens: read(&path)?, path });
        }
        let mut tokens = String::new();
        for (folder, token) in FOLDERS {
            let before = read_if_there(&keys.join(folder).join(token.file))?;
            tokens += &format!("{folder} {}\n", before.trim());
        }
        write_private(&path, &tokens)?;
        Ok(Self { path, tokens })
    }

    /// The token that the folder had.
    pub fn before(&self, folder: &str) -> Option<&str> {
        let lines = self.tokens.lines().filter_map(|line| line.split_once(' '));
        lines.filter(|(_, token)| !token.is_empty()).find(|(of, _)| *of == folder).map(|(_, token)| token)
    }

    /// It has been made, and is known.
    pub fn finish(self) -> anyhow::Result<()> {
        fs::remove_file(&self.path).with_context(|| format!("cannot remove {}", self.path.display()))
    }
}
