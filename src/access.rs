//! What is demanded of callers and shown to a coordinator: read from a folder of keys and from the environment. A
//! secret is never an argument, because everybody on the machine can read those.

use std::env;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use anyhow::{Context, bail};
use coordinator::{Access, Guard, ServerKeys};
use proto::AccessToken;
use worker::Credentials;

/// One of the two tokens: its file in a folder of keys, and the variable that stands for the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenName {
    pub file: &'static str,
    pub variable: &'static str,
}

/// Lets its bearer take part.
pub const JOIN: TokenName = TokenName { file: "join.token", variable: "DIADEM_JOIN_TOKEN" };

/// Lets its bearer read the status.
pub const STATUS: TokenName = TokenName { file: "status.token", variable: "DIADEM_STATUS_TOKEN" };

/// Whom a coordinator lets in.
pub fn guard(keys: Option<&Path>) -> anyhow::Result<Guard> {
    let (join, status) = (tokens(keys, JOIN)?, tokens(keys, STATUS)?);
    let server_keys = keys.map(server_keys).transpose()?;
    let by_certificate = server_keys.as_ref().is_some_and(|keys| keys.client_authority.is_some());
    if join.is_empty() && !by_certificate && (keys.is_some() || !status.is_empty()) {
        let place = keys.map(|keys| format!(" in {}", keys.display())).unwrap_or_default();
        bail!("nobody could take part: there is no {}{place}, and {} is not set", JOIN.file, JOIN.variable);
    }
    let access = if server_keys.is_none() && join.is_empty() {
        Access::open()
    } else {
        Access::guarded(&join, &status)
    };
    Ok(Guard::new(access, server_keys)?)
}

/// What a worker or `status` shows: the first token that is there.
pub fn credentials(keys: Option<&Path>, order: [TokenName; 2]) -> anyhow::Result<Credentials> {
    let mut token = None;
    for name in order {
        token = token.or(tokens(keys, name)?.into_iter().next());
    }
    let Some(keys) = keys else { return Ok(Credentials { token, ..Credentials::default() }) };
    let (certificate, key) = (keys.join("client.pem"), keys.join("client.key"));
    let identity = if certificate.exists() { Some((pem(&certificate)?, secret(&key)?)) } else { None };
    Ok(Credentials { authority: Some(pem(&keys.join("ca.pem"))?), identity, token })
}

fn server_keys(keys: &Path) -> anyhow::Result<ServerKeys> {
    let authority = keys.join("ca.pem");
    Ok(ServerKeys {
        certificate: pem(&keys.join("server.pem"))?,
        key: secret(&keys.join("server.key"))?,
        client_authority: authority.exists().then(|| pem(&authority)).transpose()?,
    })
}

/// The tokens of that name: from the environment, or else from the folder. There may be several, one a line, so that
/// a new one can be handed out while the old one still holds.
fn tokens(keys: Option<&Path>, name: TokenName) -> anyhow::Result<Vec<AccessToken>> {
    let (text, place) = match (env::var(name.variable), keys.map(|keys| keys.join(name.file))) {
        (Ok(text), _) => (text, name.variable.to_owned()),
        (Err(env::VarError::NotUnicode(_)), _) => bail!("{} is not text", name.variable),
        (Err(env::VarError::NotPresent), Some(file)) if file.exists() => {
            (secret(&file)?, file.display().to_string())
        }
        _ => return Ok(Vec::new()),
    };
    let parsed: Result<Vec<_>, _> = text.split_whitespace().map(str::parse).collect();
    let tokens: Vec<AccessToken> = parsed.with_context(|| format!("{place} holds something else"))?;
    if tokens.is_empty() {
        bail!("{place} holds no token");
    }
    Ok(tokens)
}

/// The text of a file with certificates.
fn pem(path: &Path) -> anyhow::Result<String> {
    let text = read(path)?;
    if !text.contains("-----BEGIN CERTIFICATE-----") {
        bail!("{} holds no certificate in PEM", path.display());
    }
    Ok(text)
}

/// The text of a file that nobody else should read.
fn secret(path: &Path) -> anyhow::Result<String> {
    let text = read(path)?;
    let mode = fs::metadata(path).map_or(0, |metadata| metadata.permissions().mode());
    if mode & 0o077 != 0 {
        let mode = mode & 0o777;
        eprintln!("diadem: warning: others may read {} (mode {mode:o}); chmod 600 it", path.display());
    }
    Ok(text)
}

fn read(path: &Path) -> anyhow::Result<String> {
    fs::read_to_string(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => {
            anyhow::anyhow!("{} is missing; diadem keys init makes one", path.display())
        }
        _ => anyhow::Error::new(error).context(format!("cannot read {}", path.display())),
    })
}
