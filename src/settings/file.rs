//! The file of settings: TOML, with options for all commands first, and a section for each command that has its own.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use clap::{Arg, Command};
use records::regular_file;
use thiserror::Error;
use toml::{Table, Value};

use super::origin::SettingOrigin;
use super::{Given, OptionSetting, names, options, typed_only};
use crate::progress::during;

/// A longer file is none of settings.
const LONGEST: u64 = 1 << 20;

/// A file of settings that cannot be used.
#[derive(Debug, Error)]
pub enum SettingsFileError {
    #[error("{} cannot be read", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("{} is a named pipe, to which nobody may ever write: name a regular file", .0.display())]
    Pipe(PathBuf),
    #[error("{} is too long: a file of settings has a mebibyte at most", .0.display())]
    TooLong(PathBuf),
    #[error("{}, line {line}: {what}", path.display())]
    Syntax { path: PathBuf, line: usize, what: String },
    #[error("{}: \"{key}\" is no option of {who}{}", path.display(), near(similar.as_deref()))]
    NoOption { path: PathBuf, who: String, key: String, similar: Option<String> },
    #[error("{}: --{key} is heeded only where it is typed: it is meant for one command, not for all that follow", path.display())]
    TypedOnly { path: PathBuf, key: String },
    #[error("{}: there is no command \"{section}\"{}", path.display(), near(similar.as_deref()))]
    NoCommand { path: PathBuf, section: String, similar: Option<String> },
    #[error("{}: {key} is {found}, it should be {wanted}", path.display())]
    Kind { path: PathBuf, key: String, found: String, wanted: &'static str },
}

fn near(similar: Option<&str>) -> String {
    similar.map(|similar| format!("; did you mean {similar}?")).unwrap_or_default()
}

/// A file of settings, of which every key is an option of the command that it is for.
#[derive(Debug)]
pub struct SettingsFile {
    path: PathBuf,
    settings: Table,
}

impl SettingsFile {
    /// Reads the file; `root` has the commands and options that there are.
    ///
    /// # Errors
    /// It cannot be read, it is no TOML, or a key or value in it is not understood.
    pub fn read(path: &Path, root: &Command) -> Result<Self, SettingsFileError> {
        if regular_file::is_named_pipe(path) {
            return Err(SettingsFileError::Pipe(path.to_owned()));
        }
        let unreadable = |source| SettingsFileError::Read { path: path.to_owned(), source };
        let mut text = String::new();
        let read =
            during("reading the settings", || File::open(path)?.take(LONGEST + 1).read_to_string(&mut text));
        read.map_err(unreadable)?;
        if text.len() as u64 > LONGEST {
            return Err(SettingsFileError::TooLong(path.to_owned()));
        }
        Self::parse(path, &text, root)
    }

    /// The file with that text.
    pub(super) fn parse(path: &Path, text: &str, root: &Command) -> Result<Self, SettingsFileError> {
        let settings = text.parse::<Table>().map_err(|error| {
            let before = error.span().map_or(text.len(), |span| span.start.min(text.len()));
            let line = text.as_bytes()[..before].iter().filter(|&&byte| byte == b'\n').count() + 1;
            let what = error.message().lines().collect::<Vec<_>>().join(", ");
            SettingsFileError::Syntax { path: path.to_owned(), line, what }
        })?;
        let file = Self { path: path.to_owned(), settings };
        file.check(root)?;
        Ok(file)
    }

    /// What the file gives to an option of that long name, in the section of that name or before all sections.
    pub(super) fn get(&self, section: Option<&str>, option: &Arg, long: &str) -> Option<OptionSetting> {
        let table = match section {
            Some(section) => self.settings.get(section)?.as_table()?,
            None => &self.settings,
        };
        let given = given(names(option).find_map(|name| table.get(name))?).ok()?;
        let origin = SettingOrigin::File { path: self.path.clone(), section: section.map(str::to_owned) };
        Some(OptionSetting { option: long.to_owned(), given, origin })
    }

