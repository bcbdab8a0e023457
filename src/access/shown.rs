//! What is shown to a coordinator by those who call it. Who calls it for long reads the folder of keys again when they are refused:
//! they may have been replaced.

use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::task::spawn_blocking;
use tokio::time::{sleep, timeout};
use tracing::{info, warn};
use worker::{Credentials, Remote};

use super::watch::settle;
use super::{TOKENS, TokenName, TokenText, pem, read, warn_if_others_may_read};

/// Between two looks at the folder, where calls are refused all the time.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// A folder that has not been read in this time may lie where nothing answers.
const PATIENCE: Duration = Duration::from_secs(10);

/// What a worker or `status` shows: the first token that is there, or any that is in the folder where nothing else is, so that
/// its bearer is let do what it is good for, and told otherwise what that is.
pub fn credentials(keys: Option<&Path>, order: [TokenName; 2]) -> anyhow::Result<Credentials> {
    Ok(Shown::first(keys, order)?.credentials)
}

/// The coordinator at these addresses, for who calls it for long: with what the folder of keys holds now, and, where that is refused one
/// day, with what it holds then. Must be called within a runtime.
pub fn lasting_remote(
    addresses: &[String],
    keys: Option<PathBuf>,
    order: [TokenName; 2],
) -> anyhow::Result<Remote> {
    let shown = Shown::first(keys.as_deref(), order)?;
    let remote = Remote::new(addresses, &shown.credentials)?;
    if let Some(keys) = keys {
        let order = shown.token.map_or(order, |name| [name; 2]);
        tokio::spawn(keep_up(remote.clone(), keys, order, shown.credentials));
    }
    Ok(remote)
}

/// Reads the keys again whenever they are refused, for ever, with no other kind of token than these. What has changed is looked at once
/// more, and shown when it is the same: a file that is being copied is read in part otherwise. Calls go on meanwhile with what was known, however long the folder takes.
async fn keep_up(remote: Remote, keys: PathBuf, order: [TokenName; 2], mut known: Credentials) {
    let mut last_look = Ok(known.clone());
    loop {
        let has_news = last_look.as_ref().is_ok_and(|found| *found != known);
        if !has_news {
            remote.refused().await;
        }
        let folder = keys.clone();
        let mut reading = spawn_blocking(move || match Shown::read(Some(&folder), order, false) {
            Ok(shown) => Ok(shown.credentials),
            Err(why) => Err(format!("{why:#}")),
        });
        let look = if let Ok(look) = timeout(PATIENCE, &mut reading).await {
            look
        } else {
            warn!("the folder of keys is not read to its end: the keys are as they were until it is");
            reading.await
        };
        let Ok(look) = look else { return };
        if settle(look, &mut last_look, &mut known) {
            match remote.show(&known) {
                Ok(()) => info!("the keys have changed and hold from now on"),
                Err(error) => warn!("the keys are as they were: {error}"),
            }
        }
        sleep(LOOK_EVERY).await;
    }
}

/// What is shown, and the files of it that nobody else should read.
struct Shown {
    credentials: Credentials,
    /// The name of the token, if there is one.
    token: Option<TokenName>,
    secrets: Vec<PathBuf>,
}

impl Shown {
    /// What there is as a command begins; says so where others may read it.
    fn first(keys: Option<&Path>, order: [TokenName; 2]) -> anyhow::Result<Self> {
        let shown = Self::read(keys, order, true)?;
        shown.secrets.iter().for_each(|file| warn_if_others_may_read(file));
        Ok(shown)
    }

    /// Where neither these tokens nor a certificate are there, any other token is taken, or else the first of these is missing.
    fn read(keys: Option<&Path>, order: [TokenName; 2], takes_any: bool) -> anyhow::Result<Self> {
        let named = order.into_iter().find_map(|name| TokenText::read(keys, name).transpose());
        let mut shown = named.transpose()?;
        let certificate = keys.map(|keys| keys.join("client.pem")).filter(|file| file.exists());
        if let Some(keys) = keys.filter(|_| shown.is_none() && certificate.is_none()) {
            shown = if takes_any {
                let any = TOKENS.into_iter().find_map(|name| TokenText::in_folder(keys, name).transpose());
                any.transpose()?
            } else {
                Some(TokenText::in_file(&keys.join(order[0].file), order[0])?)
            };
        }
        let name = shown.as_ref().map(|text| text.name);
        let token = shown.as_ref().map(TokenText::first).transpose()?;
        let Some(keys) = keys else {
            return Ok(Self {
                credentials: Credentials { token, ..Credentials::default() },
                token: name,
                secrets: vec![],
            });
        };
        let mut secrets: Vec<_> = shown.iter().map(|text| keys.join(text.name.file)).collect();
        let identity = match certificate {
            Some(certificate) => {
                secrets.push(keys.join("client.key"));
                Some((pem(&certificate)?, read(&keys.join("client.key"))?))
            }
            None => None,
        };
        let authority = Some(pem(&keys.join("ca.pem"))?);
        Ok(Self { credentials: Credentials { authority, identity, token }, token: name, secrets })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::access::{ADMIN, JOIN, STATUS};

    #[test]
    fn who_reads_the_folder_again_shows_no_token_of_another_kind() {
        let folder = tempfile::tempdir().unwrap();
        let write = |file: &str, text: &str| fs::write(folder.path().join(file), text).unwrap();
        write("ca.pem", "-----BEGIN CERTIFICATE-----");
        write(ADMIN.file, &"t".repeat(64));
        let read = |takes_any| Shown::read(Some(folder.path()), [JOIN, STATUS], takes_any);
        assert_eq!(read(true).unwrap().token, Some(ADMIN));
        let missing = read(false).err().unwrap().to_string();
        assert!(missing.contains("join.token is missing"), "{missing}");
        write(JOIN.file, &"t".repeat(64));
        assert_eq!(read(false).unwrap().token, Some(JOIN));
    }
}
