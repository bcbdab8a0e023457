//! `diadem keys`: makes the credentials of a coordinator and its clients, in folders to copy to their
//! machines.
//!
//! ```text
//! keys/
//!   ca.key ca.pem    the authority; nobody needs ca.key to run anything
//!   hosts            what the coordinator's certificate is for
//!   renewal          the tokens of before a renewal that has failed
//!   before/          the files that the last renewal replaced
//!   coordinator/     server.pem server.key ca.pem join.token status.token follow.token admin.token revoked
//!   worker/          ca.pem join.token
//!   status/          ca.pem status.token
//!   follower/        ca.pem follow.token
//!   admin/           ca.pem admin.token
//!   clients/NAME/    ca.pem, and client.pem client.key or join.token
//! ```

mod authority;
mod draft;
mod files;
mod foreseen;
mod former;
mod invite;
mod renewal;
mod revoked;
mod tokens;

use std::fs::File;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail, ensure};
use domain::{named, quoted};

use crate::access::{JOIN, warn_if_others_may_read};
use crate::args::{KeysArgs, KeysCommand, client_name, host};
use crate::output::print;
use authority::{Authority, Pair};
use draft::{KeysDraft, expect_finished};
use files::{alone_in, make_folder, read, write_private};
use former::{FormerFiles, kept_in, put_back};
use renewal::{FOLDERS, KeysRenewal};
use revoked::{list_of_revoked, revoked, write_revoked};
use tokens::{write_named_token, write_token};

/// A coordinator can always be reached from its own machine.
const LOCAL_NAMES: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

pub use invite::invite;