    /// Whether all that is in it can be given to somebody.
    fn check(&self, root: &Command) -> Result<(), SettingsFileError> {
        let commands = leaves(root);
        let everybody: Vec<(&Arg, &str)> =
            commands.iter().flat_map(|(_, command)| options(command)).collect();
        for (key, value) in &self.settings {
            let Value::Table(section) = value else {
                self.check_option(None, &everybody, key, value)?;
                continue;
            };
            let command = commands.iter().find(|command| is_called(command, key)).ok_or_else(|| {
                let similar = similar(key, commands.iter().map(|(name, _)| name.as_str()));
                SettingsFileError::NoCommand { path: self.path.clone(), section: key.clone(), similar }
            })?;
            let its_own: Vec<_> = options(command.1).collect();
            for (key, value) in section {
                self.check_option(Some(&command.0), &its_own, key, value)?;
            }
        }
        Ok(())
    }

    /// Whether one of the options, of that command or of any, has that name, and a value of that kind.
    fn check_option(
        &self,
        command: Option<&str>,
        options: &[(&Arg, &str)],
        key: &str,
        value: &Value,
    ) -> Result<(), SettingsFileError> {
        let path = || self.path.clone();
        let found =
            options.iter().find(|(option, _)| names(option).any(|name| name == key)).ok_or_else(|| {
                if typed_only(command).any(|option| option == key) {
                    return SettingsFileError::TypedOnly { path: path(), key: key.to_owned() };
                }
                let similar = similar(key, options.iter().map(|(_, name)| *name));
                let who =
                    command.map_or("any command".to_owned(), |command| format!("the command {command}"));
                SettingsFileError::NoOption { path: path(), who, key: key.to_owned(), similar }
            })?;
        let takes_values = found.0.get_action().takes_values();
        let wanted =
            if takes_values { "a text in quotes, a number, or a list of them" } else { "true or false" };
        let wrong =
            |found: String| SettingsFileError::Kind { path: path(), key: key.to_owned(), found, wanted };
        match given(value).map_err(wrong)? {
            Given::Flag(set) if takes_values => Err(wrong(set.to_string())),
            Given::Values(values) if !takes_values => Err(wrong(format!("\"{}\"", values.join(", ")))),
            _ => Ok(()),
        }
    }
}

/// All commands that do something, with their names as in `keys init`.
pub fn leaves(root: &Command) -> Vec<(String, &Command)> {
    let below =
        |command: &'_ Command| command.get_subcommands().filter(|sub| sub.get_name() != "help").count() > 0;
    let mut leaves = Vec::new();
    let mut open: Vec<(String, &Command)> = vec![(String::new(), root)];
    while let Some((name, command)) = open.pop() {
        if below(command) {
            let named = |sub: &Command| format!("{name} {}", sub.get_name()).trim_start().to_owned();
            let subcommands = command.get_subcommands().filter(|sub| sub.get_name() != "help");
            open.extend(subcommands.map(|sub| (named(sub), sub)));
        } else {
            leaves.push((name, command));
        }
    }
    leaves.reverse();
    leaves
}

/// Whether that command of those that do something has that name, or another one that stands for it.
pub fn is_called((name, command): &(String, &Command), called: &str) -> bool {
    name == called || command.get_all_aliases().any(|alias| alias == called)
}

/// What a value of the file gives, or what it is instead.
fn given(value: &Value) -> Result<Given, String> {
    let text = |value: &Value| match value {
        Value::String(text) => Ok(text.clone()),
        Value::Integer(number) => Ok(number.to_string()),
        Value::Float(number) => Ok(number.to_string()),
        Value::Datetime(time) => Err(format!("the time {time} without quotes")),
        Value::Boolean(_) | Value::Array(_) | Value::Table(_) => {
            Err(format!("a list with {}", value.type_str()))
        }
    };
    match value {
        Value::Boolean(set) => Ok(Given::Flag(*set)),
        Value::Array(values) if values.is_empty() => Err("an empty list".into()),
        Value::Array(values) => values.iter().map(text).collect::<Result<_, _>>().map(Given::Values),
        value => text(value).map(|text| Given::Values(vec![text])),
    }
}

/// The name that is most like a wrong one, if any is.
fn similar<'a>(wrong: &str, names: impl Iterator<Item = &'a str>) -> Option<String> {
    let alike = names.map(|name| (strsim::jaro(wrong, name), name)).filter(|(likeness, _)| *likeness > 0.8);
    alike.max_by(|one, other| one.0.total_cmp(&other.0)).map(|(_, name)| name.to_owned())
}
