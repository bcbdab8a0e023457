//! `diadem keys`: makes what a coordinator and its workers know each other by, in folders to be copied around.
//!
//! ```text
//! keys/
//!   ca.key ca.pem    the authority; nobody needs ca.key to run anything
//!   hosts            what the coordinator's certificate is for
//!   coordinator/     server.pem server.key ca.pem join.token status.token
//!   worker/          ca.pem join.token
//!   status/          ca.pem status.token
//!   clients/NAME/    ca.pem client.pem client.key
//! ```

mod authority;

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, bail};

use crate::access::{JOIN, STATUS, TokenName};
use crate::args::{KeysArgs, KeysCommand, host};
use crate::output::print;
use authority::{Authority, Pair};

/// A coordinator can always be reached from its own machine.
const LOCAL: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

pub fn run(args: &KeysArgs) -> anyhow::Result<ExitCode> {
    print(&match &args.command {
        KeysCommand::Init { keys, hosts, validity } => init(keys, hosts, validity.days)?,
        KeysCommand::Renew { keys, hosts, validity } => renew(keys, hosts, validity.days)?,
        KeysCommand::Client { keys, name, validity } => client(keys, name, validity.days)?,
    })?;
    Ok(ExitCode::SUCCESS)
}

fn init(keys: &Path, hosts: &[String], days: u32) -> anyhow::Result<String> {
    if fs::read_dir(keys).is_ok_and(|mut entries| entries.next().is_some()) {
        bail!(
            "{} is not empty; diadem keys renew replaces what is in it, another folder takes new keys",
            keys.display()
        );
    }
    let hosts = if hosts.is_empty() { vec![host_name()] } else { hosts.to_vec() };
    let (authority, own) = Authority::make()?;
    let server = authority.server(&with_local(&hosts), days)?;
    for folder in ["", "coordinator", "worker", "status", "clients"] {
        make_folder(&keys.join(folder))?;
    }
    write_private(&keys.join("ca.key"), &own.key)?;
    for folder in ["", "coordinator", "worker", "status"] {
        write_private(&keys.join(folder).join("ca.pem"), &own.certificate)?;
    }
    write_server(keys, &hosts, &server)?;
    write_token(keys, "worker", JOIN)?;
    write_token(keys, "status", STATUS)?;
    Ok(format!(
        "made keys, valid for {days} days, of a coordinator that is reached as {}:\n{}",
        with_local(&hosts).join(", "),
        what_goes_where(keys)
    ))
}

fn renew(keys: &Path, hosts: &[String], days: u32) -> anyhow::Result<String> {
    let authority = authority_of(keys)?;
    let hosts = if hosts.is_empty() { hosts_of(keys)? } else { hosts.to_vec() };
    let server = authority.server(&with_local(&hosts), days)?;
    write_server(keys, &hosts, &server)?;
    write_token(keys, "worker", JOIN)?;
    write_token(keys, "status", STATUS)?;
    Ok(format!(
        "made a new certificate, valid for {days} days for {}, and new tokens; the tokens before them hold until keys \
         are renewed again. Copy and start anew, the coordinator first:\n{}",
        with_local(&hosts).join(", "),
        what_goes_where(keys)
    ))
}

fn client(keys: &Path, name: &str, days: u32) -> anyhow::Result<String> {
    let authority = authority_of(keys)?;
    let folder = keys.join("clients").join(name);
    if folder.exists() {
        bail!("{} is there already; choose another name, or delete it first", folder.display());
    }
    let Pair { certificate, key } = authority.client(name, days)?;
    let authority = read(&keys.join("ca.pem"))?;
    make_folder(&folder)?;
    write_private(&folder.join("ca.pem"), &authority)?;
    write_private(&folder.join("client.pem"), &certificate)?;
    write_private(&folder.join("client.key"), &key)?;
    let folder = folder.display();
    Ok(format!(
        "made a certificate for {name}, valid for {days} days; copy the folder to its machine:\n\
         {folder}   diadem worker --coordinator https://HOST:7227 --keys {name}"
    ))
}

fn what_goes_where(keys: &Path) -> String {
    let keys = keys.display();
    format!(
        "{keys}/coordinator   to the coordinator:  diadem coordinator ... --listen ADDRESS:7227 --keys coordinator\n\
         {keys}/worker        to each worker:      diadem worker --coordinator https://HOST:7227 --keys worker\n\
         {keys}/status        to who may look on:  diadem status --coordinator https://HOST:7227 --keys status\n\
         {keys}/ca.key        signs further certificates: to none of them, and out of reach"
    )
}

fn host_name() -> String {
    host(&crate::host::name()).unwrap_or_else(|_| LOCAL[0].to_owned())
}

fn with_local(hosts: &[String]) -> Vec<String> {
    let mut all = hosts.to_vec();
    all.extend(
        LOCAL.iter().filter(|local| !hosts.iter().any(|host| host == *local)).map(ToString::to_string),
    );
    all
}

fn authority_of(keys: &Path) -> anyhow::Result<Authority> {
    let file = keys.join("ca.key");
    Authority::from_key(&read(&file)?).with_context(|| format!("{} is not a key in PEM", file.display()))
}

fn hosts_of(keys: &Path) -> anyhow::Result<Vec<String>> {
    let file = keys.join("hosts");
    let hosts: Result<_, _> = read(&file)?.split_whitespace().map(host).collect();
    hosts.with_context(|| file.display().to_string())
}

fn write_server(keys: &Path, hosts: &[String], server: &Pair) -> anyhow::Result<()> {
    write_private(&keys.join("hosts"), &(hosts.join("\n") + "\n"))?;
    write_private(&keys.join("coordinator/server.key"), &server.key)?;
    write_private(&keys.join("coordinator/server.pem"), &server.certificate)
}

/// Makes a token for that folder. The coordinator takes it, and still the one that the folder had before.
fn write_token(keys: &Path, folder: &str, name: TokenName) -> anyhow::Result<()> {
    let file = keys.join(folder).join(name.file);
    let before = if file.exists() { read(&file)? } else { String::new() };
    let digits = format!("{:032x}{:032x}", rand::random::<u128>(), rand::random::<u128>());
    write_private(&keys.join("coordinator").join(name.file), &format!("{digits}\n{before}"))?;
    write_private(&file, &format!("{digits}\n"))
}

fn read(file: &Path) -> anyhow::Result<String> {
    fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))
}

fn make_folder(folder: &Path) -> anyhow::Result<()> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.with_context(|| format!("cannot create {}", folder.display()))
}

/// Writes a file that nobody else can read, whole or not at all.
fn write_private(file: &Path, text: &str) -> anyhow::Result<()> {
    let draft = file.with_added_extension("new");
    let write = || {
        let mut out = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&draft)?;
        out.write_all(text.as_bytes())?;
        out.sync_all()?;
        fs::rename(&draft, file)
    };
    write().with_context(|| format!("cannot write {}", file.display()))
}
