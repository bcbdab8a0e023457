//! The arguments of `diadem keys`.

use std::net::IpAddr;
use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::value::{ValueError, whole};

/// Makes what a coordinator and its workers know each other by: certificates and tokens.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  diadem keys init keys --host 10.0.0.7 --host node7.example.org --owner ada
      once; then copy the folders as it says
  diadem keys renew keys
      a new certificate and new tokens
  diadem keys client keys rack-3
      a certificate for workers of one owner
  diadem keys client keys ada --token
      a token for workers of one owner
  diadem keys revoke keys ada
      refuse them from now on")]
pub struct KeysArgs {
    #[command(subcommand)]
    pub command: KeysCommand,
}

#[derive(Debug, Subcommand)]
pub enum KeysCommand {
    /// Makes a folder with an authority, a certificate for the coordinator and a token for each kind of caller.
    Init {
        /// The folder to make.
        #[arg(value_name = "DIR")]
        keys: PathBuf,
        /// A name or IP address by which workers reach the coordinator; may be repeated [default: this machine's name].
        #[arg(long = "host", value_name = "NAME", value_parser = host)]
        hosts: Vec<String>,
        /// The owner of the first workers, recorded with their counts. A terminal asks for it.
        #[arg(long, value_name = "NAME", value_parser = client_name)]
        owner: Option<String>,
        #[command(flatten)]
        validity: ValidityArgs,
    },
    /// Makes a new certificate for the coordinator and new tokens; the tokens before them hold until the next renewal.
    Renew {
        /// The folder that keys init made.
        #[arg(value_name = "DIR")]
        keys: PathBuf,
        /// A name or IP address by which workers reach the coordinator; may be repeated, and replaces all of before
        /// [default: those of before].
        #[arg(long = "host", value_name = "NAME", value_parser = host)]
        hosts: Vec<String>,
        /// Make a new certificate only: all tokens stay as they are.
        #[arg(long)]
        certificate_only: bool,
        #[command(flatten)]
        validity: ValidityArgs,
    },
    /// Makes a certificate, or a token, with which workers take part under a name of their own, without the join token.
    Client {
        /// The folder that keys init made.
        #[arg(value_name = "DIR")]
        keys: PathBuf,
        /// The name of the owner, recorded with its counts: letters, digits, - and _.
        #[arg(value_name = "NAME", value_parser = client_name)]
        name: String,
        /// Make a token instead of a certificate.
        #[arg(long, conflicts_with = "days")]
        token: bool,
        #[command(flatten)]
        validity: ValidityArgs,
    },
    /// Refuses an owner from now on: its certificates, its tokens and its workers.
    Revoke {
        /// The folder that keys init made.
        #[arg(value_name = "DIR")]
        keys: PathBuf,
        /// The owner, as in keys client and in the status; "join" revokes the shared join token.
        #[arg(value_name = "NAME", value_parser = owner_name)]
        name: String,
    },
}

/// How long what is made can be used.
#[derive(Clone, Copy, Debug, Args)]
pub struct ValidityArgs {
    /// How long the certificate is valid.
    #[arg(long, value_name = "DAYS", default_value_t = 825, value_parser = whole::<u32>(1..=3650), allow_negative_numbers = true)]
    pub days: u32,
}

/// Reserved names: these tokens carry no owner's name.
const RESERVED_NAMES: [&str; 4] = ["join", "status", "follow", "admin"];

/// An owner's name for new keys.
///
/// # Errors
/// It is none, or it is reserved.
pub fn client_name(text: &str) -> Result<String, ValueError> {
    let name = owner_name(text)?;
    if RESERVED_NAMES.contains(&text) || text.starts_with("certificate-") {
        return Err(ValueError::new(text, "a name of its own: coordinators call others so"));
    }
    Ok(name)
}

/// An owner's name. It stands in a certificate, in the name of a folder, and beside a token, and is shorter
/// than a token.
///
/// # Errors
/// It is none.
pub fn owner_name(text: &str) -> Result<String, ValueError> {
    let is_inner = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    let has_ends = !text.starts_with('-') && !text.ends_with('-');
    if (1..32).contains(&text.len()) && has_ends && text.bytes().all(is_inner) {
        Ok(text.to_owned())
    } else {
        Err(ValueError::new(text, "a name of 1 to 31 letters, digits, - and _"))
    }
}

/// A host as it can stand in a certificate: an IP address or a name.
///
/// # Errors
/// It is none.
pub fn host(text: &str) -> Result<String, ValueError> {
    let letters = |label: &str| label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
    let is_label = |label: &str| (1..=63).contains(&label.len()) && letters(label);
    // What ends in a number is read as an IP address, and may not be one.
    let last = text.rsplit('.').next().unwrap_or(text);
    let ends_in_number = match last.strip_prefix("0x") {
        Some(hex) => hex.bytes().all(|b| b.is_ascii_hexdigit()),
        None => last.bytes().all(|b| b.is_ascii_digit()),
    };
    let is_name = text.len() <= 253 && text.split('.').all(is_label) && !ends_in_number;
    if is_name || text.parse::<IpAddr>().is_ok() {
        Ok(text.to_owned())
    } else {
        Err(ValueError::new(text, "a host name or an IP address, as in node7.example.org or 10.0.0.7"))
    }
}
