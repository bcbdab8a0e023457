//! The credentials that a coordinator requires and that clients show, read from a folder of keys and from the
//! environment. A secret is never an argument, because all users of the machine can read arguments.

mod client_credentials;
mod expiry;
mod invitation;
mod watch;

use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use anyhow::{Context, anyhow, bail};
use coordinator::admission::{Access, Bearers, Encryption, Guard, Right, ServerKeys};
use domain::{AccessToken, Owner};
use records::regular_file;

use crate::args::WrongCommand;
use crate::args::owner_name;
use crate::log::say;
use crate::{host, settings};

pub use client_credentials::{credentials, refreshed_remote};
pub use expiry::Expiry;
pub use invitation::Invitation;
pub use watch::KeyWatch;

/// A kind of token: its file in a folder of keys, the environment variable that replaces the file, and its
/// permissions. A token without a name gets the name of the bearer given here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenName {
    pub file: &'static str,
    pub variable: &'static str,
    right: Right,
    pub owner: &'static str,
}

/// Lets its bearer take part.
pub const JOIN: TokenName =
    TokenName { file: "join.token", variable: "DIADEM_JOIN_TOKEN", right: Right::Join, owner: "join" };

/// Lets its bearer read the status.
pub const STATUS: TokenName =
    TokenName { file: "status.token", variable: "DIADEM_STATUS_TOKEN", right: Right::Read, owner: "status" };

/// Lets its bearer follow a run.
pub const FOLLOW: TokenName = TokenName {
    file: "follow.token",
    variable: "DIADEM_FOLLOW_TOKEN",
    right: Right::Follow,
    owner: "follow",
};

/// Lets its bearer take counts back, change the policy of a run, pause it, and have workers leave.
pub const ADMIN: TokenName =
    TokenName { file: "admin.token", variable: "DIADEM_ADMIN_TOKEN", right: Right::Admin, owner: "admin" };

/// All of them.
const TOKENS: [TokenName; 4] = [JOIN, STATUS, FOLLOW, ADMIN];

/// The key of the coordinator's certificate, in its folder of keys.
const SERVER_KEY: &str = "server.key";

/// Names the owners that are let in no more, one a line, in the coordinator's folder of keys.
pub const REVOKED: &str = "revoked";

/// Whether the folder of keys stands on the command line, which goes before variables.
static FOLDER_IS_TYPED: LazyLock<bool> = LazyLock::new(|| settings::is_typed("keys"));

/// The guard that admits callers of a coordinator, and the watch that updates it when the files change.
pub fn guard(keys: Option<&Path>) -> anyhow::Result<(Guard, KeyWatch)> {
    if let Some(keys) = keys {
        let secrets = TOKENS.iter().map(|name| name.file).chain([SERVER_KEY]);
        secrets.for_each(|file| warn_if_others_may_read(&keys.join(file)));
    }
    let texts = KeyTexts::read(keys)?;
    let bearers = texts.bearers()?;
    let encryption = texts.server.as_ref().map(Encryption::new).transpose()?;
    let is_open = encryption.is_none() && bearers.is_empty();
    let access = if is_open { Access::open() } else { Access::guarded(bearers) };
    Ok((Guard::new(access.clone(), encryption.clone()), KeyWatch::new(access, encryption, texts)))
}

fn server_keys(keys: &Path) -> anyhow::Result<ServerKeys> {
    let authority = keys.join("ca.pem");
    Ok(ServerKeys {
        certificate: pem(&keys.join("server.pem"))?,
        key: read(&keys.join(SERVER_KEY))?,
        client_authority: read_if_there(&authority)?
            .map(|text| certificates(&authority, text))
            .transpose()?,
    })
}

/// The text of all files and variables that define the access to a coordinator and its certificate.
#[derive(Clone, PartialEq, Eq)]
struct KeyTexts {
    /// The folder, as it was named.
    keys: Option<PathBuf>,
    server: Option<ServerKeys>,
    tokens: Vec<TokenText>,
    revoked: String,
}

impl KeyTexts {
    fn read(keys: Option<&Path>) -> anyhow::Result<Self> {
        let server = keys.map(server_keys).transpose()?;
        let mut tokens = Vec::new();
        for name in TOKENS {
            tokens.extend(TokenText::read(keys, name)?);
        }
        let revoked = keys.map(|keys| read_if_there(&keys.join(REVOKED))).transpose()?;
        let revoked = revoked.flatten().unwrap_or_default();
        Ok(Self { keys: keys.map(Path::to_owned), server, tokens, revoked })
    }

    /// The accepted bearers. An error if the access is restricted and no bearer could join.
    fn bearers(&self) -> anyhow::Result<Bearers> {
        let mut bearers = Bearers::default();
        for text in &self.tokens {
            for ListedToken { token, owner, expiry } in text.tokens()? {
                bearers.admit_until(&token, owner, text.name.right, expiry.map(Expiry::time));
            }
        }
        for name in self.revoked.split_whitespace() {
            bearers.revoke(Owner::new(
                &owner_name(name).with_context(|| format!("{REVOKED} holds something else"))?,
            ));
        }
        let by_certificate = self.server.as_ref().is_some_and(|keys| keys.client_authority.is_some());
        let asks = self.keys.is_some() || !bearers.is_empty();
        if bearers.can_join() || by_certificate || !asks {
            return Ok(bearers);
        }
        let place = self.keys.as_ref().map(|keys| format!(" in {}", keys.display())).unwrap_or_default();
        bail!("nobody could take part: there is no {}{place}, and {} is not set", JOIN.file, JOIN.variable);
    }
}

/// A token in a file or a variable.
struct ListedToken {
    token: AccessToken,
    owner: Owner,
    expiry: Option<Expiry>,
}

