//! Options that nobody typed: each may stand in a variable (`DIADEM_THREADS` for `--threads`) or in a file (`--config`). The
//! command line goes before variables, variables before the file, and a command's section there before the rest of it.
//!
//! A setting becomes the default value of its option before clap reads the command line. So clap converts all values, and a
//! setting needs no other option beside it.

mod file;
mod line;
mod shown;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::{fmt, io, iter};

use clap::{Arg, ArgAction, ArgGroup, Command, CommandFactory};
use thiserror::Error;

use crate::args::Args;
use file::SettingsFile;
pub use line::{CompletedLine, is_typed};
pub use shown::{OptionInForce, commands};

/// A variable or a file whose settings cannot be understood.
#[derive(Debug, Error)]
pub enum SettingsError {
    #[error("cannot read {}", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("{0}")]
    Wrong(String),
}

impl SettingsError {
    /// True if the same command may succeed later, as when a file system is not mounted yet.
    pub fn is_passing(&self) -> bool {
        use io::ErrorKind::{FileTooLarge, InvalidData, InvalidInput};
        let Self::Unreadable { source, .. } = self else { return false };
        !matches!(source.kind(), FileTooLarge | InvalidData | InvalidInput)
    }
}

/// An option with the value that a variable or the file gives to it.
#[derive(Clone, Debug)]
struct Setting {
    option: Arg,
    values: Vec<String>,
    /// The variable, or the file with the section.
    origin: String,
}

impl Setting {
    fn new(option: &Arg, mut values: Vec<String>, origin: String) -> Result<Self, SettingsError> {
        let long = option.get_long().unwrap_or_default();
        let wrong = |what| Err(SettingsError::Wrong(format!("{origin}: --{long} {what}")));
        if values.is_empty() {
            return wrong("has no value".to_owned());
        }
        if values.len() > 1 && !matches!(option.get_action(), ArgAction::Append) {
            return wrong("takes one value, not a list".to_owned());
        }
        if !option.get_action().takes_values() {
            values = match &*values[0].to_lowercase() {
                "1" | "true" | "yes" | "on" => vec!["true".to_owned()],
                "0" | "false" | "no" | "off" => vec!["false".to_owned()],
                _ => return wrong(format!("is \"{}\", it should be true or false", values[0])),
            };
        }
        Ok(Self { option: option.clone(), values, origin })
    }

    /// True if that option must not be given beside this setting.
    fn excludes(&self, command: &Command, other: &Arg) -> bool {
        let is_off = !self.option.get_action().takes_values() && self.values == ["false"];
        let conflicts = |one: &Arg, other: &Arg| command.get_arg_conflicts_with(one).contains(&other);
        let has_both = |group: &ArgGroup| {
            [&self.option, other].iter().all(|option| group.get_args().any(|id| id == option.get_id()))
        };
        let in_group = || command.get_groups().any(|group| has_both(group) && !group.clone().is_multiple());
        !is_off && (conflicts(&self.option, other) || conflicts(other, &self.option) || in_group())
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "--{} (from {})", self.option.get_long().unwrap_or_default(), self.origin)
    }
}

/// The variables of the process, and the file of settings if there is one.
pub struct Settings {
    variables: BTreeMap<String, OsString>,
    file: Option<SettingsFile>,
}

