//! A renewal of the keys, until the caller knows that it has succeeded. If it fails, the old tokens remain
//! valid after the next renewal, except revoked tokens.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;

use super::files::{read_if_there, write_private};
use super::revoked::{revoked, write_revoked};
use crate::access::{ADMIN, FOLLOW, JOIN, STATUS, TokenName};

/// The folders that hold a token, and which.
pub const FOLDERS: [(&str, TokenName); 4] =
    [("worker", JOIN), ("status", STATUS), ("follower", FOLLOW), ("admin", ADMIN)];

/// The file of an unfinished renewal, in the folder of keys.
pub const UNFINISHED: &str = "renewal";

/// Behind a token that was revoked.
const REVOKED: &str = "revoked";

/// The tokens that the folders had before it began, or before the one that failed: `FOLDER TOKEN` in each line, and `revoked` behind
/// those that are to hold no more.
pub struct KeysRenewal {
    path: PathBuf,
    tokens: String,
}

impl KeysRenewal {
    /// Begins one, or takes up the one that has failed.
    pub fn begin(keys: &Path) -> anyhow::Result<Self> {
        let path = keys.join(UNFINISHED);
        let (begun, revoked) = (Self { tokens: read_if_there(&path)?, path }, revoked(keys)?);
        let mut tokens = String::new();
        for (folder, token) in FOLDERS {
            let now = read_if_there(&keys.join(folder).join(token.file))?;
            tokens += &match begun.before(folder) {
                _ if revoked.iter().any(|name| name == token.owner) => {
                    format!("{folder} {} {REVOKED}\n", now.trim())
                }
                Some((before, true)) => format!("{folder} {before} {REVOKED}\n"),
                Some((before, false)) => format!("{folder} {before}\n"),
                None => format!("{folder} {}\n", now.trim()),
            };
        }
        write_private(&begun.path, &tokens)?;
        Ok(Self { tokens, ..begun })
    }

    /// The tokens that hold beside a new one of that folder, which has this one now, if any.
    pub fn still_hold<'a>(&'a self, folder: &str, now: &'a str) -> Vec<&'a str> {
        match self.before(folder) {
            Some((before, is_revoked)) if before == now => {
                if is_revoked {
                    vec![]
                } else {
                    vec![now]
                }
            }
            Some((before, false)) => vec![now, before],
            _ => vec![now],
        }
    }

    /// Accepts the owners of revoked shared tokens again, with their new tokens only. Returns the names.
    pub fn readmit(&self, keys: &Path) -> anyhow::Result<Vec<&'static str>> {
        let is_revoked = |folder| matches!(self.before(folder), Some((_, true)));
        let owners: Vec<_> =
            FOLDERS.iter().filter(|(folder, _)| is_revoked(folder)).map(|(_, token)| token.owner).collect();
        if !owners.is_empty() {
            let mut names = revoked(keys)?;
            names.retain(|name| !owners.contains(&name.as_str()));
            write_revoked(keys, &names)?;
        }
        Ok(owners)
    }

    /// The token that the folder had, and whether it is to hold no more.
    fn before(&self, folder: &str) -> Option<(&str, bool)> {
        let mut lines = self.tokens.lines().filter_map(|line| line.strip_prefix(folder)?.strip_prefix(' '));
        lines.next().map(|token| match token.strip_suffix(REVOKED) {
            Some(token) => (token.trim(), true),
            None => (token, false),
        })
    }

    /// It has been made, and is known.
    pub fn finish(self) -> anyhow::Result<()> {
        fs::remove_file(&self.path).with_context(|| format!("cannot remove {}", self.path.display()))
    }
}