/// The tokens of one name, as they are written down.
#[derive(Clone, PartialEq, Eq)]
struct TokenText {
    name: TokenName,
    /// The file or variable of the token.
    place: String,
    text: String,
}

impl TokenText {
    /// From the environment, or else from the folder; where the folder was typed, that goes first.
    fn read(keys: Option<&Path>, name: TokenName) -> anyhow::Result<Option<Self>> {
        let in_folder = || keys.map_or(Ok(None), |keys| Self::in_folder(keys, name));
        let in_variable = || Self::in_variable(name);
        let places: [&dyn Fn() -> anyhow::Result<Option<Self>>; 2] =
            if *FOLDER_IS_TYPED { [&in_folder, &in_variable] } else { [&in_variable, &in_folder] };
        places.into_iter().find_map(|place| place().transpose()).transpose()
    }

    fn in_variable(name: TokenName) -> anyhow::Result<Option<Self>> {
        let text = match env::var(name.variable) {
            Ok(text) => text,
            Err(env::VarError::NotPresent) => return Ok(None),
            Err(env::VarError::NotUnicode(_)) => {
                return Err(WrongCommand::Variable(anyhow!("{} is not text", name.variable).into()).into());
            }
        };
        let named = Self { name, place: name.variable.to_owned(), text };
        named.tokens().map_err(|error| WrongCommand::Variable(error.into()))?;
        Ok(Some(named))
    }

    fn in_folder(keys: &Path, name: TokenName) -> anyhow::Result<Option<Self>> {
        let file = keys.join(name.file);
        Ok(read_if_there(&file)?.map(|text| Self::of_file(&file, name, text)))
    }

    fn in_file(file: &Path, name: TokenName) -> anyhow::Result<Self> {
        Ok(Self::of_file(file, name, read(file)?))
    }

    fn of_file(file: &Path, name: TokenName, text: String) -> Self {
        Self { name, place: file.display().to_string(), text }
    }

    /// The one that is shown.
    fn first(&self) -> anyhow::Result<AccessToken> {
        Ok(self.tokens()?.swap_remove(0).token)
    }

    /// The tokens, and whose they are: several, one a line, so that a new one can be handed out while the old one still
    /// holds. Beside a token may stand whose it is, which is shorter than any token, and when it expires.
    fn tokens(&self) -> anyhow::Result<Vec<ListedToken>> {
        let mut tokens: Vec<ListedToken> = Vec::new();
        for line in self.text.lines() {
            // The message does not repeat the wrong text, which may be nearly a secret.
            let wrong = || format!("{} holds something else", self.place);
            let mut can_be_named = false;
            for word in line.split_whitespace() {
                match (Expiry::from_word(word), owner_name(word), tokens.last_mut()) {
                    (Some(expiry), _, Some(last)) => {
                        last.expiry = Some(expiry.with_context(|| self.place.clone())?);
                    }
                    (None, Ok(name), Some(last)) if can_be_named => {
                        last.owner = Owner::new(&name);
                        can_be_named = false;
                    }
                    _ => {
                        let (token, owner) = (word.parse().with_context(wrong)?, Owner::new(self.name.owner));
                        tokens.push(ListedToken { token, owner, expiry: None });
                        can_be_named = true;
                    }
                }
            }
        }
        if tokens.is_empty() {
            bail!("{} holds no token", self.place);
        }
        Ok(tokens)
    }
}

/// The text of a file with certificates.
fn pem(path: &Path) -> anyhow::Result<String> {
    certificates(path, read(path)?)
}

/// The text, which is that of the file, if it has certificates.
fn certificates(path: &Path, text: String) -> anyhow::Result<String> {
    if !text.contains("-----BEGIN CERTIFICATE-----") {
        bail!("{} holds no certificate in PEM", path.display());
    }
    Ok(text)
}

/// Warns if other users may read a secret file.
pub fn warn_if_others_may_read(path: &Path) {
    if let Some(mode) = host::mode_for_others(path) {
        say(format_args!(
            "diadem: warning: others may read {} (mode {mode:o}); chmod 600 it",
            path.display()
        ));
    }
}

/// The text of an optional file; `None` if it does not exist. A link whose target is missing, as after a disk
/// has gone away, is an error: its text is unknown, and a revoked owner must not be let in again.
pub fn read_if_there(path: &Path) -> anyhow::Result<Option<String>> {
    if fs::symlink_metadata(path).is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
        return Ok(None);
    }
    regular_file::read_to_string(path).map(Some).with_context(|| format!("cannot read {}", path.display()))
}

fn read(path: &Path) -> anyhow::Result<String> {
    regular_file::read_to_string(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => {
            anyhow::anyhow!(
                "{} is missing; copy the folder from where diadem keys init made it, or make the first keys with it",
                path.display()
            )
        }
        _ => anyhow::Error::new(error).context(format!("cannot read {}", path.display())),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dangling_links_in_keys_are_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| folder.path().join(name);
        let read = || KeyTexts::read(Some(folder.path()));
        fs::write(file("server.pem"), "-----BEGIN CERTIFICATE-----").unwrap();
        fs::write(file(SERVER_KEY), "").unwrap();
        assert!(read().unwrap().revoked.is_empty());
        for name in [REVOKED, JOIN.file, "ca.pem"] {
            std::os::unix::fs::symlink("gone", file(name)).unwrap();
            let error = read().err().map(|error| format!("{error:#}")).unwrap_or_default();
            let wanted = format!("cannot read {}: No such file", file(name).display());
            assert!(error.contains(&wanted), "{name}: {error}");
            fs::remove_file(file(name)).unwrap();
        }
        assert!(read().unwrap().revoked.is_empty());
    }
}