pub fn run(args: &KeysArgs) -> anyhow::Result<ExitCode> {
    match &args.command {
        KeysCommand::Init { keys, hosts, owner, validity } => {
            let owner = owner.clone().map_or_else(ask_for_owner, |owner| Ok(Some(owner)))?;
            print(&init(keys, hosts, owner.as_deref(), validity.days)?)?;
        }
        KeysCommand::Renew { keys, undo: true, .. } => print(&undo_renewal(keys)?)?,
        KeysCommand::Renew { keys, hosts, certificate_only, dry_run: true, validity, .. } => {
            let _alone = lock_keys(keys)?;
            print(&foreseen::renewal(keys, hosts, *certificate_only, validity.days)?)?;
        }
        KeysCommand::Renew { keys, hosts, certificate_only: true, validity, .. } => {
            let _alone = lock_keys(keys)?;
            authority_of(keys)?;
            let former = FormerFiles::keep(keys, false)?;
            let hosts = renew_certificate(keys, hosts, validity.days)?;
            print(&format!(
                "made a new certificate, valid for {} days for {hosts}; the tokens stay. Copy the \
                 folder; a running coordinator reads it within a second:\n{}/coordinator   to the \
                 coordinator\n{}",
                validity.days,
                keys.display(),
                way_back(keys)
            ))?;
            former.finish()?;
        }
        KeysCommand::Renew { keys, hosts, validity, .. } => {
            let _alone = lock_keys(keys)?;
            authority_of(keys)?;
            let former = FormerFiles::keep(keys, true)?;
            let (made, renewal) = renew(keys, hosts, validity.days)?;
            print(&format!("{made}\n{}", way_back(keys)))?;
            renewal.finish()?;
            former.finish()?;
        }
        KeysCommand::Client { keys, name, token: true, .. } => print(&client_token(keys, name)?)?,
        KeysCommand::Client { keys, name, validity, .. } => print(&client(keys, name, validity.days)?)?,
        KeysCommand::Revoke { keys, name, undo: true, .. } => print(&undo_revocation(keys, name)?)?,
        KeysCommand::Revoke { keys, name, dry_run: true, .. } => {
            let _alone = lock_keys(keys)?;
            print(&foreseen::revocation(keys, name)?)?;
        }
        KeysCommand::Revoke { keys, name, .. } => print(&revoke(keys, name)?)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Asks for the owner of the first workers, if somebody sits at a terminal.
fn ask_for_owner() -> anyhow::Result<Option<String>> {
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return Ok(None);
    }
    loop {
        eprint!("Name of the owner of the first workers (Enter: none, they appear as \"{}\"): ", JOIN.owner);
        let mut line = String::new();
        io::stdin().read_line(&mut line)?;
        match client_name(line.trim()) {
            _ if line.trim().is_empty() => return Ok(None),
            Ok(owner) => return Ok(Some(owner)),
            Err(error) => eprintln!("{error}"),
        }
    }
}

fn init(keys: &Path, hosts: &[String], owner: Option<&str>, days: u32) -> anyhow::Result<String> {
    make_folder(keys)?;
    let _alone = alone_in(keys)?;
    let draft = KeysDraft::begin(keys)?;
    let hosts = if hosts.is_empty() { vec![host_name()] } else { hosts.to_vec() };
    write_new(draft.path(), &hosts, days)?;
    owner.map(|owner| write_client_token(draft.path(), owner)).transpose()?;
    draft.finish()?;
    Ok(format!(
        "made keys, valid for {days} days, of a coordinator that is reached as {}:\n{}",
        with_local_names(&hosts).join(", "),
        installation_guide(keys, owner)
    ))
}

/// All keys that there are at first.
fn write_new(keys: &Path, hosts: &[String], days: u32) -> anyhow::Result<()> {
    let (authority, own) = Authority::make()?;
    let server = authority.server(&with_local_names(hosts), days)?;
    for folder in ["coordinator", "clients"] {
        make_folder(&keys.join(folder))?;
    }
    write_private(&keys.join("ca.key"), &own.key)?;
    for folder in ["", "coordinator"] {
        write_private(&keys.join(folder).join("ca.pem"), &own.certificate)?;
    }
    write_server(keys, hosts, &server)?;
    write_tokens(keys, None)
}

/// Makes a new certificate for the coordinator and returns its host names.
fn renew_certificate(keys: &Path, hosts: &[String], days: u32) -> anyhow::Result<String> {
    let authority = authority_of(keys)?;
    let hosts = if hosts.is_empty() { hosts_of(keys)? } else { hosts.to_vec() };
    let server = authority.server(&with_local_names(&hosts), days)?;
    write_server(keys, &hosts, &server)?;
    Ok(with_local_names(&hosts).join(", "))
}

fn renew(keys: &Path, hosts: &[String], days: u32) -> anyhow::Result<(String, KeysRenewal)> {
    let hosts = renew_certificate(keys, hosts, days)?;
    let renewal = KeysRenewal::begin(keys)?;
    write_tokens(keys, Some(&renewal))?;
    let readmitted = renewal.readmit(keys)?;
    let readmitted = match &readmitted[..] {
        [] => String::new(),
        names => format!(", except those of {}, which were revoked", names.join(" and ")),
    };
    let made = format!(
        "made a new certificate, valid for {days} days for {hosts}, and new tokens; the old tokens hold \
         until keys are renewed again{readmitted}. Copy the coordinator's folder first; a running \
         coordinator reads it within a second:\n{}",
        installation_guide(keys, None)
    );
    Ok((made, renewal))
}

/// How a renewal is undone.
fn way_back(keys: &Path) -> String {
    format!(
        "what it replaces stays in {}, as private as the keys; to undo: diadem keys renew {} --undo",
        kept_in(keys).display(),
        quoted(&keys.to_string_lossy())
    )
}

/// Puts the keys of before the last renewal back.
fn undo_renewal(keys: &Path) -> anyhow::Result<String> {
    let _alone = lock_keys(keys)?;
    let files = put_back(keys)?;
    let files: Vec<_> = files.iter().map(|file| format!("\n{}", file.display())).collect();
    Ok(format!(
        "put back the files of before the last renewal. Tokens made since hold as well, until keys are renewed again; \
         revoked owners stay revoked. Copy the files to where they were copied from; a running coordinator reads them \
         within a second:{}",
        files.concat()
    ))
}

fn client(keys: &Path, name: &str, days: u32) -> anyhow::Result<String> {
    let _alone = lock_keys(keys)?;
    let authority = authority_of(keys)?;
    let folder = client_folder(keys, name)?;
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

/// Locks a complete folder of keys against other processes.
fn lock_keys(keys: &Path) -> anyhow::Result<Option<File>> {
    let alone = alone_in(keys)?;
    expect_finished(keys)?;
    Ok(alone)
}

/// A join token with this owner's name.
fn client_token(keys: &Path, name: &str) -> anyhow::Result<String> {
    let _alone = lock_keys(keys)?;
    let folder = write_client_token(keys, name)?;
    let (folder, keys) = (folder.display(), keys.display());
    Ok(format!(
        "made a token for {name}. Copy the folder to its machine, and the file to the coordinator:\n\
         {folder}   diadem worker --coordinator https://HOST:7227 --keys {name}\n\
         {keys}/coordinator/{}",
        JOIN.file
    ))
}

/// Writes a new token of this owner, and returns its folder.
fn write_client_token(keys: &Path, name: &str) -> anyhow::Result<PathBuf> {
    let folder = client_folder(keys, name)?;
    let authority = read(&keys.join("ca.pem"))?;
    make_folder(&folder)?;
    write_private(&folder.join("ca.pem"), &authority)?;
    write_named_token(keys, &folder, name)?;
    Ok(folder)
}

/// Makes the coordinator refuse an owner.
fn revoke(keys: &Path, name: &str) -> anyhow::Result<String> {
    let _alone = lock_keys(keys)?;
    let mut names = revoked(keys)?;
    if !names.iter().any(|revoked| revoked == name) {
        names.push(name.to_owned());
        write_revoked(keys, &names)?;
    }
    let is_shared = FOLDERS.iter().any(|(_, of)| of.owner == name);
    let is_known = is_shared || keys.join("clients").join(name).exists();
    let doubt = if is_known { "" } else { " (no key of that name was made here)" };
    let way_on = if is_shared { "\ndiadem keys renew makes new keys for that name" } else { "" };
    Ok(format!(
        "revoked {name}{doubt}. Copy the file to the coordinator, which reads it within a second and \
         then refuses {name} and its workers:\n{}{way_on}\nto undo: diadem keys revoke {} {name} --undo",
        list_of_revoked(keys).display(),
        quoted(&keys.to_string_lossy())
    ))
}

/// Makes the coordinator accept a revoked owner again, with its former keys.
fn undo_revocation(keys: &Path, name: &str) -> anyhow::Result<String> {
    let _alone = lock_keys(keys)?;
    let (list, mut names) = (list_of_revoked(keys), revoked(keys)?);
    let before = names.len();
    names.retain(|revoked| revoked != name);
    if names.len() == before {
        let known = if names.is_empty() {
            "it names nobody".to_owned()
        } else {
            format!("it names {}", named(names.into_iter()))
        };
        bail!("{name} is not in the list of revoked owners {}: {known}", list.display());
    }
    write_revoked(keys, &names)?;
    Ok(format!(
        "{name} is revoked no more. Copy the file to the coordinator, which reads it within a second and then accepts \
         the keys of {name} again:\n{}",
        list.display()
    ))
}

fn ensure_not_revoked(keys: &Path, name: &str) -> anyhow::Result<()> {
    if revoked(keys)?.iter().any(|revoked| revoked == name) {
        bail!("{name} has been revoked; choose another name");
    }
    Ok(())
}

/// The folder for the keys of an owner.
fn client_folder(keys: &Path, name: &str) -> anyhow::Result<PathBuf> {
    ensure_not_revoked(keys, name)?;
    let folder = keys.join("clients").join(name);
    if folder.exists() {
        bail!("{} exists already; choose another name, or delete it first", folder.display());
    }
    Ok(folder)
}

/// Each folder, whose it is, and the command that uses it.
const FOLDER_USES: [(&str, &str, &str); 5] = [
    ("coordinator", "the coordinator", "diadem coordinator ... --listen ADDRESS:7227 --keys coordinator"),
    ("worker", "each worker", "diadem worker --coordinator https://HOST:7227 --keys worker"),
    ("status", "observers", "diadem status --coordinator https://HOST:7227 --keys status"),
    ("follower", "followers", "diadem follow https://HOST:7227 ... --keys follower"),
    ("admin", "operators", "diadem retract, policy, pause ... --keys admin"),
];

fn installation_guide(keys: &Path, owner: Option<&str>) -> String {
    let keys = keys.display();
    let own = owner.map_or_else(String::new, |owner| {
        format!(
            "{keys}/clients/{owner}   to each worker of {owner}: diadem worker --coordinator https://HOST:7227 --keys {owner}\n"
        )
    });
    let line =
        |(folder, user, command)| format!("{keys}/{folder:11}   {:20} {command}\n", format!("to {user}:"));
    let lines: String = FOLDER_USES.into_iter().map(line).collect();
    format!(
        "{own}{lines}{keys}/ca.key        signs further certificates: keep it, and copy it to no machine of the run"
    )
}

fn host_name() -> String {
    host(&crate::host::name()).unwrap_or_else(|_| LOCAL_NAMES[0].to_owned())
}

fn with_local_names(hosts: &[String]) -> Vec<String> {
    let mut all = hosts.to_vec();
    all.extend(
        LOCAL_NAMES.iter().filter(|local| !hosts.iter().any(|host| host == *local)).map(ToString::to_string),
    );
    all
}

fn authority_of(keys: &Path) -> anyhow::Result<Authority> {
    let file = keys.join("ca.key");
    ensure!(
        file.try_exists().unwrap_or(true),
        "{} is missing: name the folder that diadem keys init has made, with the ca.key that was kept",
        file.display()
    );
    warn_if_others_may_read(&file);
    Authority::from_key(&read(&file)?).with_context(|| format!("{} is not a key in PEM", file.display()))
}

fn hosts_of(keys: &Path) -> anyhow::Result<Vec<String>> {
    let file = keys.join("hosts");
    let hosts: Result<_, _> = read(&file)?.split_whitespace().map(host).collect();
    hosts.with_context(|| file.display().to_string())
}

/// Writes new tokens into all folders, and makes a folder that is missing.
fn write_tokens(keys: &Path, renewal: Option<&KeysRenewal>) -> anyhow::Result<()> {
    let authority = read(&keys.join("ca.pem"))?;
    for (folder, token) in FOLDERS {
        make_folder(&keys.join(folder))?;
        write_private(&keys.join(folder).join("ca.pem"), &authority)?;
        write_token(keys, folder, token, renewal)?;
    }
    Ok(())
}

fn write_server(keys: &Path, hosts: &[String], server: &Pair) -> anyhow::Result<()> {
    write_private(&keys.join("hosts"), &(hosts.join("\n") + "\n"))?;
    write_private(&keys.join("coordinator/server.key"), &server.key)?;
    write_private(&keys.join("coordinator/server.pem"), &server.certificate)
}
