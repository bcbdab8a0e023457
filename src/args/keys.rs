//! The arguments of `diadem keys`.

use std::net::IpAddr;
use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::value::ValueError;

/// Makes what a coordinator and its workers know each other by: certificates and tokens.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  diadem keys init keys --host 10.0.0.7 --host node7.example.org   once; then copy the folders as it says
  diadem keys renew keys                                           a new certificate and new tokens
  diadem keys client keys rack-3                                   a certificate for a worker, instead of the token")]
pub struct KeysArgs {
    #[command(subcommand)]
    pub command: KeysCommand,
}

#[derive(Debug, Subcommand)]
pub enum KeysCommand {
    /// Makes a folder with an authority, a certificate for the coordinator and two tokens.
    Init {
        /// The folder to make.
        #[arg(value_name = "DIR")]
        keys: PathBuf,
        /// A name or IP address by which workers reach the coordinator; may be repeated [default: this machine's name].
        #[arg(long = "host", value_name = "NAME", value_parser = host)]
        hosts: Vec<String>,
        #[command(flatten)]
        validity: ValidityArgs,
    },
    /// Makes a new certificate for the coordinator and new tokens; the tokens before them hold until the next renewal.
    Renew {
        /// The folder that keys init made.
        #[arg(value_name = "DIR")]
        keys: PathBuf,
        /// A name or IP address by which workers reach the coordinator; may be repeated [default: those of before].
        #[arg(long = "host", value_name = "NAME", value_parser = host)]
        hosts: Vec<String>,
        #[command(flatten)]
        validity: ValidityArgs,
    },
    /// Makes a certificate with which a worker can take part without the join token.
    Client {
        /// The folder that keys init made.
        #[arg(value_name = "DIR")]
        keys: PathBuf,
        /// What to call it: letters, digits, - and _.
        #[arg(value_name = "NAME", value_parser = client_name)]
        name: String,
        #[command(flatten)]
        validity: ValidityArgs,
    },
}

/// How long what is made can be used.
#[derive(Clone, Copy, Debug, Args)]
pub struct ValidityArgs {
    /// How long the certificate is valid.
    #[arg(long, value_name = "DAYS", default_value_t = 825, value_parser = clap::value_parser!(u32).range(1..=3650))]
    pub days: u32,
}

/// What a client certificate can be called: it becomes the name of a folder.
fn client_name(text: &str) -> Result<String, ValueError> {
    let fits = (1..=64).contains(&text.len());
    if fits && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_') {
        Ok(text.to_owned())
    } else {
        Err(ValueError::new(text, "a name of 1 to 64 letters, digits, - and _"))
    }
}

/// A host as it can stand in a certificate: an IP address or a name.
pub fn host(text: &str) -> Result<String, ValueError> {
    let letters = |label: &str| label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
    let is_label = |label: &str| (1..=63).contains(&label.len()) && letters(label);
    let is_name = text.len() <= 253 && text.split('.').all(is_label);
    if is_name || text.parse::<IpAddr>().is_ok() {
        Ok(text.to_owned())
    } else {
        Err(ValueError::new(text, "a host name or an IP address, as in node7.example.org or 10.0.0.7"))
    }
}
