//! Makes tokens, and writes them for their holder and for the coordinator.

use std::path::Path;

use super::files::{read_if_there, write_private};
use super::renewal::KeysRenewal;
use crate::access::{Expiry, JOIN, TokenName};

/// Makes a token for that folder. The coordinator's file gets it too, and keeps the tokens that a renewal
/// still accepts and the tokens with names.
pub fn write_token(
    keys: &Path,
    folder: &str,
    name: TokenName,
    renewal: Option<&KeysRenewal>,
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

/// Makes the coordinator accept this join token of that owner besides those that it knows, until it expires.
pub fn add_named_token(keys: &Path, token: &str, name: &str, expiry: Option<Expiry>) -> anyhow::Result<()> {
    let known = keys.join("coordinator").join(JOIN.file);
    let before = read_if_there(&known)?;
    let separator = if before.is_empty() || before.ends_with('\n') { "" } else { "\n" };
    let expiry = expiry.map(|expiry| format!(" {}", expiry.word())).unwrap_or_default();
    write_private(&known, &format!("{before}{separator}{token} {name}{expiry}\n"))
}

/// Makes a join token of that owner, for a folder that is copied to its machines.
pub fn write_named_token(keys: &Path, folder: &Path, name: &str) -> anyhow::Result<()> {
    let token = new_token();
    add_named_token(keys, &token, name, None)?;
    write_private(&folder.join(JOIN.file), &format!("{token}\n"))
}

/// A token that nobody has yet.
pub fn new_token() -> String {
    format!("{:032x}{:032x}", rand::random::<u128>(), rand::random::<u128>())
}
