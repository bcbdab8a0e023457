//! Settings: options from a variable (`DIADEM_THREADS` for `--threads`) or from a file (`--config`). The
//! command line overrides variables, and variables override the file. In the file a command's section
//! overrides the part before all sections.
//!
//! A setting becomes the default value of its option before clap reads the command line. So clap converts all values, and a
//! setting needs no other option beside it.

mod file;
mod line;
mod options;
mod setting;
mod shown;

use std::collections::BTreeMap;
use std::ffi::OsString;

use clap::{Arg, Command};

use file::SettingsFile;
pub use line::{CompletedLine, is_typed};
use options::{options, variable};
use setting::OptionValue;
pub use setting::SettingsError;
pub use shown::{OptionInForce, commands};

/// The variables of the process, and the file of settings if there is one.
pub struct Settings {
    variables: BTreeMap<String, OsString>,
    file: Option<SettingsFile>,
}

impl Settings {
    /// The settings of a command, the strongest source first. A setting is left out if its option, or one that excludes it, was
    /// typed or has a stronger setting.
    fn of(&self, command: &Command, name: &str, typed: &[&Arg]) -> Result<Vec<OptionValue>, SettingsError> {
        let variables = options(command).filter_map(|option| self.variable(option).transpose());
        let mut sources = vec![variables.collect::<Result<Vec<_>, _>>()?];
        if let Some(file) = &self.file {
            for section in [Some(name), None] {
                let found = options(command).filter_map(|option| file.get(section, option).transpose());
                sources.push(found.collect::<Result<_, _>>()?);
            }
        }
        let mut settings: Vec<OptionValue> = Vec::new();
        for source in sources {
            let stronger = settings.len();
            for new in source {
                let is_given = |option: &Arg| option.get_id() == new.option.get_id();
                let excludes = |option: &Arg| new.excludes(command, option);
                let is_excluded =
                    |by: &&OptionValue| excludes(&by.option) && by.excludes(command, &new.option);
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

    fn variable(&self, option: &Arg) -> Result<Option<OptionValue>, SettingsError> {
        let Some(variable) = option.get_long().map(variable) else { return Ok(None) };
        let text = self.variables.get(&variable).filter(|text| !text.is_empty());
        let Some(text) = text else { return Ok(None) };
        match text.to_str() {
            Some(text) => OptionValue::new(option, vec![text.to_owned()], variable).map(Some),
            None => Err(SettingsError::Wrong(format!("{variable} is no UTF-8 text"))),
        }
    }
}

#[cfg(test)]
mod tests;
