//! The arguments of `diadem keys`.

use std::net::IpAddr;
use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::value::{ValueError, whole};

/// Make and revoke certificates and tokens.
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
    /// Make an authority, a certificate and tokens.
    Init {
        /// Folder to make.
        #[arg(value_name = "DIR")]
        keys: PathBuf,
        /// Name or IP of the coordinator; may be repeated.
        ///
        /// Workers reach the coordinator by it [default: this machine's name].
        #[arg(long = "host", value_name = "NAME", value_parser = host)]
        hosts: Vec<String>,
        /// The owner of the first workers' counts.
        ///
        /// Without it the command asks, on a terminal.
        #[arg(long, value_name = "NAME", value_parser = client_name)]
        owner: Option<String>,
        #[command(flatten)]
        validity: ValidityArgs,
    },
    /// Make a new certificate and new tokens.
    ///
    /// The tokens before them hold until the next renewal.
    Renew {
        /// Folder of diadem keys init.
        #[arg(value_name = "DIR")]
        keys: PathBuf,
        /// Name or IP of the coordinator; may be repeated.
        ///
        /// Replaces all earlier names [default: the earlier names].
        #[arg(long = "host", value_name = "NAME", value_parser = host)]
        hosts: Vec<String>,
        /// Renew the certificate, not the tokens.
        #[arg(long)]
        certificate_only: bool,
        /// Only print what would change.
        #[arg(long)]
        dry_run: bool,
        /// Restore the former keys.
        ///
        /// Tokens made since hold as well, until the next renewal. Copy the folders again afterwards.
        #[arg(long, conflicts_with_all = ["hosts", "certificate_only", "days", "dry_run"])]
        undo: bool,
        #[command(flatten)]
        validity: ValidityArgs,
    },
    /// Make a certificate or a token for an owner.
    ///
    /// Workers take part under the name of the owner, without the join token.
    Client {
        /// Folder of diadem keys init.
        #[arg(value_name = "DIR")]
        keys: PathBuf,
        /// Name of the owner, recorded with its counts.
        ///
        /// Letters, digits, - and _.
        #[arg(value_name = "NAME", value_parser = client_name)]
        name: String,
        /// Make a token instead of a certificate.
        #[arg(long, conflicts_with = "days")]
        token: bool,
        #[command(flatten)]
        validity: ValidityArgs,
    },
    /// Refuse an owner from now on.
    ///
    /// Its certificates, its tokens and its workers.
    Revoke {
        /// Folder of diadem keys init.
        #[arg(value_name = "DIR")]
        keys: PathBuf,
        /// Owner to refuse, or join for the join token.
        ///
        /// The owner is named as in keys client and in the status.
        #[arg(value_name = "NAME", value_parser = owner_name)]
        name: String,
        /// Only print who would be refused.
        #[arg(long)]
        dry_run: bool,
        /// Accept the owner's keys again.
        #[arg(long, conflicts_with = "dry_run")]
        undo: bool,
    },
}

/// Print an invitation for a new owner's workers.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  diadem invite keys ada
      then send ada the line that it prints; ada runs diadem join with it
  diadem invite keys ada --coordinator https://10.0.0.7:7227 --days 7
  diadem keys revoke keys ada
      refuse ada from now on")]
pub struct InviteArgs {
    /// Folder of diadem keys init.
    #[arg(value_name = "DIR")]
    pub keys: PathBuf,
    /// Name of the owner, recorded with its counts.
    ///
    /// Letters, digits, - and _. One invitation serves all machines of the owner.
    #[arg(value_name = "NAME", value_parser = client_name)]
    pub name: String,
    /// Coordinator URL; may be repeated.
    ///
    /// Several, also with commas between, are tried in turn [default: the names that diadem keys init was
    /// given, with port 7227].
    #[arg(long, value_name = "URL", value_delimiter = ',')]
    pub coordinator: Vec<String>,
    /// Days until the invitation expires.
    #[arg(long, value_name = "DAYS", default_value_t = 30, value_parser = whole::<u32>(1..=3650), allow_negative_numbers = true)]
    pub days: u32,
}

/// How long what is made can be used.
#[derive(Clone, Copy, Debug, Args)]
pub struct ValidityArgs {
    /// Days until the certificate ends.
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
        return Err(ValueError::new(text, "free for an owner: diadem uses this name itself"));
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
    // URLs read a host that ends in a number as an IP address, which it may not be.
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
