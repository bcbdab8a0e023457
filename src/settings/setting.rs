//! One setting, and what can be wrong with it.

use std::path::PathBuf;
use std::{fmt, io};

use clap::{Arg, ArgAction, ArgGroup, Command};
use thiserror::Error;

use super::line::is_typed;
use super::options::CONFIG;

/// A variable or a file whose settings cannot be understood.
#[derive(Debug, Error)]
pub enum SettingsError {
    #[error("cannot read {}", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("{0}")]
    Wrong(String),
}

impl SettingsError {
    /// True if the same command may succeed later, as when a file system is not mounted yet. A missing file that
    /// was typed was named wrongly.
    pub fn is_passing(&self) -> bool {
        use io::ErrorKind::{FileTooLarge, InvalidData, InvalidInput, NotFound};
        let is_named_wrongly = |kind| kind == NotFound && is_typed(CONFIG);
        let Self::Unreadable { source, .. } = self else { return false };
        let kind = source.kind();
        !is_named_wrongly(kind) && !matches!(kind, FileTooLarge | InvalidData | InvalidInput)
    }
}

/// An option with the value that a variable or the file gives to it.
#[derive(Clone, Debug)]
pub struct OptionValue {
    /// The option.
    pub option: Arg,
    /// As they would be typed.
    pub values: Vec<String>,
    /// The variable, or the file with the section.
    pub origin: String,
}

impl OptionValue {
    pub fn new(option: &Arg, mut values: Vec<String>, origin: String) -> Result<Self, SettingsError> {
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
    pub fn excludes(&self, command: &Command, other: &Arg) -> bool {
        let is_off = !self.option.get_action().takes_values() && self.values == ["false"];
        let conflicts = |one: &Arg, other: &Arg| command.get_arg_conflicts_with(one).contains(&other);
        let has_both = |group: &ArgGroup| {
            [&self.option, other].iter().all(|option| group.get_args().any(|id| id == option.get_id()))
        };
        let in_group = || command.get_groups().any(|group| has_both(group) && !group.clone().is_multiple());
        !is_off && (conflicts(&self.option, other) || conflicts(other, &self.option) || in_group())
    }
}

impl fmt::Display for OptionValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "--{} (from {})", self.option.get_long().unwrap_or_default(), self.origin)
    }
}