impl Settings {
    /// The settings of a command, the strongest source first. A setting is left out if its option, or one that excludes it, was
    /// typed or has a stronger setting.
    fn of(&self, command: &Command, name: &str, typed: &[&Arg]) -> Result<Vec<Setting>, SettingsError> {
        let variables = options(command).filter_map(|option| self.variable(option).transpose());
        let mut sources = vec![variables.collect::<Result<Vec<_>, _>>()?];
        if let Some(file) = &self.file {
            let names = iter::once(name).chain(command.get_all_aliases());
            for section in names.map(Some).chain([None]) {
                let found = options(command).filter_map(|option| file.get(section, option).transpose());
                sources.push(found.collect::<Result<_, _>>()?);
            }
        }
        let mut settings: Vec<Setting> = Vec::new();
        for source in sources {
            let stronger = settings.len();
            for new in source {
                let is_given = |option: &Arg| option.get_id() == new.option.get_id();
                let excludes = |option: &Arg| new.excludes(command, option);
                let is_excluded = |by: &&Setting| excludes(&by.option) && by.excludes(command, &new.option);
                if typed.iter().any(|option| is_given(option) || excludes(option))
                    || settings[..stronger].iter().any(|other| is_given(&other.option) || is_excluded(&other))
                {
                    continue;
                }
                if let Some(other) = settings[stronger..].iter().find(is_excluded) {
                    return Err(SettingsError::Wrong(format!(
                        "{other} excludes {new}: leave one of them out"
                    )));
                }
                settings.push(new);
            }
        }
        Ok(settings)
    }

    fn variable(&self, option: &Arg) -> Result<Option<Setting>, SettingsError> {
        let read = |name| {
            let variable = variable(name);
            Some((self.variables.get(&variable).filter(|text| !text.is_empty())?, variable))
        };
        let Some((text, variable)) = names(option).find_map(read) else { return Ok(None) };
        match text.to_str() {
            Some(text) => Setting::new(option, vec![text.to_owned()], variable).map(Some),
            None => Err(SettingsError::Wrong(format!("{variable} is no UTF-8 text"))),
        }
    }
}

/// The option that names the file; it cannot stand in it.
const CONFIG: &str = "config";

/// Options that take something back, change it, or accept a loss. They are only typed: a setting that is meant for another
/// command (a worker's `--machine`) or for another day must never do that.
const TYPED: [(&str, &[&str]); 4] = [
    ("retract", &["unit", "machine", "owner", "readmit"]),
    ("policy", &["double-check", "replicas"]),
    ("coordinator", &["take-over", "accept-loss"]),
    ("count", &["accept-loss"]),
];

/// True if that option of that command, or of any command, must be typed.
fn is_typed_only(command: Option<&str>, option: &str) -> bool {
    TYPED
        .iter()
        .any(|(name, options)| command.is_none_or(|command| command == *name) && options.contains(&option))
}

/// The options of a command that may be given elsewhere.
fn options(command: &Command) -> impl Iterator<Item = &Arg> {
    use ArgAction::{Help, HelpLong, HelpShort, Version};
    let is_setting = |long| long != CONFIG && !is_typed_only(Some(command.get_name()), long);
    command.get_arguments().filter(move |option| {
        option.get_long().is_some_and(is_setting)
            && !matches!(option.get_action(), Help | HelpShort | HelpLong | Version)
    })
}

/// The long name of an option, and its aliases.
fn names(option: &Arg) -> impl Iterator<Item = &str> {
    option.get_long().into_iter().chain(option.get_all_aliases().unwrap_or_default())
}

/// The variable that stands for an option.
fn variable(option: &str) -> String {
    format!("DIADEM_{}", option.to_uppercase().replace('-', "_"))
}

/// All commands, each with the options that all have.
fn built() -> Command {
    let mut root = Args::command();
    root.build();
    root
}

/// All commands that do something, with names such as `keys init`.
fn leaves<'a>(command: &'a Command, name: &str) -> Vec<(String, &'a Command)> {
    let below = command.get_subcommands().filter(|below| below.get_name() != "help");
    let leaves: Vec<_> =
        below.flat_map(|below| leaves(below, format!("{name} {}", below.get_name()).trim_start())).collect();
    if leaves.is_empty() { vec![(name.to_owned(), command)] } else { leaves }
}

/// True if the command has that name or that alias.
fn is_called((name, command): &(String, &Command), called: &str) -> bool {
    name == called || command.get_all_aliases().any(|alias| alias == called)
}

#[cfg(test)]
mod tests;
