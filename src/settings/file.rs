//! The file of settings: TOML, with options for all commands first, and a section for each command that has its own.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use clap::{Arg, Command};
use records::regular_file;
use toml::{Table, Value};

use super::options::{is_typed_only, leaves, options};
use super::setting::{OptionValue, SettingsError};
use crate::progress::during;

/// No file of settings is longer, in bytes.
const LONGEST: u64 = 1 << 20;

/// A file of settings. Each key is an option of the command that it is for.
pub struct SettingsFile {
    path: PathBuf,
    settings: Table,
}

impl SettingsFile {
    /// Reads the file; `root` has all commands and options.
    ///
    /// # Errors
    /// It cannot be read, is no TOML, or a key or value in it is not understood.
    pub fn read(path: &Path, root: &Command) -> Result<Self, SettingsError> {
        let read = || {
            let text = String::from_utf8(regular_file::read_or_stream(path, LONGEST)?);
            text.map_err(|error| io::Error::new(ErrorKind::InvalidData, error.utf8_error()))
        };
        let text = during("reading the settings", read);
        let text = text.map_err(|source| SettingsError::Unreadable { path: path.to_owned(), source })?;
        Self::parse(path, &text, root)
    }

    /// The file with that text.
    pub(super) fn parse(path: &Path, text: &str, root: &Command) -> Result<Self, SettingsError> {
        let wrong = |what| SettingsError::Wrong(format!("{}{what}", path.display()));
        let settings: Table = text.parse().map_err(|error: toml::de::Error| {
            let before = error.span().map_or(text, |span| &text[..span.start]);
            let line = before.matches('\n').count() + 1;
            wrong(format!(", line {line}: {}", error.message().replace('\n', ", ")))
        })?;
        let commands = leaves(root, "");
        let all: Vec<&Arg> = commands.iter().flat_map(|(_, command)| options(command)).collect();
        for (key, value) in &settings {
            let Some(section) = value.as_table() else {
                check(key, &all, None).map_err(wrong)?;
                continue;
            };
            let Some((name, command)) = commands.iter().find(|(name, _)| name == key) else {
                let similar = similar(key, commands.iter().map(|(name, _)| name.as_str()));
                return Err(wrong(format!(": there is no command \"{key}\"{similar}")));
            };
            let its_own: Vec<&Arg> = options(command).collect();
            section.keys().try_for_each(|key| check(key, &its_own, Some(name))).map_err(wrong)?;
        }
        Ok(Self { path: path.to_owned(), settings })
    }

    /// The value of an option in that section, or in the part before all sections.
    pub(super) fn get(
        &self,
        section: Option<&str>,
        option: &Arg,
    ) -> Result<Option<OptionValue>, SettingsError> {
        let table = section.map_or(Some(&self.settings), |section| self.settings.get(section)?.as_table());
        let value = table.and_then(|table| table.get(option.get_long()?));
        // A section may have the name of an option: --export, and the command export.
        let value = value.filter(|value| section.is_some() || !value.is_table());
        let path = self.path.display();
        let origin = section.map_or(path.to_string(), |section| format!("{path} [{section}]"));
        value.map(|value| OptionValue::new(option, texts(value), origin)).transpose()
    }
}

/// Says what is wrong if none of the options, of that command or of any, has that name.
fn check(key: &str, options: &[&Arg], command: Option<&str>) -> Result<(), String> {
    if options.iter().any(|option| option.get_long() == Some(key)) {
        return Ok(());
    }
    if is_typed_only(command, key) {
        return Err(format!(": --{key} must be typed: it is not allowed in a file"));
    }
    let command = command.map_or("any command".to_owned(), |name| format!("the command {name}"));
    let similar = similar(key, options.iter().filter_map(|option| option.get_long()));
    Err(format!(": \"{key}\" is no option of {command}{similar}"))
}

/// A value as it would be typed. A table is none.
fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Integer(number) => vec![number.to_string()],
        Value::Float(number) => vec![number.to_string()],
        Value::Boolean(flag) => vec![flag.to_string()],
        Value::Datetime(time) => vec![time.to_string()],
        Value::Array(values) => values.iter().flat_map(texts).collect(),
        Value::Table(_) => Vec::new(),
    }
}

/// Asks whether the name was meant that is most like a wrong one.
fn similar<'a>(wrong: &str, names: impl Iterator<Item = &'a str>) -> String {
    let alike = names.map(|name| (strsim::jaro(wrong, name), name)).filter(|(likeness, _)| *likeness > 0.8);
    let likeliest = alike.max_by(|one, other| one.0.total_cmp(&other.0));
    likeliest.map(|(_, name)| format!("; did you mean {name}?")).unwrap_or_default()
}
