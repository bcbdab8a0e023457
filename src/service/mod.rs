//! A worker as a service of its user, which the system starts at low priority.
//!
//! | system | definition of the service | program that installs it |
//! |---|---|---|
//! | Linux | a unit of the user's systemd | `systemctl --user` |
//! | macOS | a launch agent | `launchctl` |
//! | Windows | a task | `schtasks` |
//!
//! A definition may be read by others, and so may the arguments of a process. So an invitation is written to a private file, whose
//! path the service gets.

#[cfg(any(target_os = "macos", test))]
mod launchd;
#[cfg(any(not(any(windows, target_os = "macos")), test))]
mod systemd;
#[cfg(any(windows, test))]
mod task;

use std::env;
use std::ffi::OsString;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

use anyhow::{Context, bail};
use records::regular_file;

use crate::args::WrongCommand;
use crate::host;
use crate::output::{on_stdout, print};
#[cfg(target_os = "macos")]
use launchd as system;
#[cfg(not(any(windows, target_os = "macos")))]
use systemd as system;
#[cfg(windows)]
use task as system;

/// What removes a service.
const REMOVAL: &str = "diadem worker --remove-service";

/// How long a worker needs to leave after its drain.
const LEAVING: Duration = Duration::from_secs(10);

/// The longest line that a system's program may answer with in a message.
const ANSWER_CHARS: usize = 300;

/// A worker that the system starts.
#[derive(Clone, Debug)]
pub struct Service {
    program: String,
    arguments: Vec<String>,
    /// The folder in which it starts: relative paths in its arguments hold.
    folder: String,
    /// How long it may take to stop.
    #[cfg_attr(windows, allow(dead_code, reason = "a task has no such time"))]
    stop_timeout: Duration,
}

impl Service {
    /// This program with these arguments, in the present folder. It drains for that time when it is stopped.
    ///
    /// # Errors
    /// A path or an argument cannot stand in a definition.
    pub fn new(arguments: Vec<OsString>, drain: Duration) -> anyhow::Result<Self> {
        let program = text_of(env::current_exe().context("cannot find the program of diadem")?.into())?;
        let folder = text_of(env::current_dir().context("cannot find the present folder")?.into())?;
        let arguments = arguments.into_iter().map(text_of).collect::<Result<_, _>>()?;
        Ok(Self { program, arguments, folder, stop_timeout: drain.saturating_add(LEAVING) })
    }

    /// Installs and starts it. With an invitation, that is written to its [file](invitation_file).
    ///
    /// # Errors
    /// A service is installed already, a file cannot be written, or the system refuses. Then nothing is left behind.
    pub fn install(&self, invitation: Option<&str>) -> anyhow::Result<ExitCode> {
        let definition = system::definition_file()?;
        if is_there(&definition) {
            bail!("a service is installed already ({}): first run {REMOVAL}", definition.display());
        }
        if let Some(invitation) = invitation {
            write(&invitation_file()?, invitation.as_bytes(), 0o600)?;
        }
        let started = write(&definition, &system::definition(self), 0o644)
            .and_then(|()| system::start(&definition).context("the system does not start the service"));
        if let Err(error) = started {
            system::stop(&definition).ok();
            delete_files(&definition).ok();
            return Err(error);
        }
        let told = format!("installed {}\n{}\n{REMOVAL} removes it", definition.display(), system::ADVICE);
        print(&on_stdout(&told))?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Stops the service and deletes its files.
///
/// # Errors
/// The system refuses, or a file cannot be deleted.
pub fn remove() -> anyhow::Result<ExitCode> {
    let definition = system::definition_file()?;
    if !is_there(&definition) {
        print(&format!("no service is installed: there is no {}", definition.display()))?;
        return Ok(ExitCode::SUCCESS);
    }
    system::stop(&definition).with_context(|| {
        format!(
            "the system does not stop the service; if it does not run any more, delete {}",
            definition.display()
        )
    })?;
    delete_files(&definition)?;
    print(&format!("removed {}", definition.display()))?;
    Ok(ExitCode::SUCCESS)
}

/// The file with the invitation of the service.
///
/// # Errors
/// The user has no folder for it.
pub fn invitation_file() -> anyhow::Result<PathBuf> {
    Ok(system::state_folder()?.join("invitation"))
}

fn delete_files(definition: &Path) -> anyhow::Result<()> {
    for file in [definition, &invitation_file()?] {
        match fs::remove_file(file) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(error).with_context(|| format!("cannot delete {}", file.display()));
            }
            _ => {}
        }
    }
    system::forget();
    Ok(())
}

