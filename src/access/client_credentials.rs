//! The credentials that clients show to a coordinator. A long-running client reads the folder of keys again
//! when they are refused, because they may have been replaced.

use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::task::spawn_blocking;
use tokio::time::sleep;
use tracing::{info, warn};
use worker::{Credentials, Remote};

use super::watch::{accept_if_stable, await_reading};
use super::{TOKENS, TokenName, TokenText, pem, read, warn_if_others_may_read};

/// Between two looks at the folder, where calls are refused all the time.
const READ_INTERVAL: Duration = Duration::from_secs(1);

/// The client's certificate, in a folder of keys,
const CERTIFICATE: &str = "client.pem";

/// and its key.
const CLIENT_KEY: &str = "client.key";

/// The credentials of a worker or of `status`: the first token of `order` that exists. If the folder has none
/// of them and no certificate, any other token is used, so that the coordinator can answer what that token
/// permits.
pub fn credentials(keys: Option<&Path>, order: [TokenName; 2]) -> anyhow::Result<Credentials> {
    Ok(ClientCredentials::at_start(keys, order)?.credentials)
}

/// The coordinator at these addresses, for long-running callers. It uses the present keys of the folder; when
/// the coordinator refuses them it reads the folder again. Must be called within a runtime.
pub fn refreshed_remote(
    addresses: &[String],
    keys: Option<PathBuf>,
    order: [TokenName; 2],
) -> anyhow::Result<Remote> {
    let shown = ClientCredentials::at_start(keys.as_deref(), order)?;
    let remote = Remote::typed(addresses, &shown.credentials)?;
    if let Some(keys) = keys {
        let order = shown.token.map_or(order, |name| [name; 2]);
        tokio::spawn(refresh_keys(remote.clone(), keys, order, shown.credentials));
    }
    Ok(remote)
}

/// Reads the keys again whenever they are refused, but never another kind of token. A change is used once two
/// readings agree: a file may be read while it is being copied. Calls meanwhile use the old keys, however
/// long the folder takes.
async fn refresh_keys(remote: Remote, keys: PathBuf, order: [TokenName; 2], mut known: Credentials) {
    let mut last_look = Ok(known.clone());
    loop {
        let has_news = last_look.as_ref().is_ok_and(|found| *found != known);
        if !has_news {
            remote.refused().await;
        }
        let folder = keys.clone();
        let mut reading = spawn_blocking(move || match ClientCredentials::reread(&folder, order) {
            Ok(shown) => Ok(shown.credentials),
            Err(why) => Err(format!("{why:#}")),
        });
        let look = match await_reading(&mut reading).await {
            Some(look) => look,
            None => reading.await,
        };
        let Ok(look) = look else { return };
        if accept_if_stable(look, &mut last_look, &mut known) {
            match remote.show(&known) {
                Ok(()) => info!("the keys have changed; the new ones are in use"),
                Err(error) => warn!("cannot use the new keys; the old ones stay in use: {error}"),
            }
        }
        sleep(READ_INTERVAL).await;
    }
}

/// Credentials, and their secret files.
struct ClientCredentials {
    credentials: Credentials,
    /// The name of the token, if there is one.
    token: Option<TokenName>,
    secrets: Vec<PathBuf>,
}

impl ClientCredentials {
    /// The credentials at the start of a command, with any other token if the folder has no other
    /// credentials. Warns if other users may read them.
    fn at_start(keys: Option<&Path>, order: [TokenName; 2]) -> anyhow::Result<Self> {
        let any =
            |keys: &Path| TOKENS.into_iter().find_map(|name| TokenText::in_folder(keys, name).transpose());
        let shown = Self::read(keys, order, |keys| any(keys).transpose())?;
        shown.secrets.iter().for_each(|file| warn_if_others_may_read(file));
        Ok(shown)
    }

    /// The credentials at a later reading. Without one of these tokens and without a certificate, the error
    /// names the first of these tokens.
    fn reread(keys: &Path, order: [TokenName; 2]) -> anyhow::Result<Self> {
        Self::read(Some(keys), order, |keys| {
            TokenText::in_file(&keys.join(order[0].file), order[0]).map(Some)
        })
    }

    /// The first of these tokens, a certificate, or else that other token.
    fn read(
        keys: Option<&Path>,
        order: [TokenName; 2],
        other: impl FnOnce(&Path) -> anyhow::Result<Option<TokenText>>,
    ) -> anyhow::Result<Self> {
        let named = order.into_iter().find_map(|name| TokenText::read(keys, name).transpose()).transpose()?;
        let certified = keys.filter(|keys| keys.join(CERTIFICATE).exists());
        let token = match (named, keys) {
            (None, Some(keys)) if certified.is_none() => other(keys)?,
            (named, _) => named,
        };
        let identity =
            certified.map(|keys| anyhow::Ok((pem(&keys.join(CERTIFICATE))?, read(&keys.join(CLIENT_KEY))?)));
        let credentials = Credentials {
            token: token.as_ref().map(TokenText::first).transpose()?,
            identity: identity.transpose()?,
            authority: keys.map(|keys| pem(&keys.join("ca.pem"))).transpose()?,
        };
        let name = token.map(|text| text.name);
        let files = name.map(|name| name.file).into_iter().chain(certified.map(|_| CLIENT_KEY));
        let secrets = keys.map_or_else(Vec::new, |keys| files.map(|file| keys.join(file)).collect());
        Ok(Self { credentials, token: name, secrets })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::access::{ADMIN, JOIN, STATUS};

    #[test]
    fn reread_keys_show_a_token_of_the_same_kind() {
        let folder = tempfile::tempdir().unwrap();
        let write = |file: &str, text: &str| fs::write(folder.path().join(file), text).unwrap();
        write("ca.pem", "-----BEGIN CERTIFICATE-----");
        write(ADMIN.file, &"t".repeat(64));
        let order = [JOIN, STATUS];
        assert_eq!(ClientCredentials::at_start(Some(folder.path()), order).unwrap().token, Some(ADMIN));
        let missing = ClientCredentials::reread(folder.path(), order).err().unwrap().to_string();
        assert!(missing.contains("join.token is missing"), "{missing}");
        write(JOIN.file, &"t".repeat(64));
        assert_eq!(ClientCredentials::reread(folder.path(), order).unwrap().token, Some(JOIN));
    }
}