fn is_there(file: &Path) -> bool {
    fs::symlink_metadata(file).is_ok()
}

/// Writes a file in a folder that is made if it is missing.
fn write(file: &Path, bytes: &[u8], mode: u32) -> anyhow::Result<()> {
    file.parent()
        .map_or(Ok(()), host::create_private_folder)
        .and_then(|()| regular_file::replace(file, bytes, mode))
        .with_context(|| format!("cannot write {}", file.display()))
}

/// The absolute path that a variable of the user holds.
#[cfg(not(target_os = "macos"))]
fn folder_in(variable: &str) -> Option<PathBuf> {
    env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute())
}

/// The home of the user.
#[cfg(not(windows))]
fn home() -> anyhow::Result<PathBuf> {
    env::home_dir().filter(|home| home.is_absolute()).context("this user has no home: set HOME")
}

/// Runs a program of the system.
fn run(program: &str, arguments: &[&str]) -> anyhow::Result<()> {
    let called = format!("{program} {}", arguments.join(" "));
    let ended = Command::new(program).args(arguments).stdin(Stdio::null()).output();
    let ended = ended.with_context(|| format!("cannot run {called}"))?;
    if ended.status.success() {
        return Ok(());
    }
    let text = [ended.stderr, ended.stdout].concat();
    let text = String::from_utf8_lossy(&text);
    let answer: String = text.lines().next().unwrap_or_default().chars().take(ANSWER_CHARS).collect();
    bail!("{called}: {answer}")
}

/// The word of a command line, if a definition can have it.
fn text_of(word: OsString) -> anyhow::Result<String> {
    let text = word.into_string().map_err(|word| unusable(&word.to_string_lossy()))?;
    if text.contains(char::is_control) { Err(unusable(&text)) } else { Ok(text) }
}

fn unusable(text: &str) -> anyhow::Error {
    WrongCommand::Refused(format!("a service cannot have {text:?} in its command line: use plain text"))
        .into()
}

/// The text within an element of XML.
#[cfg(any(windows, target_os = "macos", test))]
fn xml(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A service whose texts have all the characters that a definition must escape.
    fn sample() -> Service {
        let arguments =
            ["worker", "--coordinator=https://10.0.0.7:7227", r#"--keys=a "b" 100% $HOME\"#, "--name=<R&D>"];
        Service {
            program: "/opt/my tools/diadem".to_owned(),
            arguments: arguments.map(str::to_owned).into(),
            folder: "/home/ada/50% & more".to_owned(),
            stop_timeout: Duration::from_secs(30),
        }
    }

    #[test]
    fn definitions_are_as_expected() {
        let service = sample();
        assert_eq!(systemd::text(&service), include_str!("expected/diadem-worker.service"));
        assert_eq!(launchd::text(&service, "/home/ada/log"), include_str!("expected/diadem.worker.plist"));
        assert_eq!(task::text(&service, r"HOME\ada"), include_str!("expected/worker.xml"));
    }

    #[test]
    fn arguments_with_control_characters_are_refused() {
        let service = |argument: &str| Service::new(vec![argument.into()], Duration::ZERO);
        assert!(service("--keys=a b").is_ok());
        let refused = service("--keys=a\nExecStart=x").unwrap_err().to_string();
        assert!(refused.contains(r"a\nExecStart"), "{refused}");
    }
}
